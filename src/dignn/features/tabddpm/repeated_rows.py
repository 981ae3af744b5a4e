"""Rows that many nodes share, such as the vector of all unknown words: no diffusion of values hits them exactly."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dignn.diffusion.categorical import draw
from dignn.features.given import Fixed
from dignn.features.table import Table

# A row is drawn as it is if at least two nodes have it and it makes up more than this share of some label.
LEAST_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class RepeatedRows:
    """Whole rows that are drawn with their frequency.

    Args:
        rows: (k, d).
        share: (C + 1, k) double: how much of each label they make up. What is missing to 1 are other rows.
    """

    rows: Tensor
    share: Tensor

    @classmethod
    def find(cls, table: Table, least_rest: int) -> tuple[RepeatedRows, Tensor]:
        """The repeated rows of a table, and the numbers of all others (n',).

        Where fewer than ``least_rest`` others would be left, there are too few to learn from and all rows are taken.
        """
        number = _number(table.rows)
        count = torch.bincount(number)
        label_share = table.label_weight / table.label_weight.sum(1, keepdim=True)
        share = torch.zeros(len(label_share), len(count), dtype=torch.float64).index_add_(1, number, label_share)
        taken = (count > 1) & (share > LEAST_SHARE).any(0)
        if int((~taken[number]).sum()) < least_rest:
            taken[:] = True
        first = torch.full((len(count),), len(number)).scatter_reduce_(0, number, torch.arange(len(number)), "amin")
        return cls(table.rows[first[taken]], share[:, taken]), (~taken[number]).nonzero()[:, 0]

    @classmethod
    def none(cls, table: Table) -> RepeatedRows:
        """As if no row were repeated."""
        return cls(table.rows[:0], torch.zeros(table.classes + 1, 0, dtype=torch.float64))

    def draw(self, label: Tensor, generator: torch.Generator, fixed: Fixed | None = None) -> Tensor:
        """For each label (m,), the number of a repeated row, or k for another row.  (m,) long

        With fixed columns only repeated rows that have them are drawn, or, where there are no others, any.
        """
        if not len(self.rows):
            return torch.zeros_like(label)
        if fixed is not None:
            return self._draw_agreeing(label, generator, fixed)
        point = torch.rand(len(label), 1, generator=generator, dtype=torch.float64)
        bounds = self.share.cumsum(1)
        complete = bounds[:, -1:] > 1 - 1e-9  # sums that miss 1 by rounding only
        bounds = bounds.where(~complete, bounds / bounds[:, -1:].clamp(min=1e-9))
        return torch.searchsorted(bounds[label].contiguous(), point, right=True)[:, 0]

    def _draw_agreeing(self, label: Tensor, generator: torch.Generator, fixed: Fixed) -> Tensor:
        agree = torch.stack([((fixed.values == row) | ~fixed.mask).all(1) for row in self.rows], dim=1)  # (m, k)
        share = self.share[label]
        rest = (1 - share.sum(1, keepdim=True)).clamp_min(0.0)
        rest = rest.where(rest > 1e-9, 0.0)
        chance = torch.cat([share * agree, rest], dim=1)
        lost = chance.sum(1) == 0
        chance[lost, :-1] = share[lost]
        return draw(chance, generator)


def _number(rows: Tensor) -> Tensor:
    """A number for each row; the same for equal rows.  (n,)"""
    known: dict[bytes, int] = {}
    plain = (rows + 0.0).numpy()  # 0 and -0 have different bytes
    return torch.tensor([known.setdefault(row.tobytes(), len(known)) for row in plain])
