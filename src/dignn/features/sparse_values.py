"""Values of non-zero entries: drawn column by column from those of the data."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# Rows whose norms differ by less than this share are rows of one norm.
_SAME = 1e-3


@dataclass(frozen=True, eq=False)
class EntryValues:
    """The values that the entries of each column have where they are not zero.

    Args:
        start: (d + 1,) where the values of each column begin.
        value: (entries,) values, column by column.
        norm: 1 or 2 where all rows have the same sum, or the same Euclidean norm; 0 otherwise.
        length: that norm.
    """

    start: Tensor
    value: Tensor
    norm: int = 0
    length: float = 0.0

    @classmethod
    def of(cls, rows: Tensor) -> EntryValues:
        """Of a table (n, d)."""
        column, row = rows.T.nonzero(as_tuple=True)
        counts = torch.bincount(column, minlength=rows.size(1))
        start = torch.cat([torch.zeros(1, dtype=torch.long), counts.cumsum(0)])
        value = rows[row, column]
        norm, length = _common_norm(rows) if bool((value != 1).any()) else (0, 0.0)
        return cls(start, value, norm, length)

    def draw(self, present: Tensor, generator: torch.Generator) -> Tensor:
        """A table with values at the entries that are present.  (m, d) bool -> (m, d)"""
        out = torch.zeros(present.shape)
        row, column = present.nonzero(as_tuple=True)
        count = self.start[column + 1] - self.start[column]
        place = (torch.rand(len(row), generator=generator, dtype=torch.float64) * count).long()
        out[row, column] = self.value[self.start[column] + place.clamp_max(count - 1)]
        if self.norm:
            found = out.norm(p=self.norm, dim=1, keepdim=True)
            out *= self.length / found.where(found > 0, 1.0)
        return out


def _common_norm(rows: Tensor) -> tuple[int, float]:
    """Which norm all rows that are not zero share, if any: tables are often normalised row by row."""
    if bool((rows == rows.round()).all()):
        return 0, 0.0
    for order in (1, 2):
        found = rows.norm(p=order, dim=1)
        found = found[found > 0]
        if float(found.max() - found.min()) < _SAME * float(found.mean()):
            return order, float(found.mean())
    return 0, 0.0
