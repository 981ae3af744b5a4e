"""Whether feature rows are what a spec says of them, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dignn.core.errors import SchemaError
from dignn.graphs.feature_matrix import CELLS
from dignn.graphs.feature_spec import ColumnKind, FeatureKind, FeatureSpec

# Kinds whose columns hold any number.
_ANY_NUMBER = (ColumnKind.CONTINUOUS, ColumnKind.DATE)
_LARGEST = torch.finfo(torch.float32).max


def missing_where_it_may_not(rows: Tensor, spec: FeatureSpec) -> int | None:
    """The first column of rows (n, d) that misses values though the spec knows of none; None if all is well."""
    absent = rows.isnan().any(0)
    absent[list(spec.missing)] = False
    return int(absent.nonzero()[0]) if bool(absent.any()) else None


def breach(rows: Tensor, spec: FeatureSpec) -> tuple[int, str] | None:
    """A column that holds what its kind does not allow, and what that is in words; None if all is well.

    Levels of a count are what was seen, and other rows of the same world may go beyond; codes may not.

    Args:
        rows: (n, d), dense or sparse.
        spec: what they should be.
    """
    if rows.layout is not torch.strided:
        return _sparse_breach(rows, spec)
    column = missing_where_it_may_not(rows, spec)
    if column is not None:
        return column, "NaN, though its values are never missing"
    limits = _Limits.of(spec)
    groups = (tuple(range(spec.width)),) if spec.kind is FeatureKind.IDENTITY else spec.groups
    for block in rows.split(max(1, CELLS // max(1, spec.width))):
        found = limits.breach(block, spec) or _group_breach(block, groups)
        if found is not None:
            return found
    return None


def _sparse_breach(rows: Tensor, spec: FeatureSpec) -> tuple[int, str] | None:
    """The same by the entries of a sparse matrix: what is not there is 0."""
    (count, width), (row, column), values = rows.shape, rows.indices(), rows.values()
    absent = torch.bincount(column[values.isnan()], minlength=width) > 0
    absent[list(spec.missing)] = False
    if bool(absent.any()):
        return int(absent.nonzero()[0]), "NaN, though its values are never missing"
    zero = torch.bincount(column, minlength=width) < count
    found = _Limits.of(spec).breach_of_entries(
        torch.cat([column, zero.nonzero()[:, 0]]), torch.cat([values, torch.zeros(int(zero.sum()))]), spec
    )
    groups = (tuple(range(width)),) if spec.kind is FeatureKind.IDENTITY else spec.groups
    for group in groups if found is None else ():
        member = torch.zeros(width, dtype=torch.bool)
        member[list(group)] = True
        ones = torch.zeros(count).index_add_(0, row[member[column]], values[member[column]])
        found = found or _not_one(ones, group)
    return found


def check_rows(rows: Tensor, spec: FeatureSpec, name: str) -> Tensor:
    """The rows (n, d) of a node type or a relation, which are what the schema says.

    Raises:
        SchemaError: they are not; the column and the value are named.
    """
    if rows.size(1) != spec.width:
        raise SchemaError(
            f"'{name}' has {rows.size(1)} feature columns here and {spec.width} in the schema; give rows as the schema "
            "describes them, or infer a schema of these"
        )
    found = breach(rows, spec)
    if found is not None:
        column, what = found
        raise SchemaError(
            f"Column '{spec.column_name(column)}' of '{name}' holds {what}; give rows as the schema describes them, or "
            "infer a schema of these"
        )
    return rows


@dataclass(frozen=True)
class _Limits:
    """What columns may hold, of those k that may not hold every number.

    Args:
        columns: their numbers; None for all, which then need not be picked.
        least, greatest: (k,) what they hold at least and at most.
        whole: (k,) whether they hold whole numbers only.
    """

    columns: list[int] | None
    least: Tensor
    greatest: Tensor
    whole: Tensor

    @classmethod
    def of(cls, spec: FeatureSpec) -> _Limits:
        limited = [place for place, kind in enumerate(spec.kinds) if kind not in _ANY_NUMBER]
        ranges = [_range(spec, column) for column in limited]
        least, greatest = torch.tensor(ranges, dtype=torch.float32).reshape(-1, 2).T
        whole = torch.tensor([spec.kinds[column] is not ColumnKind.CONSTANT for column in limited], dtype=torch.bool)
        return cls(None if len(limited) == spec.width else limited, least, greatest, whole)

    def breach(self, rows: Tensor, spec: FeatureSpec) -> tuple[int, str] | None:
        """The first column of rows (n, d) beyond its limits, and what it holds in words."""
        values = rows if self.columns is None else rows[:, self.columns]
        # comparisons with NaN, a missing value, are false
        bad = (values < self.least) | (values > self.greatest) | (((values - values.round()).abs() > 0) & self.whole)
        places = bad.any(0).nonzero()[:, 0]
        if not len(places):
            return None
        place = int(places[0])
        column = place if self.columns is None else self.columns[place]
        return column, _in_words(float(values[:, place][bad[:, place]][0]), spec, column)

    def breach_of_entries(self, column: Tensor, values: Tensor, spec: FeatureSpec) -> tuple[int, str] | None:
        """The same of entries (m,) in columns (m,)."""
        place = torch.arange(spec.width)
        if self.columns is not None:
            place = torch.full((spec.width,), -1)
            place[self.columns] = torch.arange(len(self.columns))
        limited = place[column] >= 0
        column, values = column[limited], values[limited]
        at = place[column]
        bad = (values < self.least[at]) | (values > self.greatest[at]) | ((values != values.round()) & self.whole[at])
        bad &= ~values.isnan()
        if not bool(bad.any()):
            return None
        first = int(column[bad].min())
        return first, _in_words(float(values[bad & (column == first)][0]), spec, first)


def _range(spec: FeatureSpec, column: int) -> tuple[float, float]:
    """What a column holds at least and at most."""
    kind = spec.kinds[column]
    if kind is ColumnKind.CONSTANT:
        return (_constant(spec, column),) * 2
    if kind in (ColumnKind.BINARY, ColumnKind.ONE_HOT):
        return 0, 1
    if kind is ColumnKind.CATEGORICAL:
        return 0, _levels(spec, column) - 1
    return 0, _LARGEST


def _group_breach(rows: Tensor, groups: Sequence[Sequence[int]]) -> tuple[int, str] | None:
    """The first column of a group that is not one-hot, and what it holds in words."""
    for group in groups:
        ones = (rows if len(group) == rows.size(1) else rows[:, list(group)]).sum(1)
        found = _not_one(ones, group)
        if found is not None:
            return found
    return None


def _not_one(ones: Tensor, group: Sequence[int]) -> tuple[int, str] | None:
    """The first column of a group and what it holds in words, where rows do not have a single 1 in it (n,)."""
    bad = ones[ones != 1]
    return (group[0], f"{float(bad[0]):g} ones in the one-hot group that it belongs to") if len(bad) else None


def _levels(spec: FeatureSpec, column: int) -> int:
    """Number of codes of a column; of alike ones without making a :class:`Column` of each."""
    return spec.levels[column] if spec.levels is not None else spec.column(column).levels or 1


def _constant(spec: FeatureSpec, column: int) -> float:
    return spec.constant[column] if spec.constant is not None else spec.column(column).constant or 0.0


def _in_words(value: float, spec: FeatureSpec, column: int) -> str:
    kind = spec.kinds[column]
    if kind is ColumnKind.CATEGORICAL and value >= 0 and value == round(value):
        return f"the code {value:g}, which was never seen (codes run from 0 to {_levels(spec, column) - 1})"
    if kind is ColumnKind.CONSTANT:
        return f"{value:g}, though all rows of the schema's data have {_constant(spec, column):g}"
    return f"{value:g}, though its kind is '{kind.value}'"
