"""Mean pairwise cosine of feature rows (Table 2 of the paper)."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from torch import Tensor

from dignn.metrics.column_errors import matrix_of
from dignn.metrics.counting import mean
from dignn.metrics.feature_rows import ClassRows
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.metric import Figure, Metric, declare
from dignn.metrics.mixed_rows import Encoding


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


def _of_classes(measured: MeasuredGraphs, reality: Reality) -> float | None:
    return mean([_cosine(rows) for rows in measured.class_rows])


def _cosine(rows: ClassRows) -> float | None:
    """Of one class; rows of mixed columns as numbers of one scale."""
    if rows.columns is None or not rows.made.shape[0] or not rows.real.shape[0]:
        return mean_cosine(rows.made, rows.real)
    made, real = matrix_of(rows.made), matrix_of(rows.real)
    code = Encoding(rows.columns, [real])
    return mean_cosine(code(made)[0], code(real)[0])


declare(
    Metric("paper.cosine", "features", 20, {"features"}, _of_classes, against="training"),
    Figure("Cosine of features, generated and real (best at the floor)", better="near"),
)
