"""Rows for nodes that graphs leave out: drawn once for each label, and taken again and again.

A small graph leaves out most neighbours of its nodes. Where these count all the same, because the row of a node that is
there is the mean of its neighbours' rows, drawing each of them anew would take longer than drawing the graph's own.
Nobody sees one of them by itself, and in the data nodes share such neighbours as well.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.features.table import draw_label

# Rows of a label, and numbers in those of all labels together; a label has some however many labels there are.
RESERVED_ROWS, RESERVED_NUMBERS, LEAST_RESERVED = 1024, 2**24, 8

Generate = Callable[[Tensor, Seed], Tensor]
"""(conditions (m, L), seed) -> rows (m, d)"""


class Reserve:
    """Rows of one node type, by label.

    Args:
        width: d.
        seed: of the rows; those of a label are the same whenever it is asked for first.
    """

    def __init__(self, width: int, seed: Seed) -> None:
        self._width, self._seed = width, seed
        self._rows: dict[int, Tensor] = {}

    def take(self, condition: Tensor, seed: Seed, generate: Generate) -> Tensor:
        """A row for each condition (m, L), any of those of its label, which are made where they are not.  (m, d)"""
        generator = seed.torch()
        label = draw_label(condition, generator)
        point = torch.rand(len(label), generator=generator, dtype=torch.float64)
        out = torch.empty(len(label), self._width)
        for number in label.unique().tolist():
            here, rows = label == number, self._of(number, condition.size(1), generate)
            out[here] = rows[(point[here] * len(rows)).long()]
        return out

    def _of(self, label: int, labels: int, generate: Generate) -> Tensor:
        """All rows of a label; the last one, after all ``labels``, is that of nodes without a class."""
        if label not in self._rows:
            count = max(LEAST_RESERVED, min(RESERVED_ROWS, RESERVED_NUMBERS // ((labels + 1) * max(1, self._width))))
            condition = torch.zeros(count, labels + 1)
            condition[:, label] = 1.0
            self._rows[label] = generate(condition[:, :labels], self._seed.child(label))
        return self._rows[label]
