"""Values of sparse continuous columns as codes: multiples of a row's and a column's own unit, or ranks in the column.

Words that are counted, weighed, divided by the row's length or averaged over several texts leave values of one form:
the row's scale times the column's factor times a small multiple, often a whole number. Where a table has this form, the
code of an entry is its multiple. Elsewhere it is the rank of the value among those of its column.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# Whole multiples that are codes of their own, and ranges of all others.
WHOLE_MULTIPLES, VALUE_RANGES = 32, 32
CODES = WHOLE_MULTIPLES + VALUE_RANGES
# A multiple that differs from a whole number by no more than this share of it is that number.
_WHOLE = 1e-3
# Values are multiples where this share of them is whole, or where scales explain so much of the variance of their logs.
LEAST_WHOLE, LEAST_EXPLAINED = 0.5, 0.5
# Columns have factors where without them the variance of what is left is larger than this many times.
WORSE_WITHOUT = 1.5
_ROUNDS = 8
# Logarithms that differ by less are the same.
_SAME_LOG = 1e-4


@dataclass(frozen=True, eq=False)
class Entries:
    """The entries of rows that are not zero, one after another.

    Args:
        row, column: (e,) where they stand.
        code: (e,) of their values.
        excess: (e,) double: the logarithm of the multiple, or the rank from -0.5 to 0.5.
        scale: (n,) logarithm of each row's scale; 0 for ranks.
        level: (n,) how large a row's values are for its scale: mean logarithm of its multiples, or mean rank.
    """

    row: Tensor
    column: Tensor
    code: Tensor
    excess: Tensor
    scale: Tensor
    level: Tensor


@dataclass(frozen=True, eq=False)
class ValueCodes:
    """How values become codes and come back.

    Args:
        factor: (d,) logarithm of each column's factor; (0,) where codes are ranks.
        start: (p + 1,) where the numbers of each pool begin: one pool for each range of multiples, or for each column.
        pool: (v,) the numbers, ascending in each pool.
        counted: () bool, whether values are whole numbers to begin with, so that the scale of every row is 1.
    """

    factor: Tensor
    start: Tensor
    pool: Tensor
    counted: Tensor

    @classmethod
    def of(cls, rows: Tensor, counted: bool = False) -> ValueCodes:
        """What suits a table (n, d), whose values are counts or of any kind."""
        row, column = rows.nonzero(as_tuple=True)
        value = rows[row, column].double()
        told = torch.tensor(counted)
        if bool((value > 0).all()):
            found = _scales(row, column, value.log(), rows.shape)
            if counted:
                found = torch.zeros(len(rows), dtype=torch.float64), torch.zeros(rows.size(1), dtype=torch.float64)
            if found is not None:
                scale, factor = found
                multiple = (value.log() - scale[row] - factor[column]).exp()
                others = multiple[_whole(multiple) == 0].sort().values
                start = torch.linspace(0, len(others), VALUE_RANGES + 1).round().long()
                return cls(factor, start, others.log(), told)
        order = value.argsort()
        order = order[column[order].argsort(stable=True)]
        count = torch.bincount(column, minlength=rows.size(1))
        start = torch.cat([torch.zeros(1, dtype=torch.long), count.cumsum(0)])
        return cls(torch.empty(0, dtype=torch.float64), start, value[order], told)

    @property
    def ranks(self) -> bool:
        """Whether codes are ranks in the column."""
        return not len(self.factor)

    def encode(self, rows: Tensor, generator: torch.Generator) -> Entries:
        """The entries of rows (n, d)."""
        row, column = rows.nonzero(as_tuple=True)
        value, number = rows[row, column].double(), len(rows)
        count = torch.bincount(row, minlength=number).clamp_min(1)
        if self.ranks:
            # Equal values are spread over the ranks that they share.
            low, high = (self._place(column, value, right=right) for right in (False, True))
            size = (self.start[1:] - self.start[:-1])[column].clamp_min(1)
            place = low + (high - low) * torch.rand(len(row), generator=generator, dtype=torch.float64)
            rank = (place / size).clamp(0, 1 - 1e-9)
            code = (rank * CODES).long()
            level = torch.zeros(number, dtype=torch.float64).index_add_(0, row, rank - 0.5) / count
            return Entries(row, column, code, rank - 0.5, torch.zeros(number), level.float())
        scale = _least(row, value.log() - self.factor[column], number) * (~self.counted).double()
        log = value.log() - scale[row] - self.factor[column]
        whole = _whole(log.exp())
        edges = self.pool[self.start[1:-1].clamp_max(max(len(self.pool) - 1, 0))] if len(self.pool) else self.pool
        code = torch.where(whole > 0, whole - 1, WHOLE_MULTIPLES + torch.searchsorted(edges, log, right=True))
        if not len(self.pool):
            code = code.clamp_max(WHOLE_MULTIPLES - 1)
        level = torch.zeros(number, dtype=torch.float64).index_add_(0, row, log) / count
        return Entries(row, column, code, log, scale.float(), level.where(level > 1e-4, 0.0).float())

    def decode(self, column: Tensor, code: Tensor, scale: Tensor, generator: torch.Generator) -> Tensor:
        """Values of entries in columns (e,), of codes (e,) and logarithms of row scales (e,).  (e,)"""
        point = torch.rand(len(code), generator=generator, dtype=torch.float64).to(code.device)
        if self.ranks:
            low, high = self.start[column], self.start[column + 1]
            place = low + ((code + point) / CODES * (high - low)).long()
            return self.pool[place.minimum(high - 1).clamp_min(0)].float()
        log = (code + 1).double().log()
        other = code >= WHOLE_MULTIPLES
        if bool(other.any()):
            low, high = self.start[code[other] - WHOLE_MULTIPLES], self.start[code[other] - WHOLE_MULTIPLES + 1]
            place = (low + (point[other] * (high - low)).long()).clamp_max(len(self.pool) - 1)
            log[other] = self.pool[place]
        return (log + scale.double() + self.factor[column]).exp().float()

    def _place(self, column: Tensor, value: Tensor, *, right: bool) -> Tensor:
        """How many values of its own column are below each value (or not above it).  (e,)"""
        out = torch.empty(len(column), dtype=torch.long)
        order = column.argsort(stable=True)
        for some in torch.split(order, [count for count in torch.bincount(column).tolist() if count]):
            own = int(column[some[0]])
            pool = self.pool[self.start[own] : self.start[own + 1]]
            out[some] = torch.searchsorted(pool, value[some], right=right)
        return out


def _scales(row: Tensor, column: Tensor, log: Tensor, shape: torch.Size) -> tuple[Tensor, Tensor] | None:
    """Logarithms of row scales (n,) and column factors (d,) of values; None where values are not of this form."""
    rows, columns = shape

    def scaled(factor: Tensor) -> tuple[Tensor, Tensor, float]:
        """With these factors: row scales, rests, and how many multiples are whole."""
        scale = _least(row, log - factor[column], rows)
        rest = log - scale[row] - factor[column]
        return scale, rest, float((_whole(rest.exp()) > 0).double().mean())

    for factor in (torch.zeros(columns, dtype=torch.float64), _exact_factors(row, column, log, shape)):
        scale, _, whole = scaled(factor)
        if whole >= LEAST_WHOLE:
            return scale, factor
    scale = _medians(row, log, rows)
    for _ in range(_ROUNDS):
        factor = _medians(column, log - scale[row], columns)
        scale = _medians(row, log - factor[column], rows)
    plain = torch.zeros_like(factor)
    rest, blunt = log - scale[row] - factor[column], log - _medians(row, log, rows)[row]
    if float(blunt.var()) <= WORSE_WITHOUT * float(rest.var()):
        factor, rest = plain, blunt
    explained = 1 - float(rest.var() / (log - _medians(column, log, columns)[column]).var().clamp_min(1e-12))
    return (scaled(factor)[0], factor) if explained >= LEAST_EXPLAINED else None


def _exact_factors(row: Tensor, column: Tensor, log: Tensor, shape: torch.Size) -> Tensor:
    """Logarithms of column factors where most multiples are 1: by what the logs of rows and columns have most often.

    It begins with the rows that have the most frequent column, whose scales are known up to a multiple, and goes on
    to columns that these have, and rows that have those.  (d,)
    """
    rows, columns = shape
    reference = torch.bincount(column, minlength=columns).argmax()
    scale = torch.full((rows,), torch.nan, dtype=torch.float64)
    scale[row[column == reference]] = log[column == reference]
    factor = torch.full((columns,), torch.nan, dtype=torch.float64)
    for _ in range(_ROUNDS):
        known = ~scale[row].isnan()
        factor = _modes(column[known], (log - scale[row])[known], columns)
        known = ~factor[column].isnan()
        scale = _modes(row[known], (log - factor[column])[known], rows)
    known = ~(scale[row] + factor[column]).isnan()
    least = _least(column[known], (log - scale[row] - factor[column])[known], columns)
    return (factor + least).nan_to_num(0.0)  # so that a column's least multiple is 1


def _modes(group: Tensor, value: Tensor, number: int) -> Tensor:
    """The value that is most frequent in each group, up to rounding; NaN for an empty one.  (number,)"""
    out = torch.full((number,), torch.nan, dtype=torch.float64)
    if not len(value):
        return out
    order = value.argsort()
    order = order[group[order].argsort(stable=True)]
    value, group = value[order], group[order]
    new = torch.ones(len(value), dtype=torch.bool)
    new[1:] = (group.diff() > 0) | (value.diff() > _SAME_LOG)
    first = new.nonzero()[:, 0]
    size = torch.cat([first, torch.tensor([len(value)])]).diff()
    of = group[first]
    largest = torch.zeros(number, dtype=torch.long).scatter_reduce(0, of, size, "amax")
    best = (size == largest[of]).nonzero()[:, 0]
    best = best[torch.cat([torch.tensor([True]), of[best].diff() > 0])]  # the least of those that are as frequent
    out[of[best]] = value[first[best]]
    return out


def _whole(multiple: Tensor) -> Tensor:
    """The whole number, up to 32, that each multiple is; 0 where it is none.  (e,) long"""
    near = multiple.round()
    fits = ((multiple - near).abs() <= _WHOLE * near) & (near >= 1) & (near <= WHOLE_MULTIPLES)
    return torch.where(fits, near, 0.0).long()


def _least(group: Tensor, value: Tensor, number: int) -> Tensor:
    """The least value of each group; 0 for an empty one.  (number,)"""
    found = torch.full((number,), torch.inf, dtype=torch.float64).scatter_reduce(0, group, value, "amin")
    return found.where(found.isfinite(), 0.0)


def _medians(group: Tensor, value: Tensor, number: int) -> Tensor:
    """The (lower) median value of each group; 0 for an empty one.  (number,)"""
    order = value.argsort()
    order = order[group[order].argsort(stable=True)]
    count = torch.bincount(group, minlength=number)
    middle = (count.cumsum(0) - count + (count - 1).clamp_min(0) // 2).clamp_max(max(len(order) - 1, 0))
    found = value[order[middle]] if len(order) else torch.zeros(number, dtype=torch.float64)
    return found.where(count > 0, 0.0)
