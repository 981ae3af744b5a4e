"""The two-sample classifier finds what is wrong, and nothing where nothing is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from dignn.core.seeds import Seed
from dignn.metrics.c2st import FOLDS, MANY_COLUMNS, _Copies, _folds, c2st


def topics(count: int, width: int, seed: int) -> np.ndarray:
    """Rows of about eight words, all of one of ten topics."""
    rng = np.random.default_rng(seed)
    own = rng.integers(10, size=(count, 1)) == np.arange(width) % 10
    return (rng.random((count, width)) < own * 80 / width).astype(float)


def area(one: np.ndarray, other: np.ndarray) -> float:
    found = c2st(sparse.csr_matrix(one), sparse.csr_matrix(other), seed=Seed(0))
    assert found is not None
    return found


@pytest.mark.parametrize("width", [200, MANY_COLUMNS + 200])
def test_real_rows_and_a_bootstrap_are_not_told(width: int) -> None:
    train, held_out = topics(400, width, 12), topics(400, width, 22)
    drawn = train[np.random.default_rng(2).integers(400, size=400)]
    assert area(train, held_out) == pytest.approx(0.5, abs=0.07)
    assert area(drawn, held_out) == pytest.approx(0.5, abs=0.07)


@pytest.mark.parametrize("width", [200, MANY_COLUMNS + 200])
def test_independent_columns_are_told(width: int) -> None:
    train, held_out = topics(400, width, 0), topics(400, width, 1)
    rng = np.random.default_rng(2)
    assert area(rng.permuted(train, axis=0), held_out) > 0.9


def test_the_regression_sees_rare_columns() -> None:
    """Words that trees are not shown: all of them rare, and used by generated rows alone."""
    rng = np.random.default_rng(0)
    one, other = ((rng.random((400, 2000)) < 0.01).astype(float) for _ in range(2))
    one[:, 1000:], other[:, :1000] = 0, 0
    one[:, :60] = other[:, :60] = rng.random((400, 60)) < 0.3
    assert area(one, other) > 0.95


def test_copies_of_few_rows_are_told() -> None:
    real = topics(600, 100, 0)
    assert area(real[np.arange(300) % 15], real[300:]) > 0.9


def test_units_do_not_matter_to_wide_tables() -> None:
    rng = np.random.default_rng(0)
    one, other = (rng.random((60, MANY_COLUMNS + 1)) * (rng.random((60, MANY_COLUMNS + 1)) < 0.1) for _ in range(2))
    assert area(one * 1024, other * 1024) == pytest.approx(area(one, other), abs=1e-6)


def test_too_few_rows() -> None:
    rows = sparse.csr_matrix(np.eye(9))
    assert c2st(rows, rows, seed=Seed(0)) is None


def test_copies_share_a_fold_unless_they_are_many() -> None:
    rows = np.random.default_rng(0).random((1000, 3)).round(6)
    rows[10:13] = rows[7]  # four copies on one side, one on the other
    rows[900] = rows[7]
    rows[100:150] = 0.5
    label = np.repeat([1, 0], 500)
    rng = np.random.default_rng(1)
    fold = _folds(_Copies(sparse.csr_matrix(rows), rng), label, rng)
    assert len(set(fold[[7, 10, 11, 12, 900]])) == 1
    assert set(fold[100:150]) == set(range(FOLDS))
    for side in (0, 1):
        assert np.bincount(fold[label == side], minlength=FOLDS) == pytest.approx(100, abs=5)
