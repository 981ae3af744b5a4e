"""The denoiser of D4Explainer: learns from real graphs which pairs were joined before noise flipped some."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from dignn.core.devices import Device, at_work
from dignn.core.files import load_learned, put_under, save_tensors, under
from dignn.core.progress import Tick, silent
from dignn.core.seeds import Seed
from dignn.core.threads import map_threads
from dignn.diffusion.training import train
from dignn.explainers.methods.d4explainer.flip_noise import FlipNoise, square
from dignn.explainers.methods.d4explainer.ppgn import PPGN
from dignn.explainers.methods.d4explainer.settings import D4Settings
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Schema
from dignn.structure.edge_diffusion.edge_tokens import Tokens
from dignn.structure.edge_diffusion.generator import Batches
from dignn.structure.vocabulary import Vocabulary

_FORMAT = "dignn.FlipDenoiser.1"
# Cells of matrices of graphs that the network looks at together (what fits in a cache is quicker), and most graphs.
_CELLS, _GRAPHS = 4000, 16


class FlipDenoiser:
    """Which pairs of a noisy graph are joined in the clean one.

    The loss is binary cross-entropy over the pairs that may be joined, weighted by 1 - 2 s + 1 / T at noise s (of T
    levels), so that graphs of which little is left count little. The published loss has a second term, for
    counterfactual explanations of single graphs; at model level there is no graph to be counterfactual to, and none
    here (alpha = 0).

    Args:
        config: network, noise and training.
        device: where it learns and predicts, see :func:`dignn.core.devices.at_work`.

    Attributes:
        words: tokens of the training graphs.
        noise: what flips pairs, and how frequent edges are.
        report: how training went, as JSON takes it.
    """

    words: Vocabulary
    noise: FlipNoise
    network: PPGN

    def __init__(self, config: D4Settings, *, device: Device = "auto") -> None:
        self.config, self._place = config, device
        self.report: dict[str, Any] = {}

    # -- learning -------------------------------------------------------------------------------------

    def fit(self, graphs: GraphBatch, *, seed: Seed, tick: Tick = silent) -> Self:
        """Learns from real graphs, whose features are ignored, and returns itself."""
        self.words = Vocabulary.of(graphs)
        tokens = Tokens.by_size(graphs[graphs.sizes > 0], self.words)
        self.noise = FlipNoise.of(tokens.values(), self.words)
        self.network = self._new(seed)
        batch, training = self.config.batch, self.config.training
        batches = Batches(self, tokens, seed, batch=batch, shard=_together(max(tokens)))
        steps = training.steps_for(len(batches), batch)
        with self.at_work(max(tokens)):
            report = train(self.network, batches.shards, batches.validate(), training, steps=steps, tick=tick)
        self.report = {"parameters": report.parameters, "training": report.to_json()}
        return self

    def _new(self, seed: Seed) -> PPGN:
        with seed.child("weights").torch_globally():
            return PPGN(len(self.words.schema.node_types), self.config.width, self.config.layers)

    def loss(self, graphs: Tokens, level: Tensor, generator: torch.Generator) -> Tensor:
        """Mean weighted cross-entropy of clean graphs that are made noisy.

        Args:
            graphs: clean ones.
            level: (B,) in [0, 1], the share of the greatest noise.
            generator: of the noise.
        """
        clean, kinds = graphs.pairs > 0, self.noise.types[graphs.nodes]
        density = self.noise.density(kinds)
        flips = (level * self.config.flips).to(density.dtype)
        noisy = self.noise.flipped(clean, density, flips[:, None], generator)
        found = binary_cross_entropy_with_logits(self.logits(kinds, noisy, flips), clean.float(), reduction="none")
        weight = (1 - 2 * flips + 1 / self.config.denoising_steps)[:, None] * (density > 0)
        return (found * weight).sum() / (density > 0).sum().clamp_min(1)

    # -- predicting -----------------------------------------------------------------------------------

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device

    def at_work(self, size: int) -> AbstractContextManager[torch.device]:
        """Inside, network and noise are where it learns and predicts, for graphs of up to so many nodes."""
        return at_work(self, self.network, self.config.batch * size * size, self._place)

    def logits(self, kinds: Tensor, joined: Tensor, flips: Tensor) -> Tensor:
        """Log-odds that pairs are joined in the clean graph.  (B, P)

        Args:
            kinds: (B, N) node types.
            joined: (B, P) bool, pairs of the noisy graph.
            flips: (B,) probability with which noise flipped pairs.
        """
        cells, size = square(joined, joined, kinds.size(1)), kinds.size(1)
        i, j = torch.triu_indices(size, size, 1, device=joined.device)
        if torch.is_grad_enabled():
            return self.network(kinds, cells, flips)[:, i, j]
        pieces = torch.arange(len(kinds), device=joined.device).split(_together(size))
        return torch.cat(map_threads(lambda some: self.network(kinds[some], cells[some], flips[some])[:, i, j], pieces))

    # -- files ----------------------------------------------------------------------------------------

    def save(self, path: Path | str) -> None:
        """Writes what was learned to a safetensors file."""
        tensors = {"counts": self.noise.counts, **put_under("network.", self.network.state_dict())}
        metadata = {"words": self.words.to_json(), "report": self.report}
        save_tensors(path, tensors, {"format": _FORMAT, "metadata": json.dumps(metadata)})

    def load(self, path: Path | str, schema: Schema) -> Self:
        """Takes up what a denoiser of the same settings wrote with :meth:`save`, and returns itself."""

        def restore(tensors: dict[str, Tensor], settings: dict[str, Any]) -> None:
            self.words = Vocabulary.from_json(settings["words"], schema)
            self.noise = FlipNoise(self.words.types, tensors["counts"])
            self.network = self._new(Seed(0))
            self.network.load_state_dict(under("network.", tensors))
            self.network.eval()
            self.report = settings["report"]

        load_learned(path, _FORMAT, restore)
        return self


def _together(size: int) -> int:
    """How many graphs of a size the network looks at together."""
    return max(1, min(_GRAPHS, _CELLS // (size * size)))
