"""Sparse matrices of flags, and tables of features as sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy.sparse import csr_array, hstack, vstack
from torch import Tensor

from dignn.goes_by.traits import Holds
from dignn.graphs.feature_matrix import CELLS


def flags(matrix: csr_array) -> csr_array:
    """1 wherever something is."""
    matrix = csr_array(matrix)
    matrix.sum_duplicates()
    matrix.data = np.ones_like(matrix.data)
    return matrix


def without_zeros(matrix: csr_array) -> csr_array:
    """Without zeros that are stored."""
    matrix = csr_array(matrix)
    matrix.eliminate_zeros()
    return matrix


def ones(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> csr_array:
    """1 at these places."""
    return csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)


def beside(parts: Sequence[csr_array]) -> csr_array:
    """The columns of all parts."""
    return csr_array(hstack(parts, format="csr"))


def true_rows(trait: Holds, rows: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Rows in which a trait is true of a column, of which the entries that are not 0 are given."""
    missing = np.isnan(values)
    if trait.test == "missing":
        return rows[missing]
    true = values == trait.value if trait.test == "is" else values > trait.value
    zero = trait.value == 0 if trait.test == "is" else trait.value < 0
    if not zero:
        return rows[true]
    without = np.ones(count, dtype=bool)  # rows whose value is 0
    without[rows] = False
    without[rows[true]] = True
    return np.flatnonzero(without)


def sparse_rows_of(table: Tensor, rows: np.ndarray, columns: Sequence[int] | None) -> csr_array:
    """Some rows and columns of a table, a few rows at a time, since it may be wide."""
    width = table.size(1) if columns is None else len(columns)
    at_once = max(1, CELLS // max(1, table.size(1)))
    parts = [csr_array((0, width), dtype=np.float32)]
    for begin in range(0, len(rows), at_once):
        some = table[torch.from_numpy(rows[begin : begin + at_once])]
        dense = (some if columns is None else some[:, list(columns)]).numpy()
        there = dense != 0  # NaN is there
        first = np.concatenate([[0], np.cumsum(there.sum(1))])
        (flat,) = there.ravel().nonzero()
        parts.append(csr_array((dense.ravel()[flat], flat % max(1, width), first), shape=dense.shape))
    return csr_array(vstack(parts, format="csr"))
