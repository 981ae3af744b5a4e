"""Mean pairwise cosine of feature rows (Table 2 of the paper)."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

# Rows that are scaled together: bounds memory for wide tables.
CHUNK = 1024


def mean_cosine(generated: Tensor, real: Tensor) -> float | None:
    """Mean of all cosines between rows of ``generated`` (m, d) and ``real`` (n, d); a zero row gives 0.

    The mean over all pairs is the dot product of the two mean unit rows. None if a table is empty.
    """
    if not len(generated) or not len(real):
        return None
    return float(_mean_unit_row(generated) @ _mean_unit_row(real))


def sparse_cosine(generated: sparse.csr_matrix, real: sparse.csr_matrix) -> float:
    """:func:`mean_cosine` of sparse matrices that have rows."""
    one, other = (_mean_sparse_row(table) for table in (generated, real))
    return float(one @ other)


def _mean_sparse_row(table: sparse.csr_matrix) -> np.ndarray:
    norm = np.sqrt(np.asarray(table.multiply(table).sum(1)).ravel())
    weight = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
    return table.T @ weight / table.shape[0]


def _mean_unit_row(table: Tensor) -> Tensor:
    total = torch.zeros(table.size(1), dtype=torch.float64)
    for chunk in table.split(CHUNK):
        rows = chunk.double()
        norm = rows.norm(dim=1, keepdim=True)
        total += torch.where(norm > 0, rows / norm.clamp_min(1e-300), torch.zeros_like(rows)).sum(0)
    return total / len(table)
