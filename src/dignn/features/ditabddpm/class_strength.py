"""How far rows must lean towards their class to follow it as real rows do.

Frequencies of a class are mixed with those of all rows, because a class has few; where it has very few, generated rows
follow it too weakly, and a model that is sure of real rows is not of them. How strongly rows follow their class is
told by rows that nothing was learned from: what they say of each column and each class is summed up over real rows and
over generated ones, and log frequencies are moved away from those of all rows until both agree.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dignn.features.ditabddpm.strengths import Present, reached
from dignn.features.given import Given
from dignn.features.table import Table

# What is tried beyond the least, in this order, and rows that are made for each.
EMPHASES, MADE_ROWS = (0.2, 0.4, 0.7), 512
# With fewer rows held out nothing can be told.
LEAST_TOLD = 20


def class_strength(least: float, learned: Table, present: Present, told: Tensor, generator: torch.Generator) -> float:
    """The emphasis with which generated rows follow their classes as real ones do, and at least ``least``.

    Args:
        least: what is tried first.
        learned: the table whose frequencies rows are made from.
        present: makes rows; the strength is the emphasis.
        told: (L, d) what columns say of each label, from other rows: log frequencies beside those of all rows.
        generator: of the rows that are looked at.
    """
    row, label = learned.draw_batch(MADE_ROWS, generator, 0.0)
    given = Given(learned.occasion(row, generator))
    wanted = _said(learned.rows[row], label, told)

    def found(emphasis: float) -> float:
        return _said(present(emphasis, label, given).cpu(), label, told)

    return reached((least, *(value for value in EMPHASES if value > least)), wanted, found)


def _said(rows: Tensor, label: Tensor, told: Tensor) -> float:
    """What the entries of rows (m, d) say of their labels (m,), on average."""
    row, column = rows.nonzero(as_tuple=True)
    return float(told[label[row], column].double().mean()) if len(row) else 0.0
