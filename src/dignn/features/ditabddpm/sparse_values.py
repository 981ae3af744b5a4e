"""Values of non-zero entries: drawn column by column from those that the class has there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dignn.core.files import put_under, under
from dignn.features.table import Table

# Rows whose norms differ by less than this share are rows of one norm; entries that differ by less are the same.
_SAME = 1e-3
# A class's values are mixed with those of all rows as if so many more entries had been seen.
_BORROWED = 0.5
# A norm that differs from a whole number by no more than this share is that number: the rest is rounding.
_ROUND = 1e-5
# Rows that are looked at in double precision together: bounds memory.
PIECE_ROWS = 1024


@dataclass(frozen=True, eq=False)
class EntryValues:
    """The values that the entries of each column have where they are not zero, and how often.

    Args:
        start: (d + 1,) where the values of each column begin.
        value: (v,) distinct values, column by column.
        weight: (L, v) how often each occurs in each label.
        norm: 1 or 2 where all rows have the same sum, or the same Euclidean norm; 0 otherwise.
        length: that norm.
    """

    start: Tensor
    value: Tensor
    weight: Tensor
    norm: int = 0
    length: float = 0.0

    @classmethod
    def of(cls, table: Table, label_weight: Tensor) -> EntryValues:
        """Of a table whose rows count by label as ``label_weight`` (L, n) says.

        Rows of counts that were divided by their norm are counts again here, and divided afterwards.
        """
        (row, column), rows = table.entries, table.rows
        entry = rows[row, column].double()
        norm, length = _common_norm(row, entry, len(rows))
        if norm:
            least = torch.full((len(rows),), torch.inf, dtype=torch.float64).scatter_reduce(0, row, entry.abs(), "amin")
            times = entry / least[row]
            if bool(((times - times.round()).abs() < _SAME).all()):
                entry = times.round()
        pair, place = torch.stack([column.double(), entry], dim=1).unique(dim=0, return_inverse=True)
        of = pair[:, 0].long()
        counts = torch.bincount(of, minlength=rows.size(1))
        weight = torch.zeros(len(label_weight), len(pair), dtype=torch.float64)
        weight.index_add_(1, place, label_weight[:, row])
        weight += _BORROWED * weight[-1] / torch.bincount(of, weight[-1], minlength=rows.size(1))[of]
        start = torch.cat([torch.zeros(1, dtype=torch.long), counts.cumsum(0)])
        return cls(start, pair[:, 1].float(), weight, norm, length)

    def draw(self, present: Tensor, label: Tensor, generator: torch.Generator) -> Tensor:
        """A table with values at the entries that are present, row i of label ``label[i]``.  (m, d) bool -> (m, d)"""
        out = present.float()
        if bool((self.value != 1).any()):
            row, column = present.nonzero(as_tuple=True)
            out[row, column] = self._values(column, label[row], generator)
        return normalised(out, self.norm, self.length) if self.norm else out

    def _values(self, column: Tensor, label: Tensor, generator: torch.Generator) -> Tensor:
        """A value for each entry of a column and a label."""
        uniform = torch.rand(len(column), generator=generator, dtype=torch.float64).to(column.device)
        total = torch.cat([self.weight.new_zeros(len(self.weight), 1), self.weight.cumsum(1)], dim=1)
        first, last = self.start[column], self.start[column + 1]
        low, high = total[label, first], total[label, last]
        place = torch.empty_like(column)
        for number in label.unique().tolist():
            here = label == number
            place[here] = torch.searchsorted(total[number], (low + uniform * (high - low))[here], right=True) - 1
        return self.value[place.maximum(first).minimum(last - 1)]

    def nearest(self, rows: Tensor, exact: bool) -> Tensor:
        """Rows whose entries are within the range of their column, or, if ``exact``, values that it has.  (m, d)"""
        row, column = rows.nonzero(as_tuple=True)
        first, last = self.start[column], self.start[column + 1] - 1
        value = rows[row, column].minimum(self.value[last]).maximum(self.value[first])
        if exact:
            # Values ascend within a column; added up with a step between columns they ascend all through.
            of = torch.repeat_interleave(torch.arange(len(self.start) - 1, device=rows.device), self.start.diff())
            step = 2 * float(self.value.abs().max()) + 1
            place = torch.searchsorted(self.value.double() + of * step, value.double() + column * step)
            place = place.minimum(last).maximum(first)
            before = (place - 1).maximum(first)
            nearer = (value - self.value[before]).abs() <= (self.value[place] - value).abs()
            value = self.value[torch.where(nearer, before, place)]
        out = rows.clone()
        out[row, column] = value
        return out

    # -- files ----------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors = {"start": self.start, "value": self.value, "weight": self.weight}
        return put_under("value.", tensors), {"norm": self.norm, "length": self.length}

    @classmethod
    def restored(cls, tensors: dict[str, Tensor], settings: dict[str, Any]) -> EntryValues:
        return cls(**under("value.", tensors), norm=settings["norm"], length=settings["length"])


def normalised(rows: Tensor, norm: int, length: float) -> Tensor:
    """Rows (m, d) of one norm, rounded once, as counts are that were divided by it; rows of zeros stay."""
    out = rows.clone()
    for piece, some in zip(out.split(PIECE_ROWS), rows.split(PIECE_ROWS), strict=True):
        exact = some.double()
        found = exact.norm(p=norm, dim=1, keepdim=True)
        piece.copy_(exact * length / found.where(found > 0, 1.0))
    return out


def _common_norm(row: Tensor, entry: Tensor, rows: int) -> tuple[int, float]:
    """Which norm all rows that are not zero share, if any: tables are often normalised row by row.

    Args:
        row, entry: (e,) of the numbers that are not zero, float64.
        rows: how many rows there are.
    """
    if bool((entry == entry.round()).all()):
        return 0, 0.0
    for order in (1, 2):
        found = torch.zeros(rows, dtype=torch.float64).index_add_(0, row, entry.abs() ** order) ** (1 / order)
        found = found[found > 0]
        if float(found.max() - found.min()) < _SAME * float(found.mean()):
            length = float(found.mean())
            return order, round(length) if abs(length - round(length)) < _ROUND * length else length
    return 0, 0.0
