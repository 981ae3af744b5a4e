"""How often columns are entries of rows of each class, also where a class has few rows: modified Kneser-Ney smoothing.

A class of a hundred rows lacks most of the rare columns that more rows of it would have, and those that it has once it
has by chance. So a part of every count is given back (a discount, by how many columns classes have once,
twice, three and four times) and shared among all columns, by how many classes have each, or by how often all rows have
it (Chen and Goodman 1999). And as far as classes do not differ, they are mixed with all rows. How much of each is what
best foresees entries from about what would be counted without their row.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from dignn.features.table import Table

# What a column that no row has is expected to have: never 0, because validation rows may have it.
_LEAST = 1e-7
# How far the columns of all rows, rather than those of most classes, make up for what a class lacks: what is tried.
_EVERYWHERE = (0.0, 0.25, 0.5, 0.75, 1.0)
# Entries of all rows that each class is mixed with: what is tried.
_BORROWED = (0.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0)
# Discounts of columns that 0, 1, 2, and 3 or more rows of a class have, where there are too few columns to tell.
_USUAL_DISCOUNTS, _LEAST_SEEN = (0.0, 0.5, 1.0, 1.5), 5


class LogFrequencies(NamedTuple):
    """Logarithms of how often columns are entries of rows of each label; those of the last label are all rows'.

    Args:
        all_rows: (L, d) counted in all rows.
        others: (L, d) counted in all rows but one that has the column: what a row's own entries are foreseen by.
    """

    all_rows: Tensor
    others: Tensor

    @classmethod
    def of(cls, table: Table, always: Tensor) -> LogFrequencies:
        """Of a table of d columns, of which those in ``always`` (d,) are no entries because every row has them."""
        # A label without rows counts all of them, and tells nothing.
        there = torch.cat([(table.condition > 0).any(0), torch.tensor([True])])
        weight = table.different_weight.float()
        share = weight / table.weight  # (L', n) of each row that is of the label
        frequency, rows = (_summed(each.double(), table).masked_fill(always, 0.0) for each in (weight, share))
        frequency = frequency / table.weight.mean()
        of_class, rows_of_class, total = frequency[:-1], rows[:-1], frequency.sum(1, keepdim=True)
        everywhere, several = _shares(frequency[-1:]), _shares(rows_of_class.clamp_max(1.0).sum(0, keepdim=True))
        kept, given_back = _discounted(of_class, rows_of_class)
        # Without one of its rows a column has as much less of what is kept; without its only row it has nothing.
        left = kept * (1 - 1 / rows_of_class.clamp_min(1.0))
        # Among all rows a column's only row counts half: what nothing foresees would outweigh all that can be learned.
        one_less = everywhere * (1 - 1 / rows[-1:].clamp_min(1.0)).clamp_min(0.5)

        def mixed(own: Tensor, all_rows: Tensor, part: float, borrowed: float) -> Tensor:
            lacking = part * all_rows + (1 - part) * several
            return (own + given_back * lacking + borrowed * all_rows) / (total[:-1] + borrowed).clamp_min(1e-12)

        def foreseen(choice: tuple[float, float]) -> float:
            return float((of_class * mixed(left, one_less, *choice).clamp_min(1e-12).log()).sum())

        best = max(product(_EVERYWHERE, _BORROWED), key=foreseen)

        def logs(own: Tensor, all_rows: Tensor) -> Tensor:
            found = torch.cat([mixed(own, all_rows, *best), all_rows])
            out = all_rows.repeat(len(there), 1)
            out[there] = found.where(total > 0, all_rows)
            return out.clamp_min(_LEAST).log().float()

        return cls(logs(kept, everywhere), logs(left, one_less))


def _summed(weight: Tensor, table: Table) -> Tensor:
    """What rows weigh for each label (L, n), summed up over those that have each column.  (L, d)"""
    row, column = table.entries
    found = weight.new_zeros(len(weight), table.rows.size(1))
    for mine, total in zip(weight, found, strict=True):
        total.index_add_(0, column, mine[row])
    return found


def _discounted(frequency: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """What is kept of frequencies (C, d) of columns that so many rows (C, d) have, and what is given back (C, 1)."""
    found = [float(((rows - number).abs() < 0.5).sum()) for number in (1, 2, 3, 4)]
    level = torch.tensor(_USUAL_DISCOUNTS, dtype=rows.dtype)
    if min(found) >= _LEAST_SEEN:
        once, twice, thrice, four = found
        ratio = once / (once + 2 * twice)
        levels = [1 - 2 * ratio * twice / once, 2 - 3 * ratio * thrice / twice, 3 - 4 * ratio * four / thrice]
        level = torch.tensor([0.0, *levels], dtype=rows.dtype).clamp_min(0.0).minimum(torch.arange(4))
    # Rows may be of a class in parts: between two whole numbers the discount is one in between.
    below = rows.long().clamp_max(2)
    part = (rows - below).clamp(0.0, 1.0)
    discount = level[below] + part * (level[below + 1] - level[below])
    returned = frequency * (discount / rows.clamp_min(1e-12)).clamp_max(1.0)
    return frequency - returned, returned.sum(1, keepdim=True)


def _shares(values: Tensor) -> Tensor:
    """Rows (k, d) that add up to 1, but for those of zeros."""
    return values / values.sum(1, keepdim=True).clamp_min(1e-12)
