"""How much a network's word counts about which columns go together, so that rows hold together as real ones do.

A network that learned from few rows is cautious: what revealed columns say about hidden ones comes out too weak, and
rows of words are of no topic. How far rows keep to a topic shows in how long they are in the main directions of other
real rows; what the network says is multiplied until generated rows are as long there as real ones.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from dignn.features.given import Given
from dignn.features.main_directions import main_directions
from dignn.features.table import Table

# What is tried beyond 0, in this order, and rows that are made for each.
TRIED, TRIED_ROWS = (0.2, 0.4), 1024
# Directions that lengths are measured in, and rows that they are found in and measured on, at most.
DIRECTIONS, REAL_ROWS = 20, 4096
# With fewer rows nothing can be told.
LEAST_TOLD = 100

Present = Callable[[float, Tensor, Given], Tensor]
"""(how much more than 1 the network's word counts, labels (m,), what is known) -> entries that are there (m, d) bool"""


def column_binding(table: Table, present: Present, generator: torch.Generator) -> float:
    """How much more than 1 what a network says has to count.

    Args:
        table: whose rows hold together as they should.
        present: makes rows.
        generator: of the rows that are looked at.
    """
    if len(table) < LEAST_TOLD:
        return 0.0
    order = torch.randperm(len(table), generator=generator)[: 2 * REAL_ROWS]
    halves = [(table.rows[some] != 0).float() for some in order.chunk(2)]
    looks = [(main_directions(half - half.mean(0), DIRECTIONS, generator), half.mean(0)) for half in halves]
    # Rows are longer in directions that they were part of, so that each half is looked at by the other.
    wanted = sum(_length(half, *look) for half, look in zip(halves, reversed(looks), strict=True))
    row, label = table.draw_batch(TRIED_ROWS, generator, 0.0)
    given = Given(table.occasion(row, generator))

    def found(value: float) -> float:
        made = present(value, label, given).float().cpu()
        return sum(_length(made, *look) for look in looks)

    return reached((0.0, *TRIED), wanted, found)


def reached(tried: tuple[float, ...], wanted: float, found: Callable[[float], float]) -> float:
    """The least value at which what is found is what is wanted: on a line between two that are tried, or the last."""
    last, before = tried[0], found(tried[0])
    if before >= wanted:
        return last
    for value in tried[1:]:
        now = found(value)
        if now >= wanted:
            return last + (value - last) * (wanted - before) / max(now - before, 1e-9)
        last, before = value, now
    return last


def _length(rows: Tensor, directions: Tensor, mean: Tensor) -> float:
    """The share of the squared lengths of rows (m, d), seen from a mean, that lies in directions (d, k)."""
    apart = rows - mean
    return float((apart @ directions).square().sum() / apart.square().sum().clamp_min(1e-9))
