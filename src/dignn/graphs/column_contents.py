"""What the columns of a feature matrix hold: least and greatest value of each, what is missing, one-hot groups."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dignn.graphs.feature_matrix import CELLS

# With fewer rows than this, columns may look alike or different by chance.
TELLING_ROWS = 20
# Rows that do not have the most frequent value of a one-hot group, at least.
LEAST_OTHERS = 10
# Columns of a one-hot group at least: two that exclude each other are as well a thing and its opposite.
LEAST_GROUP = 3
# Rows that tell at once that columns are no one-hot group.
_FIRST_ROWS = 64
# Rows that are glanced at first, because that costs next to nothing.
_GLANCE = 16


@dataclass(frozen=True)
class Contents:
    """What there is in a matrix (n, d), n > 0; a missing value is NaN.

    Attributes:
        rows: n.
        least, greatest: (d,) of the values of each column that are there; infinite where all are missing.
        whole: (d,) whether a column holds only 0, 1, 2, ...
        missing: (d,) how many values are missing.
        filled: (d,) how many values are there and not 0.
        fractions: (d,) how many values are there and not 0, 1, 2, ...
        one_hot: whether each row is a single 1.
        identity: whether it is the identity matrix.
    """

    rows: int
    least: Tensor
    greatest: Tensor
    whole: Tensor
    missing: Tensor
    filled: Tensor
    fractions: Tensor
    one_hot: bool
    identity: bool

    @classmethod
    def of(cls, x: Tensor) -> Contents:
        """Looks through a matrix once, dense or sparse."""
        return cls._of_dense(x) if x.layout is torch.strided else cls._of_sparse(x)

    @classmethod
    def _of_sparse(cls, x: Tensor) -> Contents:
        """By its entries alone: what is not there is 0."""
        (count, width), (row, column), values = x.shape, x.indices(), x.values()
        absent = values.isnan()
        full = torch.bincount(column, minlength=width) == count  # no 0 beside the entries
        least, greatest = (torch.where(full, end, 0.0) for end in (torch.inf, -torch.inf))
        there, at = values[~absent], column[~absent]
        least.scatter_reduce_(0, at, there, "amin")
        greatest.scatter_reduce_(0, at, there, "amax")
        strange = (there < 0) | (there != there.round())
        missing, fractions, filled = (
            torch.bincount(some, minlength=width) for some in (column[absent], at[strange], at[there != 0])
        )
        ones = torch.zeros(count).index_add_(0, row, values)
        one_hot = not bool(absent.any() | strange.any()) and bool((ones == 1).all() and (values <= 1).all())
        diagonal = int(((row == column) & (values == 1)).sum()) == count
        return cls(
            count,
            *(least, greatest, fractions == 0, missing, filled, fractions),
            one_hot=one_hot,
            identity=one_hot and count == width > 1 and diagonal,
        )

    @classmethod
    def _of_dense(cls, x: Tensor) -> Contents:
        width = x.size(1)
        least, greatest = (torch.full((width,), end) for end in (torch.inf, -torch.inf))
        missing, filled, fractions = (torch.zeros(width, dtype=torch.long) for _ in range(3))
        one_hot = True
        identity, start = x.size(0) == width > 1, 0
        for rows in x.split(max(1, CELLS // max(1, width))):
            absent = rows.isnan()
            if bool(absent.any()):
                one_hot, there = False, ~absent
                low, high = rows.nan_to_num(torch.inf), rows.nan_to_num(-torch.inf)
            else:
                low = high = rows
                there = None
            least, greatest = torch.minimum(least, low.amin(0)), torch.maximum(greatest, high.amax(0))
            strange = (rows < 0) | (rows != rows.round())
            nonzero = rows != 0
            if there is not None:
                strange, nonzero = strange & there, nonzero & there
            missing += absent.sum(0)
            fractions += strange.sum(0)
            filled += nonzero.sum(0)
            one_hot = one_hot and bool((rows.sum(1) == 1).all() and (rows <= 1).all())
            place = torch.arange(start, start + len(rows))
            identity = identity and one_hot and bool((rows[torch.arange(len(rows)), place] == 1).all())
            start += len(rows)
        whole = fractions == 0
        counting = bool(whole.all())
        ends = (least, greatest, whole, missing, filled, fractions)
        return cls(len(x), *ends, one_hot=one_hot and counting, identity=identity and counting)

    @property
    def counting(self) -> bool:
        """Whether it holds only 0, 1, 2, ..."""
        return bool(self.whole.all())

    @property
    def same(self) -> Tensor:
        """(d,) whether all rows have one value in a column."""
        return (self.least == self.greatest) & (self.missing == 0)

    @property
    def constant(self) -> bool:
        """Whether all rows are the same."""
        return bool(self.same.all())

    @property
    def largest(self) -> float:
        return float(self.greatest.max())


def one_hot_groups(x: Tensor, held: Contents) -> list[list[int]]:
    """Columns of each category that has a column for each of its values.

    Such a group is a run of at least three neighbouring columns of 0 and 1, of which in every row exactly one is 1, in
    at least 20 rows, of which at least 10 do not have its most frequent value. Words do not stand together so by
    accident: were columns independent, the others would fill just the m of n rows that the most frequent one leaves
    with a probability of at most 1 / C(n, m), which is below 1 in 100,000. Columns with one value may stand between
    them and are none of the group. Where the whole matrix is one such group there is nothing beside it, so it is none.

    Args:
        x: the matrix, dense or sparse.
        held: what it holds.
    """
    if held.rows < TELLING_ROWS:
        return []
    same = held.same
    binary = held.whole & (held.greatest <= 1) & (held.missing == 0) & ~same
    varying = (~same).nonzero()[:, 0].tolist()
    if int(binary.sum()) < LEAST_GROUP:
        return []
    ones, fits = held.filled.tolist(), binary.tolist()
    columns = None if x.layout is torch.strided else _by_column(x)
    found: list[list[int]] = []
    run: list[int] = []
    for column in [*varying, -1]:
        if column >= 0 and fits[column]:
            run.append(column)
            continue
        found += _groups_of_run(x, columns, run, ones, held.rows)
        run = []
    return [] if [*found, []][0] == varying else found


def _groups_of_run(
    x: Tensor, columns: sparse.csc_matrix | None, run: list[int], ones: list[int], count: int
) -> list[list[int]]:
    """Groups in a run of neighbouring columns of 0 and 1, none of which is constant."""
    ends, total = {0: 0}, 0
    starts = []
    for place, column in enumerate(run):
        starts.append(total)
        total += ones[column]
        ends[total] = place + 1
    found, place, glance = [], 0, _places(x, run)
    while place < len(run):
        # as many ones as rows, and a single one in each of the first few, or no group starts here
        end = ends.get(starts[place] + count, 0)
        possible = end - place >= LEAST_GROUP and all(
            bisect_left(ones_of, end) - bisect_left(ones_of, place) == 1 for ones_of in glance
        )
        group = run[place:end] if possible else []
        varied = bool(group) and count - max(ones[column] for column in group) >= LEAST_OTHERS
        if varied and _one_each(x, columns, group):
            found.append(group)
            place += len(group)
        else:
            place += 1
    return found


def _places(x: Tensor, run: list[int]) -> list[list[int]]:
    """Places in a run of columns where each of the first few rows has a 1, ascending."""
    if not run:
        return []
    few = min(len(x), _GLANCE)
    if x.layout is torch.strided:
        row, place = x[:few, run].nonzero(as_tuple=True)
    else:
        (row, column), begin = x.indices(), int(torch.searchsorted(x.indices()[0], few))
        row, column = (each[:begin][x.values()[:begin] != 0] for each in (row, column))
        order = torch.full((x.size(1),), -1)
        order[run] = torch.arange(len(run))
        row, place = row[order[column] >= 0], order[column][order[column] >= 0]
    return [place[row == number].sort().values.tolist() for number in range(few)]


def _one_each(x: Tensor, columns: sparse.csc_matrix | None, group: list[int]) -> bool:
    """Whether each row has a single 1 in these columns, which have as many as there are rows."""
    if columns is not None:
        (row, column), begin = x.indices(), int(torch.searchsorted(x.indices()[0], _FIRST_ROWS))
        member = torch.isin(column[:begin], torch.tensor(group)) & (x.values()[:begin] != 0)
        if bool((torch.bincount(row[:begin][member], minlength=min(len(x), _FIRST_ROWS)) != 1).any()):
            return False
        rows = np.concatenate([columns.indices[columns.indptr[c] : columns.indptr[c + 1]] for c in group])
        return int(np.bincount(rows).max(initial=0)) <= 1
    first = x[:_FIRST_ROWS, group].sum(1)
    return bool((first == 1).all()) and bool((x[:, group].sum(1) == 1).all())


def _by_column(x: Tensor) -> sparse.csc_matrix:
    (row, column), values = x.indices().numpy(), x.values().numpy()
    there = values != 0
    return sparse.csc_matrix((values[there], (row[there], column[there])), shape=tuple(x.shape))
