"""Training of a feature generator's network on the rows of a table."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from dignn.config import TrainingConfig
from dignn.diffusion.training import TrainingReport, train
from dignn.features.table import Table
from dignn.runtime.progress import Tick
from dignn.runtime.seeds import Seed

# Share of rows with a class that learn for nodes without one.
NAMELESS = 0.05
# One in so many rows validates, so many times at each look: with other noise each time.
VALIDATION_SHARE, VALIDATION_TIMES = 10, 4

Loss = Callable[[Tensor, Tensor, torch.Generator], Tensor]
"""(rows (B, d), their lines (B,), generator) -> ()"""


def train_on_rows(
    network: nn.Module, table: Table, loss: Loss, batch: int, config: TrainingConfig, *, seed: Seed, tick: Tick
) -> TrainingReport:
    """Trains on nine in ten rows and validates on the others; afterwards the best weights are in ``network``.

    Args:
        network: what is trained.
        table: whose rows and lines are drawn.
        loss: of some rows.
        batch: rows in a batch.
        config: rates and patience.
        seed: of batches and noise.
        tick: progress.
    """
    learn, held = table.divide(VALIDATION_SHARE, seed.child("division").torch())
    generator = seed.child("batches").torch()

    def shard() -> Tensor:
        row, line = learn.draw_batch(batch, generator, NAMELESS)
        return loss(learn.rows[row], line, generator)

    def validate() -> float:
        assert held is not None  # asked only then
        own = seed.child("validation").torch()  # the same rows and noise at each look
        row, line = held.draw_batch(VALIDATION_TIMES * len(held), own, NAMELESS)
        parts = [
            float(loss(held.rows[some], its, own)) * len(some)
            for some, its in zip(row.split(batch), line.split(batch), strict=True)
        ]
        return sum(parts) / len(row)

    steps = config.steps_for(len(learn), batch)
    with torch.random.fork_rng(devices=[]):  # dropout draws from torch's global generator
        torch.manual_seed(seed.child("dropout").value)
        return train(
            network, lambda step: [shard], validate if held is not None else None, config, steps=steps, tick=tick
        )


def even_times(size: int, generator: torch.Generator) -> Tensor:
    """Times spread evenly over (0, 1), in random order.  (size,)"""
    place = torch.randperm(size, generator=generator)
    return (place + torch.rand(size, generator=generator)) / size
