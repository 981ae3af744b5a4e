"""Distances between two feature tables column by column and pair by pair, for wide sparse tables too.

Tables are sparse matrices (rows, columns) with every value that is not 0; dense ones are just full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import torch
from scipy import sparse
from scipy.stats import wasserstein_distance
from torch import Tensor

from dignn.core.errors import DignnError

Matrix: TypeAlias = sparse.csr_matrix

# Columns whose pairs with all others are looked at together: bounds memory.
PAIRED_COLUMNS = 512
# Rows that are made sparse together: bounds memory.
SPARSE_ROWS = 1024
# Above this share of non-zeros, matrices are multiplied faster as dense ones.
DENSE = 0.05


def table_of(table: Any) -> Tensor:
    """Any table of numbers as a tensor that all of this can compute with: dense, on the CPU, without gradient.

    Tensors (sparse ones, half precision, whole numbers, with gradient), numpy arrays, scipy's sparse matrices, and
    whatever numpy makes an array of. Single and double precision are not copied.
    """
    if isinstance(table, Tensor):
        tensor = table.detach().cpu()
        tensor = tensor if tensor.layout is torch.strided else tensor.to_dense()
    else:
        try:
            array = np.asarray(table.toarray() if sparse.issparse(table) else table)
        except ValueError:  # lists of different lengths
            array = np.empty(0, dtype=object)
        if array.dtype.kind not in "biuf":
            raise DignnError(f"A table holds no numbers ({type(table).__name__}); give a tensor or an array of numbers")
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
        tensor = torch.from_numpy(np.require(array, array.dtype.newbyteorder("="), ["C", "W"]))
    if tensor.is_complex():
        raise DignnError("A table holds complex numbers; give real ones")
    if tensor.dtype in (torch.float32, torch.float64):
        return tensor
    return tensor.float() if tensor.element_size() < 4 else tensor.double()


def matrix_of(table: Any, chosen: np.ndarray | None = None) -> Matrix:
    """Rows of a table (n, d), by default all, as a sparse matrix of double precision; a sparse matrix stays one."""
    if sparse.issparse(table):
        matrix = sparse.csr_matrix(table, dtype=np.float64)
        return matrix if chosen is None else matrix[chosen]
    table = table_of(table)
    chosen = np.arange(len(table)) if chosen is None else chosen
    pieces = [sparse.csr_matrix((0, table.size(1)))]
    for part in torch.from_numpy(chosen).split(SPARSE_ROWS):  # never a copy of a wide table
        pieces.append(sparse.csr_matrix(table[part].numpy()).astype(np.float64))
    return sparse.vstack(pieces).tocsr()


def product(left: Matrix, right: Matrix, out: np.ndarray | None = None) -> np.ndarray:
    """``left`` @ ``right`` as a dense array, in the place of ``out`` if that is given."""
    if min(_density(left), _density(right)) > DENSE:
        return np.matmul(left.toarray(), right.toarray(), out=out)
    found: np.ndarray = (left @ right).toarray(out=out)
    return found


# -- single columns -----------------------------------------------------------------------------------


def total_variation(one: Matrix, other: Matrix) -> float:
    """Mean over columns of the total variation between their distributions; every value is one of its own."""
    _, difference = _differences(one, other)
    return float(np.abs(difference).sum()) / 2 / one.shape[1]


def kolmogorov_smirnov(one: Matrix, other: Matrix) -> float:
    """Mean over columns of the largest difference of the cumulated distributions."""
    column, difference = _differences(one, other)
    # Each column's differences sum to 0, so that cumulating over all columns starts anew in each.
    cumulated = np.abs(np.cumsum(difference))
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    return float(np.maximum.reduceat(cumulated, starts).sum()) / one.shape[1]


def _differences(one: Matrix, other: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Every value of every column, ascending: its column and P(value | one) - P(value | other).  (values,) twice"""
    width = one.shape[1]
    every = np.arange(width)
    columns, values, weights = [every], [np.zeros(width)], [np.zeros(width, dtype=np.int64)]
    # Weights are whole numbers, n * m times the probability, so that sums are exact.
    for matrix, weight in ((one, other.shape[0]), (other, -one.shape[0])):
        weights[0] = weights[0] + weight * (matrix.shape[0] - np.bincount(matrix.indices, minlength=width))
        columns.append(matrix.indices)
        values.append(matrix.data)
        weights.append(np.full(matrix.nnz, weight, dtype=np.int64))
    column, value, weight = (np.concatenate(parts) for parts in (columns, values, weights))
    order = np.lexsort((value, column))
    column, value, weight = column[order], value[order], weight[order]
    starts = np.flatnonzero((np.diff(column, prepend=-1) != 0) | (np.diff(value, prepend=np.nan) != 0))
    return column[starts], np.add.reduceat(weight, starts) / (one.shape[0] * other.shape[0])


# -- pairs of columns ---------------------------------------------------------------------------------

# Whoever takes a block may change it; the next one stands in its place.
Blocks = Iterator[np.ndarray]


def co_occurrence_error(one: Matrix, other: Matrix, pairs: float | None = None) -> float | None:
    """Mean over pairs i < j of the difference of P(x_i > 0 and x_j > 0); None with a single column.

    Of indicators, only ``pairs`` pairs can occur together.
    """
    return _mean_difference(one, other, _together, pairs)


def correlation_error(one: Matrix, other: Matrix, units: np.ndarray | None = None) -> float | None:
    """Mean over pairs i < j of the difference of Pearson correlations; those of a constant column are 0.

    ``units`` (d,) tells which columns are parts of one thing; these are no pairs. None without any pair.
    """
    if units is None:
        return _mean_difference(one, other, _correlated)
    inside = [np.flatnonzero(units == unit) for unit in np.unique(units)]
    width = len(units)
    pairs = width * (width - 1) / 2 - sum(len(part) * (len(part) - 1) / 2 for part in inside)
    total = _mean_difference(one, other, _correlated, min(1.0, pairs))
    if total is None:
        return None
    own = (_mean_difference(one[:, part], other[:, part], _correlated, 1.0) for part in inside if len(part) > 1)
    return max(0.0, total - sum(found or 0.0 for found in own)) / pairs


def _mean_difference(
    one: Matrix, other: Matrix, blocks: Callable[[Matrix], Blocks], pairs: float | None = None
) -> float | None:
    """Sum over pairs of the absolute difference of two symmetric matrices that come block by block, over ``pairs``.

    By default these are all pairs of columns.
    """
    width = one.shape[1]
    pairs = width * (width - 1) / 2 if pairs is None else pairs
    if pairs == 0:
        return None
    total = 0.0
    for number, (here, there) in enumerate(zip(blocks(one), blocks(other), strict=True)):
        difference = np.abs(np.subtract(here, there, out=here), out=here)
        own = np.arange(len(difference))
        difference[own, number * PAIRED_COLUMNS + own] = 0
        total += float(difference.sum())
    return total / 2 / pairs


def _together(matrix: Matrix) -> Blocks:
    """P(x_i > 0 and x_j > 0), so many lines at a time.  (PAIRED_COLUMNS, d)"""
    there = (matrix > 0).astype(np.float32).tocsc()  # exact up to 2^24 rows
    count, width = matrix.shape
    room = np.empty((min(PAIRED_COLUMNS, width), width), dtype=np.float32)
    for start in range(0, width, PAIRED_COLUMNS):
        columns = there[:, start : start + PAIRED_COLUMNS].T.tocsr()
        block = product(columns, there, out=room[: columns.shape[0]])
        yield np.divide(block, count, out=block)


def _correlated(matrix: Matrix) -> Blocks:
    """Pearson correlations, so many lines at a time.  (PAIRED_COLUMNS, d)"""
    count = matrix.shape[0]
    mean, deviation = moments(matrix)
    scale = np.divide(1.0, deviation * np.sqrt(count), out=np.zeros_like(mean), where=deviation > 0)
    if _density(matrix) > DENSE:  # centred first: exact also where the mean is large
        scaled = (matrix.toarray() - mean) * scale
        for start in range(0, matrix.shape[1], PAIRED_COLUMNS):
            yield scaled[:, start : start + PAIRED_COLUMNS].T @ scaled
        return
    columns = (matrix @ sparse.diags(scale)).tocsc()
    centre = mean * scale * np.sqrt(count)
    room, beside = np.empty((2, min(PAIRED_COLUMNS, len(mean)), len(mean)))
    for start in range(0, len(mean), PAIRED_COLUMNS):
        some = centre[start : start + PAIRED_COLUMNS]
        block = product(columns[:, start : start + PAIRED_COLUMNS].T.tocsr(), columns, out=room[: len(some)])
        block -= np.outer(some, centre, out=beside[: len(some)])
        yield block


def moments(matrix: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column; exactly 0 where it is constant.  (d,) twice"""
    count, width = matrix.shape
    filled = np.bincount(matrix.indices, minlength=width)
    mean = np.bincount(matrix.indices, matrix.data, minlength=width) / count
    centred = (matrix.data - mean[matrix.indices]) ** 2
    variance = (np.bincount(matrix.indices, centred, minlength=width) + (count - filled) * mean**2) / count
    constant = matrix.max(0).toarray()[0] == matrix.min(0).toarray()[0]
    return mean, np.where(constant, 0.0, np.sqrt(variance))


# -- rows ---------------------------------------------------------------------------------------------


def row_density_distance(one: Matrix, other: Matrix) -> float:
    """Wasserstein-1 distance between the numbers of non-zeros per row."""
    return float(wasserstein_distance(np.diff(one.indptr), np.diff(other.indptr)))


def _density(matrix: Matrix) -> float:
    return matrix.nnz / max(1, matrix.shape[0] * matrix.shape[1])


# -- codes as indicators ------------------------------------------------------------------------------


class Indicators:
    """Codes as columns of 0 and 1, one for each column and value that real rows have, then those of others.

    Args:
        real: tables of the real rows: generated values that these lack get columns behind theirs.
        others: further tables.
        zero: whether 0 is a value like any other; otherwise it is the value that needs no column.
    """

    def __init__(self, real: list[Matrix], others: list[Matrix], *, zero: bool) -> None:
        self._zero = zero
        self._place: dict[int, int] = {}
        self._levels = 2 + int(max((table.data.max(initial=0) for table in [*real, *others]), default=0))
        for table in real:
            self._add(table)
        known = np.array(list(self._place), dtype=np.int64) // self._levels
        sizes = np.bincount(known) if len(known) else np.zeros(0)
        # pairs of known values of two different columns; values of one column never occur together
        self.pairs = float(len(known) ** 2 - (sizes**2).sum()) / 2
        for table in others:
            self._add(table)

    def __call__(self, table: Matrix) -> Matrix:
        rows, keys = self._keys(table)
        names = np.array(list(self._place), dtype=np.int64)
        order = np.argsort(names)
        columns = order[np.searchsorted(names, keys, sorter=order)]
        return sparse.csr_matrix((np.ones(len(keys)), (rows, columns)), shape=(table.shape[0], len(names)))

    def _add(self, table: Matrix) -> None:
        for key in np.unique(self._keys(table)[1]).tolist():
            self._place.setdefault(key, len(self._place))

    def _keys(self, table: Matrix) -> tuple[np.ndarray, np.ndarray]:
        if self._zero:
            rows, columns = (part.ravel() for part in np.indices(table.shape))
            codes = table.toarray().ravel()
        else:
            entries = table.tocoo()
            rows, columns, codes = entries.row, entries.col, entries.data
        return rows, columns.astype(np.int64) * self._levels + codes.astype(np.int64)
