"""How often values are missing in each class: rows of generated target nodes against those of training graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from dignn.metrics.column_errors import matrix_of
from dignn.metrics.counting import mean
from dignn.metrics.feature_rows import ClassRows
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.measures.feature_errors import single_columns
from dignn.metrics.metric import Figure, Metric, declare


def missing_rates(measured: MeasuredGraphs, reality: Reality) -> dict[str, Any] | None:
    """Mean over classes and columns that may miss values of how far the shares are apart that do; None without such."""
    errors = [_of_class(rows) for rows in measured.class_rows]
    error = mean(errors)
    if error is None:
        return None
    return {"error": error, "by_class": dict(zip(measured.classes, errors, strict=False)) or None}


def _of_class(rows: ClassRows) -> float | None:
    """Of one class; None where it has no rows, or none of its columns may miss values."""
    columns = [number for number, column in enumerate(rows.columns or ()) if column.missing]
    if not columns or not rows.made.shape[0] or not rows.real.shape[0]:
        return None
    made, real = (np.isnan(matrix_of(table)[:, columns].toarray()).mean(0) for table in (rows.made, rows.real))
    return float(np.abs(made - real).mean())


declare(
    Metric("sound.missing_rates", "features", 30, {"features"}, missing_rates, against="training"),
    Figure(
        "Missing values, class by class",
        "How far the share of missing values of a column is from that of real nodes of the class.",
        "error",
        better="lower",
        judge=single_columns,
        good="at most 1.25 times the floor, and clearly below noise",
    ),
)
