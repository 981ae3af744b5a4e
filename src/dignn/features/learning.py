"""Training of a feature generator's network on the rows of a table."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from dignn.core.devices import model_device
from dignn.core.progress import Tick
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.diffusion.training import TrainingReport, train
from dignn.features.table import Table

# Share of rows with a class that learn for nodes without one.
NAMELESS = 0.05
# One in so many rows validates, so many times at each look, with other noise each time; so many rows at most.
VALIDATION_SHARE, VALIDATION_TIMES, VALIDATION_ROWS = 10, 4, 1024

Loss = Callable[[Tensor, Tensor, torch.Generator, Tensor | None], Tensor]
"""(rows (B, d), their labels (B,), generator, their context (B, k) if there is any) -> ()"""


def train_on_rows(
    network: nn.Module, table: Table, loss: Loss, batch: int, config: TrainingConfig, *, seed: Seed, tick: Tick
) -> TrainingReport:
    """Trains on nine in ten rows and validates on the others; afterwards the best weights are in ``network``.

    Args:
        network: what is trained, on its device.
        table: whose rows and labels are drawn.
        loss: of some rows.
        batch: rows in a batch.
        config: rates and patience.
        seed: of batches and noise.
        tick: progress.
    """
    learn, held = held_apart(table, seed)
    generator = seed.child("batches").torch()
    device = model_device(network)

    def of_rows(part: Table, row: Tensor, label: Tensor, own: torch.Generator) -> Tensor:
        context = part.occasion(row, own)
        context = None if context is None else context.to(device)
        return loss(part.rows[row].to(device), label.to(device), own, context)

    def shard() -> Tensor:
        row, label = learn.draw_batch(batch, generator, NAMELESS)
        return of_rows(learn, row, label, generator)

    def validate() -> float:
        assert held is not None  # asked only then
        own = seed.child("validation").torch()  # the same rows and noise at each look
        row, label = held.draw_batch(min(VALIDATION_TIMES * len(held), VALIDATION_ROWS), own, NAMELESS)
        parts = [
            float(of_rows(held, some, its, own)) * len(some)
            for some, its in zip(row.split(batch), label.split(batch), strict=True)
        ]
        return sum(parts) / len(row)

    steps = config.steps_for(len(learn), batch)
    with seed.child("dropout").torch_globally():
        return train(network, lambda step: [shard], validate if held else None, config, steps=steps, tick=tick)


def held_apart(table: Table, seed: Seed) -> tuple[Table, Table | None]:
    """The rows that :func:`train_on_rows` learns from with this seed, and those that it does not."""
    return table.divide(VALIDATION_SHARE, seed.child("division").torch())


def even_times(rows: Tensor, generator: torch.Generator) -> Tensor:
    """A time for each row, on its device: spread evenly over (0, 1), in random order.  (n, ...) -> (n,)"""
    place = torch.randperm(len(rows), generator=generator)
    return ((place + torch.rand(len(rows), generator=generator)) / len(rows)).to(rows.device)
