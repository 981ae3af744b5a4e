"""The network of TabDDPM, the same for continuous and discrete columns."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from dignn.config import TabDDPMConfig
from dignn.diffusion.gaussian import angle
from dignn.features.mlp import NUMBER_FEATURES, ResidualBlocks, number_features, zero_linear
from dignn.runtime.seeds import Seed


class TableDenoiser(nn.Module):
    """A residual MLP that sees all columns, the time and the line.

    Args:
        inputs, outputs: numbers that enter and leave for each row.
        lines: C + 1.
        width, blocks, dropout: of the MLP.
    """

    def __init__(self, inputs: int, outputs: int, lines: int, width: int, blocks: int, dropout: float) -> None:
        super().__init__()
        self.enter = nn.Linear(inputs, width)
        self.time = nn.Sequential(nn.Linear(NUMBER_FEATURES, width), nn.SiLU(), nn.Linear(width, width))
        self.line = nn.Embedding(lines, width)
        nn.init.normal_(self.line.weight, std=0.1)  # classes begin alike: most of what is learned serves all of them
        self.blocks = ResidualBlocks(width, blocks, dropout)
        self.leave = zero_linear(width, outputs)

    def forward(self, values: Tensor, signal: Tensor, line: Tensor) -> Tensor:
        """(B, inputs), (B,), (B,) -> (B, outputs)"""
        time = self.time(number_features(angle(signal) / (math.pi / 2)))
        out: Tensor = self.leave(self.blocks(self.enter(values) + time + self.line(line)))
        return out


def new_denoiser(inputs: int, outputs: int, lines: int, config: TabDDPMConfig, seed: Seed) -> TableDenoiser:
    """A denoiser with weights that depend on the seed only."""
    with torch.random.fork_rng(devices=[]):  # layers draw their weights from torch's global generator
        torch.manual_seed(seed.value)
        return TableDenoiser(inputs, outputs, lines, config.width, config.blocks, config.dropout)
