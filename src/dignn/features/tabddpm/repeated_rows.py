"""Rows that many nodes share, such as the vector of all unknown words: no diffusion of values hits them exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from dignn.core.seeds import Seed
from dignn.diffusion.categorical import draw
from dignn.features.given import NOTHING_GIVEN, Given
from dignn.features.table import Table

# A row is drawn as it is if at least two nodes have it and it makes up more than this share of some label.
LEAST_SHARE = 0.01
# Of up to so many repeated rows it is learned how a context changes their shares, from so many rows, and held back.
REGRESSED, REGRESSED_ROWS, RIDGE = 64, 4096, 1e-3


@dataclass(frozen=True, eq=False)
class RepeatedRows:
    """Whole rows that are drawn with their frequency.

    Args:
        rows: (k, d).
        share: (C + 1, k) double: how much of each label they make up. What is missing to 1 are other rows.
        said: (c, k + 1) double: what a context of c numbers adds to the log shares of each, and of all others; c is 0
            where it says nothing.
    """

    rows: Tensor
    share: Tensor
    said: Tensor

    @classmethod
    def find(cls, table: Table, least_rest: int, seed: Seed) -> tuple[RepeatedRows, Tensor]:
        """The repeated rows of a table, and the numbers of all others (n',).

        Where fewer than ``least_rest`` others would be left, there are too few to learn from and all rows are taken.
        """
        number = _number(table.rows)
        count = torch.bincount(number)
        label_share = table.different_weight / table.different_weight.sum(1, keepdim=True)
        share = torch.zeros(len(label_share), len(count), dtype=torch.float64).index_add_(1, number, label_share)
        taken = (count > 1) & (share > LEAST_SHARE).any(0)
        if int((~taken[number]).sum()) < least_rest:
            taken[:] = True
        first = torch.full((len(count),), len(number)).scatter_reduce_(0, number, torch.arange(len(number)), "amin")
        some = int(taken.sum())
        share = share[:, taken][table.line]
        found = cls(table.rows[first[taken]], share, torch.zeros(0, some + 1, dtype=torch.float64))
        if table.known and 0 < some <= REGRESSED:
            which = (taken.cumsum(0) - 1).where(taken, some)[number]
            found = replace(found, said=found._told_by_context(table, which, seed))
        return found, (~taken[number]).nonzero()[:, 0]

    @classmethod
    def none(cls, table: Table) -> RepeatedRows:
        """As if no row were repeated."""
        share = torch.zeros(table.classes + 1, 0, dtype=torch.float64)
        return cls(table.rows[:0], share, torch.zeros(0, 1, dtype=torch.float64))

    @classmethod
    def restored(cls, tensors: dict[str, Tensor]) -> RepeatedRows:
        """From the tensors of a file; earlier versions knew no context here."""
        nothing = torch.zeros(0, len(tensors["rows"]) + 1, dtype=torch.float64)
        return cls(**{"said": nothing, **tensors})

    def _told_by_context(self, table: Table, which: Tensor, seed: Seed) -> Tensor:
        """A ridge regression of which row it is (n,), k for another one, on what is known of it."""
        generator = seed.torch()
        row, label = table.draw_batch(REGRESSED_ROWS, generator, 0.0)
        context = table.occasion(row, generator)
        assert context is not None  # asked only then
        said = torch.zeros(table.known, len(self.rows) + 1, dtype=torch.float64, requires_grad=True)
        base, context = self._base(label), context.double()
        fit = torch.optim.LBFGS([said], max_iter=50, line_search_fn="strong_wolfe")

        def loss() -> Tensor:
            fit.zero_grad()
            found = cross_entropy(base + context @ said, which[row]) + RIDGE * said.square().sum()
            found.backward()
            return found

        with torch.enable_grad():
            fit.step(loss)
        return said.detach()

    def _base(self, label: Tensor) -> Tensor:
        """Log shares of each repeated row and of all others, for labels (m,).  (m, k + 1)"""
        share = self.share[label]
        rest = 1 - share.sum(1, keepdim=True)
        return torch.cat([share, rest.where(rest > 1e-9, 0.0)], dim=1).clamp_min(1e-12).log()

    def draw(self, label: Tensor, generator: torch.Generator, given: Given = NOTHING_GIVEN) -> Tensor:
        """For each label (m,), the number of a repeated row, or k for another row.  (m,) long

        With fixed columns only repeated rows that have them are drawn, or, where there are no others, any.
        """
        if not len(self.rows):
            return torch.zeros_like(label)
        if given.fixed is not None or (given.context is not None and len(self.said)):
            return self._draw_given(label, generator, given)
        point = torch.rand(len(label), 1, generator=generator, dtype=torch.float64)
        bounds = self.share.cumsum(1)
        complete = bounds[:, -1:] > 1 - 1e-9  # sums that miss 1 by rounding only
        bounds = bounds.where(~complete, bounds / bounds[:, -1:].clamp(min=1e-9))
        return torch.searchsorted(bounds[label].contiguous(), point, right=True)[:, 0]

    def _draw_given(self, label: Tensor, generator: torch.Generator, given: Given) -> Tensor:
        base = self._base(label)
        possible = base > math.log(1e-11)
        if given.context is not None and len(self.said):
            base = base + given.context.double() @ self.said
        chance = base.softmax(1) * possible
        if given.fixed is None:
            return draw(chance, generator)
        fixed = given.fixed
        agree = torch.stack([((fixed.values == row) | ~fixed.mask).all(1) for row in self.rows], dim=1)  # (m, k)
        agreeing = torch.cat([chance[:, :-1] * agree, chance[:, -1:]], dim=1)
        lost = agreeing.sum(1) == 0
        agreeing[lost, :-1] = chance[lost, :-1]
        return draw(agreeing, generator)


def _number(rows: Tensor) -> Tensor:
    """A number for each row; the same for equal rows.  (n,)"""
    known: dict[bytes, int] = {}
    plain = (rows + 0.0).numpy()  # 0 and -0 have different bytes
    return torch.tensor([known.setdefault(row.tobytes(), len(known)) for row in plain])
