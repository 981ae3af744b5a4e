"""Trees that are learned in less time are scikit-learn's trees, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

from dignn.metrics.boosted_trees import BoostedTrees, boosted_trees, splittable, thresholds


def table(rows: int) -> np.ndarray:
    """Columns of all kinds: continuous, few values, flags, rare flags, a frequent value among others, a constant."""
    rng = np.random.default_rng(0)
    columns = [
        rng.normal(size=rows),
        rng.exponential(size=rows) * 1e6,
        rng.integers(5, size=rows),
        rng.random(rows) < 0.3,
        rng.random(rows) < 0.01,
        np.where(rng.random(rows) < 0.7, 0.0, rng.normal(size=rows)),
        np.full(rows, 3.0),
        rng.integers(90, size=rows),
    ]
    return np.stack(columns, axis=1).astype(float)


def labels(rows: np.ndarray) -> np.ndarray:
    noise = np.random.default_rng(1).normal(size=len(rows))
    return (rows[:, 0] + rows[:, 2] - 2 + noise > 0).astype(int)


@pytest.mark.parametrize("bins", [64, 255])
def test_columns_are_cut_where_scikit_learn_cuts_them(bins: int) -> None:
    rows = table(700)
    expected = _BinMapper(n_bins=bins + 1, n_threads=1).fit(rows).bin_thresholds_
    for one, other in zip(thresholds(np.sort(rows, axis=0), bins), expected, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("count", [60, 700, 2500])
def test_the_trees_are_the_same(count: int) -> None:
    rows = table(count)
    trees = boosted_trees(count, 10, 0)
    plain = HistGradientBoostingClassifier(**trees.get_params())
    asked, binned = table(2 * count)[count:], []
    given = BoostedTrees._bin_data
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BoostedTrees, "_bin_data", lambda *some, **named: binned.append(1) or given(*some, **named))
        found = trees.fit(rows, labels(rows)).decision_function(asked)
    assert binned  # it was asked: the version of scikit-learn knows the method
    assert np.array_equal(found, plain.fit(rows, labels(rows)).decision_function(asked))
    some = splittable(rows, trees.min_samples_leaf)
    assert np.array_equal(found, trees.fit(rows[:, some], labels(rows)).decision_function(asked[:, some]))


def test_missing_values_are_left_to_scikit_learn() -> None:
    rows = table(300)
    rows[::7, 0] = np.nan
    trees = boosted_trees(300, 5, 0)
    plain = HistGradientBoostingClassifier(**trees.get_params())
    labelled = (np.arange(300) % 3 == 0).astype(int)
    assert np.array_equal(
        trees.fit(rows, labelled).decision_function(rows), plain.fit(rows, labelled).decision_function(rows)
    )


def test_columns_without_a_leaf_on_both_sides_are_left_out() -> None:
    rows = np.zeros((100, 4))
    rows[:19, 1], rows[:20, 2], rows[:81, 3] = 1, 1, 1
    assert splittable(rows, 20).tolist() == [True, False, True, False]  # the first always stays
    assert splittable(rows[:30], 20).all()  # too few rows for any split
