"""How much a network's word counts about which columns go together, so that rows hold together as real ones do.

A network that learned from few rows is cautious: what revealed columns say about hidden ones comes out too weak, and
rows of words are of no topic. How far rows keep to a topic shows in how long they are in the main directions of other
real rows; what the network says is multiplied until generated rows are as long there as real ones.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dignn.features.ditabddpm.strengths import Present, reached
from dignn.features.given import Given
from dignn.features.main_directions import main_directions
from dignn.features.table import Table

# What is tried beyond 0, in this order, and rows that are made for each.
BINDINGS, BOUND_ROWS = (0.2, 0.4), 1024
# Directions that lengths are measured in, and rows that they are found in and measured on, at most.
TOPIC_DIRECTIONS, TOPIC_ROWS = 20, 4096
# With fewer rows nothing can be told.
LEAST_BOUND = 100


def column_binding(table: Table, present: Present, generator: torch.Generator) -> float:
    """How much more than 1 what a network says has to count.

    Args:
        table: whose rows hold together as they should.
        present: makes rows; the strength is how much more than 1 the network's word counts.
        generator: of the rows that are looked at.
    """
    if len(table) < LEAST_BOUND:
        return 0.0
    order = torch.randperm(len(table), generator=generator)[: 2 * TOPIC_ROWS]
    halves = [(table.rows[some] != 0).float() for some in order.chunk(2)]
    looks = [(main_directions(half - half.mean(0), TOPIC_DIRECTIONS, generator), half.mean(0)) for half in halves]
    # Rows are longer in directions that they were part of, so that each half is looked at by the other.
    wanted = sum(_length(half, *look) for half, look in zip(halves, reversed(looks), strict=True))
    row, label = table.draw_batch(BOUND_ROWS, generator, 0.0)
    given = Given(table.occasion(row, generator))

    def found(value: float) -> float:
        made = present(value, label, given).float().cpu()
        return sum(_length(made, *look) for look in looks)

    return reached((0.0, *BINDINGS), wanted, found)


def _length(rows: Tensor, directions: Tensor, mean: Tensor) -> float:
    """The share of the squared lengths of rows (m, d), seen from a mean, that lies in directions (d, k)."""
    apart = rows - mean
    return float((apart @ directions).square().sum() / apart.square().sum().clamp_min(1e-9))
