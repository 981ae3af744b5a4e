"""What the noise processes of edge diffusion have in common: a denoiser, and three things to do with noise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn

from dignn.structure.edge_diffusion.edge_tokens import Tokens, unordered
from dignn.structure.edge_diffusion.fast_denoiser import FastDenoiser
from dignn.structure.edge_diffusion.graph_transformer import GraphTransformer
from dignn.structure.settings import EdgeDiffusionConfig
from dignn.structure.vocabulary import Vocabulary

Steer = Callable[[float, Callable[[], Tokens]], Tensor | None]
"""Guidance: (share of the steps made, a function that predicts the clean graphs) -> which graph takes each place (B,),
or None where all stay."""


class EdgeProcess(nn.Module):
    """A noise process of graphs and its denoiser.

    Args:
        vocabulary: tokens.
        sizes: numbers of nodes of the graphs that are learned.
        config: which denoiser, which sampler.
        extra: numbers that the denoiser is told of a graph beside its class.

    What is learned or counted is the module's state; what the vocabulary says goes with it from device to device.

    Attributes:
        mirror, allowed: as in :class:`~dignn.structure.vocabulary.Vocabulary`.
        lower: (E,) the smaller of each edge token and its mirror.
    """

    mirror: Tensor
    allowed: Tensor
    lower: Tensor

    def __init__(self, vocabulary: Vocabulary, sizes: list[int], config: EdgeDiffusionConfig, extra: int = 0) -> None:
        super().__init__()
        self.vocabulary, self.sizes, self.config = vocabulary, sizes, config
        self._classes = vocabulary.schema.graph_classes
        network: type[FastDenoiser] | type[GraphTransformer]
        network = FastDenoiser if config.denoiser == "fast" else GraphTransformer
        width = self._classes + extra
        self.network = network(vocabulary.node_count, vocabulary.edge_count, vocabulary.mirror, width)
        for name in ("mirror", "allowed"):
            self.register_buffer(name, getattr(vocabulary, name).clone(), persistent=False)
        self.register_buffer("lower", unordered(vocabulary), persistent=False)

    @property
    def device(self) -> torch.device:
        return self.allowed.device

    def graph_class(self, graphs: Tokens) -> Tensor:
        """Class of each graph, one-hot, all zero where it is unknown; no columns when nodes are classified."""
        return (graphs.known[:, :1] == torch.arange(self._classes, device=graphs.known.device)).float()

    @abstractmethod
    def count(self, graphs: dict[int, Tokens]) -> None:
        """Takes frequencies of tokens from the training graphs."""

    @abstractmethod
    def loss(self, graphs: Tokens, level: Tensor, generator: torch.Generator) -> Tensor:
        """Mean loss of the denoiser on clean graphs that are made noisy.  level: (B,) in [0, 1], 1 is pure noise"""

    @abstractmethod
    def noisy(self, graphs: Tokens, level: float, generator: torch.Generator) -> Tokens:
        """Clean graphs with noise of this level."""

    @abstractmethod
    def denoise(self, graphs: Tokens, level: float, generator: torch.Generator, steer: Steer | None = None) -> Tokens:
        """Clean graphs from noisy ones of this level."""
