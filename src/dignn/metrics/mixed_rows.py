"""Rows of a table whose columns differ, as numbers that can be compared with each other.

What is one thing becomes one unit: a column, or all columns of a one-hot group. Constant columns say nothing and are
left out. A missing value is a state of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from dignn.graphs.feature_spec import Column, ColumnKind
from dignn.metrics.column_errors import Matrix, kolmogorov_smirnov, total_variation

# Kinds whose values are told apart and lie nowhere.
_NAMED = (ColumnKind.CATEGORICAL, ColumnKind.IDENTITY)
# Two rows of different categories differ in two indicators, which together count as one step.
_HALF = np.sqrt(0.5)


class Encoding:
    """Rows as columns of numbers with one scale.

    Numbers on a scale (continuous, dates, counts) are in units of the real rows' standard deviations, from their mean
    on, or, as ``ranks``, shares of real values below them. Flags are 0 and 1. Each category has an indicator, and all
    that real rows lack have one together. A column that misses values has an indicator of that beside 0 (its mean).

    Args:
        columns: what each column holds.
        real: tables of real rows, which say what is usual.
        ranks: whether numbers become ranks.
    """

    def __init__(self, columns: Sequence[Column], real: Sequence[Matrix], *, ranks: bool = False) -> None:
        self._columns, self._ranks = columns, ranks
        self._known = {
            number: np.unique(present(real, number), return_counts=True)
            for number, column in enumerate(columns)
            if column.kind in (*_NAMED, ColumnKind.COUNT) or column.numeric
        }

    def __call__(self, table: Matrix) -> tuple[Matrix, np.ndarray]:
        """The rows (n, features), and which unit each of their columns belongs to."""
        parts, units = [sparse.csr_matrix((table.shape[0], 0))], []
        by_column = table.tocsc()
        for unit, numbers in enumerate(units_of(self._columns)):
            found = self._unit(by_column, numbers)
            parts.append(found)
            units += [unit] * found.shape[1]
        return sparse.hstack(parts).tocsr(), np.array(units, dtype=np.int64)

    def _unit(self, table: sparse.csc_matrix, numbers: Sequence[int]) -> sparse.spmatrix:
        column = self._columns[numbers[0]]
        if column.kind is ColumnKind.ONE_HOT:
            return table[:, list(numbers)] * _HALF
        values = table[:, [numbers[0]]].toarray()[:, 0]
        absent = np.isnan(values)
        if column.kind is ColumnKind.BINARY:
            found = [np.where(absent, 0.0, values)]
        elif column.kind in _NAMED:
            return _indicators(values, absent, self._known[numbers[0]][0], column.missing)
        else:
            found = [np.where(absent, 0.0, self._placed(values, *self._known[numbers[0]]))]
        if column.missing:
            found.append(absent.astype(float))
        return sparse.csr_matrix(np.stack(found, axis=1))

    def _placed(self, values: np.ndarray, known: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Numbers on the scale of the known ones, whose values ascend and occur so many times."""
        total = times.sum()
        if not total:
            return np.zeros_like(values)
        if self._ranks:  # ties have the rank in their middle
            below = np.concatenate([[0], np.cumsum(times)])
            left, right = (below[np.searchsorted(known, values, side=side)] for side in ("left", "right"))
            return (left + right) / (2 * total) - 0.5
        mean = (known * times).sum() / total
        deviation = np.sqrt(((known - mean) ** 2 * times).sum() / total)
        return (values - mean) / (deviation if deviation > 0 else 1.0)


def units_of(columns: Sequence[Column]) -> list[list[int]]:
    """Numbers of the columns that are one thing, in order; constant ones are left out."""
    found: dict[int | tuple[str, int], list[int]] = {}
    for number, column in enumerate(columns):
        if column.kind is not ColumnKind.CONSTANT:
            key = number if column.group is None else ("group", column.group)
            found.setdefault(key, []).append(number)
    return list(found.values())


def present(tables: Sequence[Matrix], number: int) -> np.ndarray:
    """The values of a column that are there, of all tables."""
    values = np.concatenate([table[:, [number]].toarray()[:, 0] for table in tables])
    return values[~np.isnan(values)]


def column_error(one: Matrix, other: Matrix, columns: Sequence[Column]) -> float:
    """Mean over units of how far their distributions are apart, from 0 to 1.

    Discrete ones: total variation, a missing value being one of the values. Continuous ones: the difference of the
    shares that are missing, and the Kolmogorov-Smirnov distance of the values that are there, weighed by the smaller
    share of these.
    """
    units = units_of(columns)
    discrete = [unit for unit in units if not columns[unit[0]].numeric]
    total = 0.0
    if discrete:
        codes = (_codes(table, discrete) for table in (one, other))
        total += total_variation(*codes) * len(discrete)
    for (number,) in (unit for unit in units if columns[unit[0]].numeric):
        here, there = (table[:, [number]].toarray()[:, 0] for table in (one, other))
        lost = [float(np.isnan(values).mean()) for values in (here, there)]
        total += abs(lost[0] - lost[1])
        if max(lost) < 1:
            kept = (sparse.csr_matrix(values[~np.isnan(values)][:, None]) for values in (here, there))
            total += (1 - max(lost)) * kolmogorov_smirnov(*kept)
    return total / len(units)


def counted(table: Matrix, columns: Sequence[Column]) -> Matrix | None:
    """The columns of which 0 says that something is not there, flags and counts; None without any."""
    chosen = [n for n, column in enumerate(columns) if column.kind in (ColumnKind.BINARY, ColumnKind.COUNT)]
    if not chosen:
        return None
    found = table[:, chosen].copy()
    found.data[np.isnan(found.data)] = 0.0
    found.eliminate_zeros()
    return found


def _codes(table: Matrix, units: Sequence[Sequence[int]]) -> Matrix:
    """A column of whole numbers for each discrete unit; missing is -1.  (n, units)"""
    by_column = table.tocsc()
    found = []
    for unit in units:
        values = by_column[:, list(unit)].toarray()
        code = values[:, 0] if len(unit) == 1 else np.asarray(values.argmax(1), dtype=float)
        found.append(np.where(np.isnan(code), -1.0, code))
    return sparse.csr_matrix(np.stack(found, axis=1))


def _indicators(values: np.ndarray, absent: np.ndarray, known: np.ndarray, missing: bool) -> sparse.csr_matrix:
    """A column for each known category, one for all others, and, where values may be missing, one for that."""
    place = np.searchsorted(known, values).clip(0, max(0, len(known) - 1))
    strange = ~absent & (known[place] != values if len(known) else True)
    place = np.where(absent, len(known) + 1, np.where(strange, len(known), place))
    width = len(known) + 1 + int(missing)
    rows = np.flatnonzero(place < width)
    data = np.full(len(rows), _HALF)
    return sparse.csr_matrix((data, (rows, place[rows])), shape=(len(values), width))
