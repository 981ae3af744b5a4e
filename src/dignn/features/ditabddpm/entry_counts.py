"""How many non-zero columns a row gets: as often as rows of its label have so many, given what is known of the row."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dignn.features.given import Fixed
from dignn.features.mlp import zero_linear
from dignn.features.table import Table

# What a context says about numbers of entries is learned for so many ranges of them, each as frequent as the others.
RANGES = 32
_HIDDEN = 64


class CountHead(nn.Module):
    """What the context of a row says about the range in which its number of entries lies.  (B, 32)

    Args:
        context: k.
        labels: C + 1.
    """

    def __init__(self, context: int, labels: int) -> None:
        super().__init__()
        self.enter = nn.Linear(context, _HIDDEN)
        self.line = nn.Embedding(labels, _HIDDEN)
        nn.init.zeros_(self.line.weight)
        self.leave = zero_linear(_HIDDEN, RANGES)

    def forward(self, context: Tensor, label: Tensor) -> Tensor:
        hidden = self.enter(context) + self.line(label)
        return self.leave(hidden + F.silu(hidden))


def count_loss(head: CountHead, count: Tensor, context: Tensor, label: Tensor, number: Tensor) -> Tensor:
    """Cross-entropy of the ranges of numbers (B,), where labels have them as ``count`` (L, N) says.  () nats"""
    place = _ranges(count)
    base = torch.zeros(len(count), RANGES, dtype=count.dtype, device=count.device).index_add_(1, place, count)
    base = (base / base.sum(1, keepdim=True) + 1e-6).log().float()
    return F.cross_entropy(base[label] + head(context, label), place[number])


def count_chances(count: Tensor, label: Tensor, head: CountHead | None = None, context: Tensor | None = None) -> Tensor:
    """How likely each number of entries is for each label (m,), by frequencies (L, N) and context.  (m, N)"""
    chance = count[label]
    if head is None or context is None:
        return chance
    said = head(context, label).double()
    chance = chance + 1e-6 * count[-1] / count[-1].sum() * chance.sum(1, keepdim=True)  # what no row of the label has
    return chance * (said - said.amax(1, keepdim=True))[:, _ranges(count)].exp()


def presence_by_count(table: Table, number: Tensor, count: Tensor) -> Tensor:
    """How often rows of a table whose numbers of entries lie in a range have each column.  (32, d)

    Args:
        table: whose entries are counted.
        number: (n,) of the entries of each row, which ``count`` (L, N) counts.
    """
    place, weight = _ranges(count)[number], table.weight.double() / table.weight.double().mean()
    total = torch.zeros(RANGES, dtype=torch.float64).index_add_(0, place, weight)
    entries = torch.zeros(RANGES, dtype=torch.float64).index_add_(0, place, weight * number)
    found = torch.zeros(RANGES, table.rows.size(1), dtype=torch.float64)
    row, column = table.entries
    found.index_put_((place[row], column), weight[row], accumulate=True)
    everywhere = found.sum(0)
    expected = everywhere / everywhere.sum().clamp_min(1e-9) * (entries / total.clamp_min(1e-9))[:, None]
    return ((found + expected.clamp_max(1.0)) / (total[:, None] + 1)).clamp(1e-6, 1 - 1e-6).float()


def given_fixed(chance: Tensor, fixed: Fixed, presence: Tensor, count: Tensor) -> Tensor:
    """The same (m, N) given which of the fixed columns are zero, each by itself.

    Args:
        chance: (m, N) of each number of entries.
        fixed: columns that are given, of those that may be zero.
        presence: (32, d) see :func:`presence_by_count`.
        count: (L, N) that ranges are made from.
    """
    there, zero = fixed.mask & (fixed.values != 0), fixed.mask & (fixed.values == 0)
    said = there.float() @ presence.log().T + zero.float() @ (-presence).log1p().T  # (m, 32)
    number = torch.arange(chance.size(1), device=chance.device)[None]
    least, most = there.sum(1, keepdim=True), fixed.mask.size(1) - zero.sum(1, keepdim=True)
    possible = (number >= least) & (number <= most) & (chance > 0)
    log = torch.where(possible, said.double()[:, _ranges(count)] + chance.log(), -torch.inf)
    best = log.amax(1, keepdim=True)
    found = (log - best.where(best.isfinite(), 0.0)).exp()
    nearest = F.one_hot((number - least).abs().argmin(1), chance.size(1)).double()  # as many as no row has
    return torch.where(best.isfinite(), found, nearest)


def _ranges(count: Tensor) -> Tensor:
    """The range of each number of entries, by its rank among those of all rows.  (N,)"""
    all_rows = count[-1]
    middle = (all_rows.cumsum(0) - all_rows / 2) / all_rows.sum()
    return (middle * RANGES).long().clamp(0, RANGES - 1)
