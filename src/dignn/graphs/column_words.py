"""What a column holds, as people read it: a share, a number, a category, a calendar date, or that it is missing."""

from __future__ import annotations

import math

from torch import Tensor

from dignn.core.numerals import number
from dignn.graphs.dates import calendar
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureSpec

MISSING = "missing"
# Kinds whose name alone says it where the value is 1.
_THERE = (ColumnKind.BINARY, ColumnKind.COUNT, ColumnKind.ONE_HOT)
# Kinds whose 1 is a value like any other.
_VALUES = (ColumnKind.CATEGORICAL, ColumnKind.IDENTITY, ColumnKind.DATE)


def in_words(value: float, column: Column) -> str:
    """``3``, ``0.25``, ``2015-03-01``, ``missing``."""
    if math.isnan(value):
        return MISSING
    if column.unit is not None and column.epoch is not None:
        return calendar(value, column.unit, column.epoch)
    return f"{value:.0f}" if column.kind is ColumnKind.IDENTITY else number(value)


def in_json(value: float, column: Column) -> float | str | None:
    """A number, the text of a date, null where it is missing."""
    if math.isnan(value):
        return None
    return in_words(value, column) if column.kind is ColumnKind.DATE else value


def behind_name(value: float, column: Column) -> str:
    """A value to stand behind the name of its column; that a word is there once needs none."""
    if column.kind in _THERE and not math.isnan(value):
        return "" if value == 1 else f" \u00d7 {number(value)}"
    return f": {in_words(value, column)}"


def goes_without_saying(value: float, column: Column) -> bool:
    """Whether the name alone tells a value."""
    return value == 1 and column.kind not in _VALUES


def carried(row: Tensor, spec: FeatureSpec) -> list[int]:
    """Columns of a row (d,) to tell: those that are not 0, largest first, or of columns that differ in their order.

    Among these a category and a date are told whatever they are, constant columns never.
    """
    if spec.columns is None:
        return row.abs().argsort(descending=True, stable=True)[: int(row.count_nonzero())].tolist()
    there = (row != 0).tolist()  # also where it is missing
    kinds = enumerate(spec.kinds)
    return [n for n, kind in kinds if kind is not ColumnKind.CONSTANT and (there[n] or kind in _VALUES)]
