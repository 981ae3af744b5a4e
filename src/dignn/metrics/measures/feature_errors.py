"""Errors of features: rows of generated graphs against rows that nobody learned from, mean over node types."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from dignn.core.numerals import number
from dignn.core.seeds import Seed
from dignn.graphs.feature_spec import FeatureKind
from dignn.metrics.counting import mean
from dignn.metrics.feature_realism import Values, as_numbers, distances, rows_test
from dignn.metrics.feature_rows import FeatureRows
from dignn.metrics.judging import COLUMN_NOISE, Judge, Verdict, told_apart
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.memorisation import Memorisation
from dignn.metrics.metric import Figure, Metric, declare
from dignn.metrics.told_apart import TwoSamples

VALUES = ("column_error", "pair_error", "row_density", "c2st", "memorisation")


def feature_errors(measured: MeasuredGraphs, reality: Reality) -> dict[str, Any]:
    """Mean over node types, and each under ``by_type``; an identity type counts in the column error only."""
    by_type = {name: _of_type(rows, _seed(reality, name), reality) for name, rows in measured.rows.items()}
    summary: dict[str, Any] = {name: mean([values[name] for values in by_type.values()]) for name in VALUES}
    return {**summary, "by_type": by_type or None}


def foreseen_tests(columns: Iterable[Mapping[str, FeatureRows]], reality: Reality) -> dict[Hashable, TwoSamples]:
    """What :func:`feature_errors` will ask a classifier about rows of several sets of graphs."""
    every = [(name, rows) for several in columns for name, rows in several.items()]
    return {
        rows: rows_test(rows, _seed(reality, name)) for name, rows in every if rows.kind is not FeatureKind.IDENTITY
    }


def _seed(reality: Reality, name: str) -> Seed:
    return reality.seed.child("features", name)


def _of_type(rows: FeatureRows, seed: Seed, reality: Reality) -> Values:
    values = distances(rows, seed, reality.told)
    if rows.sides is not None:
        made, *sides = as_numbers(rows, rows.made, *rows.sides)
        found = Memorisation(made, sides[0], sides[1], rows.kind, seed=seed.child("memorisation"))
        values["memorisation"] = found.floor if rows.learned else found.share
    return {name: values[name] for name in VALUES}


def feature_error(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """An error of features against held-out rows."""
    noise = controls.get(COLUMN_NOISE)
    if floor is not None and value <= 1.25 * floor + 1e-9:
        if noise is not None and noise <= 1.05 * value:
            return Verdict("fair", "no better than noise scores here, so it shows nothing", shows=False)
        return Verdict("good", "as near to held-out real features as other real ones are")
    if noise is not None and value >= noise:
        return Verdict("poor", "no nearer to real features than noise is")
    if floor is None:
        return Verdict("fair", "what real rows score is not known, so this says little")
    if value <= 2 * floor:
        return Verdict("fair", "somewhat farther from held-out real features than other real ones are")
    return Verdict("poor", f"{number(value / floor) if floor else 'many'} times as far off as real features are")


def single_columns(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """An error of single columns: noise draws them from real ones, so being as good as noise is no more than that."""
    verdict = feature_error(value, floor, controls)
    if verdict.shows:
        return verdict
    return replace(verdict, text="no better than noise, which draws every column by itself from real ones")


def memorised(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of generated rows that are nearer to a row that was learned from than to one that was held out."""
    base = 0.5 if floor is None else floor
    than = "to what was held out" if floor is None else "real rows are"
    if value > base + 0.1:
        return Verdict("poor", f"nearer to what was learned from than {than}: some may be copies")
    if value > base + 0.05:
        return Verdict("fair", f"a little nearer to what was learned from than {than}")
    return Verdict("good", f"hardly nearer to what was learned from than {than}: not copied")


def _error(title: str, what: str, name: str, judge: Judge = feature_error) -> Figure:
    good = "at most 1.25 times the floor, and clearly below noise"
    return Figure(title, what, name, "lower", judge, good, high=None)


declare(
    Metric("sound.features", "features", 10, {"features"}, feature_errors, told=True),
    _error(
        "Single columns",
        "How far each column's values are from the real ones (column error).",
        "column_error",
        single_columns,
    ),
    _error("Pairs of columns", "How far columns go together as in real nodes (pair error).", "pair_error"),
    _error(
        "Fullness of rows",
        "How far the number of non-zero columns of a node is from the real one (row density).",
        "row_density",
    ),
    Figure(
        "Told from real features",
        "How well a classifier tells generated from real features (C2ST); .5 is guessing.",
        "c2st",
        better="lower",
        judge=told_apart,
        good=".6 or less, or no higher than real rows from real rows, and below noise; "
        "only where real rows are told apart at .35 to .65",
        low=0.4,
        terminal="C2ST of features",
    ),
    Figure(
        "Not copied",
        "Share of rows nearer to what was learned from than to what was held out (memorisation).",
        "memorisation",
        better="near",
        judge=memorised,
        good="at most .05 above the floor",
    ),
)
