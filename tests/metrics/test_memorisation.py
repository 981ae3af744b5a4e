"""Memorisation by slow loops, and for rows whose share is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist

from dignn.core.seeds import Seed
from dignn.graphs.feature_spec import FeatureKind
from dignn.metrics.column_errors import matrix_of
from dignn.metrics.memorisation import Memorisation

DISTANCES = {
    FeatureKind.BINARY: "cityblock",
    FeatureKind.COUNT: "cityblock",
    FeatureKind.CATEGORICAL: "hamming",
    FeatureKind.CONTINUOUS: "euclidean",
}


def rows_of(kind: FeatureKind, count: int, rng: np.random.Generator) -> np.ndarray:
    if kind is FeatureKind.CONTINUOUS:
        return rng.normal(size=(count, 5)) * [1, 10, 100, 1, 1]
    return rng.integers(2 if kind is FeatureKind.BINARY else 5, size=(count, 5)).astype(float)


def share(*tables: np.ndarray, kind: FeatureKind) -> tuple[float, float | None]:
    found = Memorisation(*(matrix_of(torch.from_numpy(rows)) for rows in tables), kind, seed=Seed(0))
    return found.share, found.floor


@pytest.mark.parametrize("kind", DISTANCES)
def test_by_slow_loops(kind: FeatureKind) -> None:
    rng = np.random.default_rng(0)
    generated, train, held_out = (rows_of(kind, count, rng) for count in (80, 30, 30))
    unit = train.std(0) if kind is FeatureKind.CONTINUOUS else 1.0
    near, far = (cdist(generated / unit, rows / unit, DISTANCES[kind]).min(1) for rows in (train, held_out))
    expected = np.where(np.isclose(near, far), 0.5, near < far).mean()
    assert share(generated, train, held_out, kind=kind) == (pytest.approx(expected), None)
    if kind is not FeatureKind.CONTINUOUS:  # otherwise the unit changes
        assert share(generated, held_out, train, kind=kind)[0] == pytest.approx(1 - expected)


@pytest.mark.parametrize("times", [2, 4])
def test_copies_of_training_rows(times: int) -> None:
    rng = np.random.default_rng(1)
    train, held_out = (rows_of(FeatureKind.CONTINUOUS, count, rng) for count in (times * 500, 500))
    value, floor = share(train, train, held_out, kind=FeatureKind.CONTINUOUS)
    # a copy is found in one part of the training rows; in the others it is like any real row
    assert floor == pytest.approx(0.5, abs=0.05)
    assert value == pytest.approx(1 / times + floor * (1 - 1 / times))


def test_more_held_out_than_training_rows() -> None:
    rng = np.random.default_rng(2)
    train, held_out = (rows_of(FeatureKind.COUNT, count, rng) for count in (300, 900))
    further = rows_of(FeatureKind.COUNT, 500, rng)
    value, floor = share(further, train, held_out, kind=FeatureKind.COUNT)
    assert value == pytest.approx(0.5, abs=0.06)
    assert floor == pytest.approx(0.5, abs=0.06)
    copied, _ = share(train, train, held_out, kind=FeatureKind.COUNT)
    assert copied > value + 0.05


def test_rows_on_both_sides_are_ties() -> None:
    rows = rows_of(FeatureKind.CONTINUOUS, 50, np.random.default_rng(3)) * 1e3
    assert share(rows, rows, rows[::-1].copy(), kind=FeatureKind.CONTINUOUS)[0] == 0.5
