"""Mean pairwise cosine of feature rows (Table 2 of the paper)."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from torch import Tensor

from dignn.metrics.columns import matrix_of


def mean_cosine(generated: Tensor | sparse.csr_matrix, real: Tensor | sparse.csr_matrix) -> float | None:
    """Mean of all cosines between rows of ``generated`` (m, d) and ``real`` (n, d); a zero row gives 0.

    The mean over all pairs is the dot product of the two mean unit rows. None if a table is empty.
    """
    if not generated.shape[0] or not real.shape[0]:
        return None
    return float(_mean_unit_row(matrix_of(generated)) @ _mean_unit_row(matrix_of(real)))


def _mean_unit_row(table: sparse.csr_matrix) -> np.ndarray:
    norm = np.sqrt(np.asarray(table.multiply(table).sum(1)).ravel())
    weight = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
    return table.T @ weight / table.shape[0]
