"""The network of TabDDPM and its training, the same for continuous and discrete columns."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from dignn.config import TabDDPMConfig
from dignn.diffusion.gaussian import angle
from dignn.diffusion.schedule import cosine_signal
from dignn.diffusion.training import TrainingReport, train
from dignn.features.mlp import NUMBER_FEATURES, ResidualBlocks, number_features, zero_linear
from dignn.features.table import Table
from dignn.runtime.progress import Tick
from dignn.runtime.seeds import Seed

# Share of rows with a class that learn for nodes without one.
NAMELESS = 0.05
# One in so many rows validates, at so many times each, and so many in all at most.
VALIDATION_SHARE, VALIDATION_TIMES, VALIDATION_MOST = 10, 4, 2048

Loss = Callable[[Tensor, Tensor, Tensor, torch.Generator], Tensor]
"""(numbers of rows, their lines, signals (B,), generator) -> ()"""


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


def train_denoiser(
    network: TableDenoiser, table: Table, loss: Loss, config: TabDDPMConfig, *, seed: Seed, tick: Tick
) -> TrainingReport:
    """Trains on nine in ten rows and validates on the others; afterwards the best weights are in ``network``.

    Args:
        network: what is trained.
        table: whose rows and lines are drawn.
        loss: of rows of the table, by number.
        config: batch size and training.
        seed: of batches, times and noise.
        tick: progress.
    """
    order = torch.randperm(len(table), generator=seed.child("division").torch())
    held = order[: len(table) // VALIDATION_SHARE].sort().values
    kept = order[len(held) :].sort().values
    part, validation = table[kept], table[held]
    generator = seed.child("batches").torch()

    def shard() -> Tensor:
        row, line = part.draw_batch(config.batch, generator, NAMELESS)
        time = _times(config.batch, generator)
        return loss(kept[row], line, cosine_signal(time), generator)

    def validate() -> float:
        own = seed.child("validation").torch()  # the same rows, times and noise at each look
        row, line = validation.draw_batch(min(VALIDATION_TIMES * len(held), VALIDATION_MOST), own, NAMELESS)
        drawn = held[row], line, cosine_signal(_times(len(row), own))
        # In pieces, because the logits of a wide table take much memory.
        pieces = zip(*(values.split(config.batch) for values in drawn), strict=True)
        return sum(len(piece[0]) * float(loss(*piece, own)) for piece in pieces) / len(row)

    steps = config.training.steps_for(len(part), config.batch)
    with torch.random.fork_rng(devices=[]):  # dropout draws from torch's global generator
        torch.manual_seed(seed.child("dropout").value)
        return train(
            network, lambda step: [shard], validate if len(held) else None, config.training, steps=steps, tick=tick
        )


def _times(size: int, generator: torch.Generator) -> Tensor:
    """Times spread evenly over (0, 1), in random order.  (size,)"""
    place = torch.randperm(size, generator=generator)
    return (place + torch.rand(size, generator=generator)) / size
