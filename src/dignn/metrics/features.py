"""Realism of generated feature tables: how far generated rows are from real ones that nobody learned from.

Every value stands beside its floor, what as many training rows score against the same held-out rows. Any two tables
can be compared: without training rows there are no floors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from torch import Tensor

from dignn.errors import DignnError
from dignn.metrics.c2st import c2st
from dignn.metrics.columns import (
    Indicators,
    co_occurrence_error,
    correlation_error,
    indicator_error,
    kolmogorov_smirnov,
    matrix_of,
    row_density_distance,
    table_of,
    total_variation,
)
from dignn.metrics.cosine import mean_cosine
from dignn.metrics.nearest import memorisation
from dignn.runtime.seeds import Seed
from dignn.schema import FeatureKind

FEATURE_METRICS = ("column_error", "pair_error", "row_density", "cosine", "c2st", "memorisation")
# Rows of a table that are looked at at most.
MOST_ROWS = 10_000
_SEED = Seed(0)

Values = dict[str, float | None]
# And whatever else :func:`dignn.metrics.columns.table_of` takes.
Table: TypeAlias = Tensor | np.ndarray | sparse.spmatrix


@dataclass(frozen=True)
class FeatureRealism:
    """Generated rows against held-out ones, beside what training rows score.

    Args:
        kind: what the columns hold.
        value: by metric; None where a metric does not apply.
        floor: the same of as many training rows; None without training rows.
        compared: generated rows that were compared, and training rows.
        held_out: rows that they were compared with.

    The metrics:
        column_error: mean over columns of the total variation (discrete) or the Kolmogorov-Smirnov distance
            (continuous). Of an identity type, the total variation of the members; nothing else applies there.
        pair_error: mean over pairs of columns of the absolute difference of P(both > 0), or of Pearson correlations
            (continuous; 0 for a constant column). Codes of a categorical type are compared value by value, all values
            but 0; pairs of values that real rows have are counted. None with a single column.
        row_density: Wasserstein-1 distance of the numbers of non-zeros per row. None for categorical columns, whose 0
            is a code like any other, and for continuous ones if no held-out row has a 0.
        cosine: mean cosine of generated and training rows; its floor is that of held-out and training rows, and the
            right value is that, not the maximum. Without training rows: of generated and held-out rows.
        c2st: how well a classifier tells the rows apart, see :func:`dignn.metrics.c2st.c2st`; 0.5 is ideal.
        memorisation: share of rows nearer to a training row than to a held-out one, of as many; 0.5 is ideal. Its floor
            is that of real rows on neither side. With n training and m < n held-out rows, copies of training rows
            score about 0.5 + m / 2n only.
    """

    kind: FeatureKind
    value: Values
    floor: Values | None
    compared: int
    held_out: int

    def to_json(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {**asdict(self), "kind": self.kind.value}


def feature_realism(
    generated: Table, train: Table | None, held_out: Table, kind: FeatureKind | str, *, seed: Seed = _SEED
) -> FeatureRealism:
    """Measures generated feature rows.

    As many generated as training rows are compared, at most 10,000, because all distances fall with the number of rows;
    of larger tables, rows are drawn without replacement. Tables are tensors or arrays of real numbers,
    dense or sparse.

    Args:
        generated: (n, d) rows that a generator made.
        train: (m, d) rows that it learned from; None where they are not known: no floors and no memorisation.
        held_out: (k, d) real rows that it never saw.
        kind: what the columns hold; :func:`dignn.inference.infer_features` guesses it from real rows.
        seed: decides which rows are drawn.

    Raises:
        DignnError: a table is empty, has another width, or holds what its kind does not allow.
    """
    generated, held_out = table_of(generated), table_of(held_out)
    train = None if train is None else table_of(train)
    kind = _check({"generated": generated, "training": train, "held-out": held_out}, kind)
    number = min(MOST_ROWS, len(generated), len(generated) if train is None else len(train))
    made = _some("generated", generated, number, kind, seed)
    real = _some("held-out", held_out, MOST_ROWS, kind, seed)
    if train is None:
        value = _Distances(kind, real, [real], [made])(made, seed)
        return FeatureRealism(kind, value, None, number, real.shape[0])
    known = _some("training", train, MOST_ROWS, kind, seed)
    distances = _Distances(kind, real, [real, known], [made])
    value, floor = distances(made, seed), distances(known[_chosen(known.shape[0], number, seed.child("floor"))], seed)
    if kind is not FeatureKind.IDENTITY:
        value["cosine"], floor["cosine"] = mean_cosine(made, known), mean_cosine(real, known)
        near = memorisation(made, known, real, kind, seed=seed.child("memorisation"))
        value["memorisation"], floor["memorisation"] = near
    return FeatureRealism(kind, value, floor, number, real.shape[0])


class _Distances:
    """Distances of tables from held-out rows, and their cosine.

    Args:
        real: the held-out rows.
        known: tables of all real rows.
        made: tables of generated rows.
    """

    def __init__(
        self,
        kind: FeatureKind,
        real: sparse.csr_matrix,
        known: list[sparse.csr_matrix],
        made: list[sparse.csr_matrix],
    ) -> None:
        self._kind, self._real = kind, real
        self._code = Indicators(known, made, zero=False) if kind is FeatureKind.CATEGORICAL else None

    def __call__(self, rows: sparse.csr_matrix, seed: Seed) -> Values:
        nothing: Values = dict.fromkeys(FEATURE_METRICS)
        if self._kind is FeatureKind.IDENTITY:  # one-hot rows: one choice, not many columns
            return {**nothing, "column_error": total_variation(_member(rows), _member(self._real))}
        continuous = self._kind is FeatureKind.CONTINUOUS
        return {
            **nothing,
            "column_error": (kolmogorov_smirnov if continuous else total_variation)(rows, self._real),
            "pair_error": self._pair_error(rows),
            "row_density": row_density_distance(rows, self._real) if self._zero_counts() else None,
            "cosine": mean_cosine(rows, self._real),
            "c2st": c2st(rows, self._real, seed=seed.child("c2st")),
        }

    def _pair_error(self, rows: sparse.csr_matrix) -> float | None:
        if self._code is not None:
            return indicator_error(self._code(rows), self._code(self._real), self._code.pairs)
        error = correlation_error if self._kind is FeatureKind.CONTINUOUS else co_occurrence_error
        return error(rows, self._real)

    def _zero_counts(self) -> bool:
        """Whether the number of non-zeros says anything."""
        if self._kind is FeatureKind.CONTINUOUS:
            return self._real.nnz < self._real.shape[0] * self._real.shape[1]
        return self._kind is not FeatureKind.CATEGORICAL


# -- tables -------------------------------------------------------------------------------------------


def _member(rows: sparse.csr_matrix) -> sparse.csr_matrix:
    """The number of the member that each one-hot row stands for, as a single column.  (n, 1)"""
    return sparse.csr_matrix(np.asarray(rows.argmax(1)).reshape(-1, 1))


def _chosen(count: int, most: int, seed: Seed) -> np.ndarray:
    """At most ``most`` numbers below ``count``, ascending."""
    return np.arange(count) if count <= most else np.sort(seed.numpy().permutation(count)[:most])


def _some(name: str, table: Tensor, most: int, kind: FeatureKind, seed: Seed) -> sparse.csr_matrix:
    """At most ``most`` rows of a table."""
    rows = matrix_of(table, _chosen(len(table), most, seed.child(name)))
    wrong = _breach(rows, kind)
    if wrong is not None:
        raise DignnError(
            f"The {name} table holds {wrong}, but is said to be {kind.value}; round the values, or say another kind"
        )
    return rows


def _breach(rows: sparse.csr_matrix, kind: FeatureKind) -> str | None:
    """What a table holds that its kind does not allow."""
    value = rows.data
    if kind.discrete and not ((value >= 0) & (value == value.round())).all():
        return "values that are not 0, 1, 2, ..."
    if kind in (FeatureKind.BINARY, FeatureKind.IDENTITY) and not (value <= 1).all():
        return "values that are not 0 or 1"
    if kind is FeatureKind.IDENTITY and not (np.diff(rows.indptr) == 1).all():
        return "rows that are not one-hot"
    return None


def _check(tables: Mapping[str, Tensor | None], kind: FeatureKind | str) -> FeatureKind:
    known = [item.value for item in FeatureKind if item is not FeatureKind.NONE]
    if kind not in known:
        raise DignnError(
            f"Features of kind '{getattr(kind, 'value', kind)}' cannot be compared; say {', '.join(known)}"
        )
    kind = FeatureKind(kind)
    given = {name: table for name, table in tables.items() if table is not None}
    for name, table in given.items():
        if table.dim() != 2 or not table.numel():
            raise DignnError(
                f"The {name} table has shape {tuple(table.shape)}; it needs rows and columns, at least one"
            )
    width = given["held-out"].size(1)
    for name, table in given.items():
        if table.size(1) != width:
            raise DignnError(f"The {name} table has {table.size(1)} columns, the held-out one {width}; give the same")
        # One sum instead of a test of every value: no copy of a wide table.
        if not bool(table.sum().isfinite()) and not bool(table.isfinite().all()):
            raise DignnError(f"The {name} table holds values that are not finite; replace NaN and infinity first")
    return kind
