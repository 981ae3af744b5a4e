"""Realism of generated feature tables: how far generated rows are from real ones that nobody learned from.

Every value stands beside its floor, what as many training rows score against the same held-out rows. Any two tables
can be compared: without training rows there are no floors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
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
    total_variation,
)
from dignn.metrics.cosine import mean_cosine
from dignn.metrics.nearest import memorisation
from dignn.runtime.seeds import Seed
from dignn.schema import FeatureKind

FEATURE_METRICS = ("column_error", "pair_error", "row_density", "cosine", "c2st", "memorisation")
# Rows of a table that are looked at at most.
MOST_ROWS = 10_000
# Rows whose values are checked together: bounds memory.
CHUNK = 1024
_SEED = Seed(0)

Values = dict[str, float | None]


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
    generated: Tensor, train: Tensor | None, held_out: Tensor, kind: FeatureKind | str, *, seed: Seed = _SEED
) -> FeatureRealism:
    """Measures generated feature rows.

    As many generated as training rows are compared, at most 10,000, because all distances fall with the number of rows;
    of larger tables, rows are drawn without replacement.

    Args:
        generated: (n, d) rows that a generator made.
        train: (m, d) rows that it learned from; None where they are not known: no floors and no memorisation.
        held_out: (k, d) real rows that it never saw.
        kind: what the columns hold; :func:`dignn.inference.infer_features` guesses it from real rows.
        seed: decides which rows are drawn.

    Raises:
        DignnError: a table is empty, has another width, or holds what its kind does not allow.
    """
    kind = _check({"generated": generated, "training": train, "held-out": held_out}, kind)
    number = min(MOST_ROWS, len(generated), len(generated) if train is None else len(train))
    generated = _some(generated, number, seed.child("generated"))
    held_out = _some(held_out, MOST_ROWS, seed.child("held-out"))
    train = None if train is None else _some(train, MOST_ROWS, seed.child("train"))
    measured = _identities if kind is FeatureKind.IDENTITY else _rows
    value, floor = measured(generated, train, held_out, kind, seed)
    return FeatureRealism(kind, value, floor, number, len(held_out))


def _identities(
    generated: Tensor, train: Tensor | None, held_out: Tensor, kind: FeatureKind, seed: Seed
) -> tuple[Values, Values | None]:
    """Of one-hot rows, the distribution of members alone."""

    def share(rows: Tensor) -> Tensor:
        return torch.bincount(rows.argmax(1), minlength=rows.size(1)).double() / len(rows)

    def values(rows: Tensor) -> Values:
        error = float((share(rows) - share(held_out)).abs().sum()) / 2
        return {**dict.fromkeys(FEATURE_METRICS), "column_error": error}

    learned = None if train is None else _some(train, len(generated), seed.child("floor"))
    return values(generated), None if learned is None else values(learned)


def _rows(
    generated: Tensor, train: Tensor | None, held_out: Tensor, kind: FeatureKind, seed: Seed
) -> tuple[Values, Values | None]:
    made, real = matrix_of(generated), matrix_of(held_out)
    if train is None:
        distance = _Distances(kind, real, [real], [made])
        cosine = mean_cosine(generated, held_out)
        return {**distance(made, seed), "cosine": cosine, "memorisation": None}, None
    every = matrix_of(train)
    learned = every[_chosen(len(train), len(generated), seed.child("floor")).numpy()]
    distance = _Distances(kind, real, [real, every], [made])
    near, near_floor = memorisation(made, every, real, kind, seed=seed.child("memorisation"))
    return (
        {**distance(made, seed), "cosine": mean_cosine(generated, train), "memorisation": near},
        {**distance(learned, seed), "cosine": mean_cosine(held_out, train), "memorisation": near_floor},
    )


class _Distances:
    """Distances of tables from held-out rows.

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
        continuous = self._kind is FeatureKind.CONTINUOUS
        return {
            "column_error": (kolmogorov_smirnov if continuous else total_variation)(rows, self._real),
            "pair_error": self._pair_error(rows),
            "row_density": row_density_distance(rows, self._real) if self._zero_counts() else None,
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


def _chosen(count: int, most: int, seed: Seed) -> Tensor:
    """At most ``most`` numbers below ``count``, ascending."""
    return torch.randperm(count, generator=seed.torch())[:most].sort().values


def _some(table: Tensor, most: int, seed: Seed) -> Tensor:
    return table if len(table) <= most else table[_chosen(len(table), most, seed)]


def _check(tables: Mapping[str, Tensor | None], kind: FeatureKind | str) -> FeatureKind:
    known = [item.value for item in FeatureKind if item is not FeatureKind.NONE]
    if kind not in known:
        raise DignnError(
            f"Features of kind '{getattr(kind, 'value', kind)}' cannot be compared; say {', '.join(known)}"
        )
    kind = FeatureKind(kind)
    given = {name: table for name, table in tables.items() if table is not None}
    width = given["held-out"].size(-1)
    for name, table in given.items():
        if table.dim() != 2 or not table.numel():
            raise DignnError(
                f"The {name} table has shape {tuple(table.shape)}; it needs rows and columns, at least one"
            )
        if table.size(1) != width:
            raise DignnError(
                f"The {name} table has {table.size(1)} columns and the held-out one {width}; give the same"
            )
        # One sum instead of a test of every value: no copy of a wide table.
        if not bool(table.sum(0, dtype=torch.float64).isfinite().all()):
            raise DignnError(f"The {name} table holds values that are not finite; replace NaN and infinity first")
        if kind.discrete and not all(_whole_numbers(part) for part in table.split(CHUNK)):
            raise DignnError(
                f"The {name} table holds values that are not 0, 1, 2, ..., but is said to be {kind.value}; "
                "round them, or say continuous"
            )
    return kind


def _whole_numbers(rows: Tensor) -> bool:
    return bool((rows >= 0).all() and (rows == rows.round()).all())
