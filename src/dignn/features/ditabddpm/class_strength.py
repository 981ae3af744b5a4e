"""How far rows must lean towards their class to follow it as real rows do.

Frequencies of a class are mixed with those of all rows, because a class has few; where it has very few, generated rows
follow it too weakly, and a model that is sure of real rows is not of them. How strongly rows follow their class is
told by rows that nothing was learned from: what they say of each column and each class is summed up over real rows and
over generated ones, and log frequencies are moved away from those of all rows until both agree.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from dignn.features.given import Given
from dignn.features.table import Table

# What is tried beyond the least, in this order, and rows that are made for each.
TRIED, TRIED_ROWS = (0.2, 0.4, 0.7), 512
# With fewer rows held out nothing can be told.
LEAST_TOLD = 20


class Leaning(Protocol):
    """A process whose rows lean towards their class by ``emphasis``."""

    emphasis: float

    def sample(self, label: Tensor, generator: torch.Generator, given: Given = ...) -> Tensor: ...


def class_strength(process: Leaning, learned: Table, told: Tensor, generator: torch.Generator) -> float:
    """The emphasis with which generated rows follow their classes as real ones do, and at least what it is.

    Args:
        process: makes rows, from frequencies of the learned table alone.
        learned: the table.
        told: (L, d) what columns say of each label, from other rows: log frequencies beside those of all rows.
        generator: of rows.
    """
    row, label = learned.draw_batch(TRIED_ROWS, generator, 0.0)
    given = Given(learned.occasion(row, generator))
    wanted = _said(learned.rows[row], label, told)
    begun, before = process.emphasis, -torch.inf
    try:
        for number, emphasis in enumerate((begun, *(value for value in TRIED if value > begun))):
            last, process.emphasis = process.emphasis, emphasis
            said = _said(process.sample(label, generator, given).cpu(), label, told)
            if said >= wanted:
                return begun if number == 0 else last + (emphasis - last) * (wanted - before) / max(said - before, 1e-9)
            before = said
        return process.emphasis
    finally:
        process.emphasis = begun


def _said(rows: Tensor, label: Tensor, told: Tensor) -> float:
    """What the entries of rows (m, d) say of their labels (m,), on average."""
    row, column = rows.nonzero(as_tuple=True)
    return float(told[label[row], column].double().mean()) if len(row) else 0.0
