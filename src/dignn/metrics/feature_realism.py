"""Realism of generated feature tables: how far generated rows are from real ones that nobody learned from.

Every value stands beside its floor, what as many training rows score against the same held-out rows. Any two tables
can be compared: without training rows there are no floors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy import sparse
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.graphs.column_checks import breach as unfit
from dignn.graphs.feature_spec import Column, FeatureKind, FeatureSpec
from dignn.metrics.column_errors import (
    Indicators,
    Matrix,
    co_occurrence_error,
    correlation_error,
    kolmogorov_smirnov,
    matrix_of,
    row_density_distance,
    table_of,
    total_variation,
)
from dignn.metrics.counting import some
from dignn.metrics.feature_rows import FeatureRows
from dignn.metrics.measures.cosine import mean_cosine
from dignn.metrics.memorisation import Memorisation
from dignn.metrics.mixed_rows import Encoding, column_error, counted
from dignn.metrics.told_apart import Told, TwoSamples, computed

FEATURE_METRICS = ("column_error", "pair_error", "row_density", "cosine", "c2st", "memorisation")
# Rows of a table that are looked at at most.
MOST_TABLE_ROWS = 10_000

Values = dict[str, float | None]
# And whatever else :func:`dignn.metrics.column_errors.table_of` takes.
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
            Mixed columns: see :func:`dignn.metrics.mixed_rows.column_error`.
        pair_error: mean over pairs of columns of the absolute difference of P(both > 0), or of Pearson correlations
            (continuous; 0 for a constant column). Codes of a categorical type are compared value by value, all values
            but 0; pairs of values that real rows have are counted. Mixed columns: of Pearson correlations between
            ranks (numbers), flags, categories and what is missing. None with a single column.
        row_density: Wasserstein-1 distance of the numbers of non-zeros per row. None for categorical columns, whose 0
            is a code like any other, and for continuous ones if no held-out row has a 0; of mixed columns flags and
            counts are looked at.
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


def feature_realism(
    generated: Table,
    train: Table | None,
    held_out: Table,
    kind: FeatureKind | FeatureSpec | str,
    *,
    seed: Seed | None = None,
) -> FeatureRealism:
    """Measures generated feature rows.

    As many generated as training rows are compared, at most 10,000, because all distances fall with the number of rows;
    of larger tables, rows are drawn without replacement. Tables are tensors or arrays of real numbers,
    dense or sparse.

    Args:
        generated: (n, d) rows that a generator made.
        train: (m, d) rows that it learned from; None where they are not known: no floors and no memorisation.
        held_out: (k, d) real rows that it never saw.
        kind: what the columns hold, or, where they differ, the spec that says so of each;
            :func:`dignn.graphs.feature_inference.infer_features` guesses it from real rows.
        seed: decides which rows are drawn, by default always the same.

    Raises:
        DignnError: a table is empty, has another width, or holds what its kind does not allow.
    """
    seed = seed or Seed(0)
    rows = compared_rows(generated, train, held_out, kind, seed)
    value, compared, real = distances(rows, seed), rows.made.shape[0], rows.real.shape[0]
    if rows.known is None:
        return FeatureRealism(rows.kind, value, None, compared, real)
    as_many = rows.known[some(rows.known.shape[0], compared, seed.child("floor").numpy())]
    floor = distances(replace(rows, made=as_many), seed)
    if rows.kind is not FeatureKind.IDENTITY:
        made, known, others = as_numbers(rows, rows.made, rows.known, rows.real)
        value["cosine"], floor["cosine"] = mean_cosine(made, known), mean_cosine(others, known)
        memorised = Memorisation(made, known, others, rows.kind, seed=seed.child("memorisation"))
        value["memorisation"], floor["memorisation"] = memorised.share, memorised.floor
    return FeatureRealism(rows.kind, value, floor, compared, real)


def compared_rows(
    generated: Table, train: Table | None, held_out: Table, kind: FeatureKind | FeatureSpec | str, seed: Seed
) -> FeatureRows:
    """The rows that :func:`feature_realism` compares."""
    tables = {"generated": table_of(generated), "held-out": table_of(held_out)}
    if train is not None:
        tables["training"] = table_of(train)
    spec = kind if isinstance(kind, FeatureSpec) and kind.kind is FeatureKind.MIXED else None
    kind = _check(tables, kind.kind if isinstance(kind, FeatureSpec) else kind, spec)
    number = min(MOST_TABLE_ROWS, *(len(table) for name, table in tables.items() if name != "held-out"))
    most = {"generated": number, "held-out": MOST_TABLE_ROWS, "training": MOST_TABLE_ROWS}
    found = {name: _some(name, table, most[name], kind, seed) for name, table in tables.items()}
    columns = None if spec is None else spec.columns
    return FeatureRows(kind, found["generated"], found["held-out"], found.get("training"), columns=columns)


def rows_test(rows: FeatureRows, seed: Seed) -> TwoSamples:
    """How well a classifier tells the rows made from real ones, to be computed."""

    def tables() -> tuple[Matrix, Matrix]:
        made, real = as_numbers(rows, rows.made, rows.real)
        return made, real

    return TwoSamples(tables, rows.made.shape[0] + rows.real.shape[0], seed.child("c2st"))


def distances(rows: FeatureRows, seed: Seed, told: Told = computed) -> Values:
    """Distances of the rows made from real ones, and their cosine, by metric; memorisation is left None.

    Args:
        rows: codes of ``rows.known`` count as known, too.
        seed: of the classifier.
        told: how well a classifier tells the rows apart; by default computed now.
    """
    kind, made, real = rows.kind, rows.made, rows.real
    nothing: Values = dict.fromkeys(FEATURE_METRICS)
    if kind is FeatureKind.IDENTITY:  # one-hot rows: one choice, not many columns
        return {**nothing, "column_error": total_variation(_member(made), _member(real))}
    if rows.columns is not None:
        return {**nothing, **_mixed_distances(rows, rows.columns), "c2st": told(rows, rows_test(rows, seed))}
    continuous = kind is FeatureKind.CONTINUOUS
    # Whether the number of non-zeros says anything.
    zeros = real.nnz < real.shape[0] * real.shape[1] if continuous else kind is not FeatureKind.CATEGORICAL
    return {
        **nothing,
        "column_error": (kolmogorov_smirnov if continuous else total_variation)(made, real),
        "pair_error": _pair_error(rows),
        "row_density": row_density_distance(made, real) if zeros else None,
        "cosine": mean_cosine(made, real),
        "c2st": told(rows, rows_test(rows, seed)),
    }


def _mixed_distances(rows: FeatureRows, columns: tuple[Column, ...]) -> Values:
    """The same of columns that differ, without the classifier."""
    ranks = Encoding(columns, _real(rows), ranks=True)
    (made, units), (real, _) = ranks(rows.made), ranks(rows.real)
    full = [counted(table, columns) for table in (rows.made, rows.real)]
    numbers = as_numbers(rows, rows.made, rows.real)
    return {
        "column_error": column_error(rows.made, rows.real, columns),
        "pair_error": correlation_error(made, real, units),
        "row_density": None if full[0] is None or full[1] is None else row_density_distance(full[0], full[1]),
        "cosine": mean_cosine(*numbers),
    }


def as_numbers(rows: FeatureRows, *tables: Matrix) -> list[Matrix]:
    """Tables of such rows so that distances and angles mean something: as they are where all columns are alike."""
    if rows.columns is None:
        return list(tables)
    code = Encoding(rows.columns, _real(rows))
    return [code(table)[0] for table in tables]


def _real(rows: FeatureRows) -> list[Matrix]:
    return [rows.real] if rows.known is None else [rows.real, rows.known]


def _pair_error(rows: FeatureRows) -> float | None:
    if rows.kind is FeatureKind.CATEGORICAL:
        code = Indicators([rows.real] if rows.known is None else [rows.real, rows.known], [rows.made], zero=False)
        return co_occurrence_error(code(rows.made), code(rows.real), code.pairs)
    error = correlation_error if rows.kind is FeatureKind.CONTINUOUS else co_occurrence_error
    return error(rows.made, rows.real)


# -- tables -------------------------------------------------------------------------------------------


def _member(rows: Matrix) -> Matrix:
    """The number of the member that each one-hot row stands for, as a single column.  (n, 1)"""
    return sparse.csr_matrix(np.asarray(rows.argmax(1)).reshape(-1, 1))


def _some(name: str, table: Tensor, most: int, kind: FeatureKind, seed: Seed) -> Matrix:
    """At most ``most`` rows of a table."""
    rows = matrix_of(table, some(len(table), most, seed.child(name).numpy()))
    wrong = breach(rows, kind)
    if wrong is not None:
        raise DignnError(
            f"The {name} table holds {wrong}, but is said to be {kind.value}; round the values, or say another kind"
        )
    return rows


def breach(rows: Matrix, kind: FeatureKind) -> str | None:
    """What a table holds that its kind does not allow."""
    value = rows.data
    if kind.discrete and not ((value >= 0) & (value == value.round())).all():
        return "values that are not 0, 1, 2, ..."
    if kind in (FeatureKind.BINARY, FeatureKind.IDENTITY) and not (value <= 1).all():
        return "values that are not 0 or 1"
    if kind is FeatureKind.IDENTITY and not (np.diff(rows.indptr) == 1).all():
        return "rows that are not one-hot"
    return None


def _check(tables: Mapping[str, Tensor], kind: FeatureKind | str, spec: FeatureSpec | None) -> FeatureKind:
    """Raises for tables that cannot be compared; ``spec`` is of columns that differ."""
    known = [item.value for item in FeatureKind if item not in (FeatureKind.NONE, FeatureKind.MIXED)]
    if kind not in known and spec is None:
        raise DignnError(
            f"Features of kind '{getattr(kind, 'value', kind)}' cannot be compared; say {', '.join(known)}"
        )
    kind = FeatureKind(kind)
    for name, table in tables.items():
        if table.dim() != 2 or not table.numel():
            raise DignnError(f"The {name} table has shape {tuple(table.shape)}; give one with rows and columns")
    width = tables["held-out"].size(1)
    for name, table in tables.items():
        if table.size(1) != width:
            raise DignnError(f"The {name} table has {table.size(1)} columns, the held-out one {width}; give the same")
        # One sum instead of a test of every value: no copy of a wide table.
        if spec is None and not bool(table.sum().isfinite()) and not bool(table.isfinite().all()):
            raise DignnError(f"The {name} table holds values that are not finite; replace NaN and infinity first")
        wrong = None if spec is None else unfit(table.float(), spec)
        if wrong is not None:
            raise DignnError(f"Column {wrong[0]} of the {name} table holds {wrong[1]}; give another spec")
    return kind
