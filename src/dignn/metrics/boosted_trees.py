"""Gradient-boosted trees of scikit-learn, learned in less time: the same trees, to the last bit.

Loads scikit-learn, which takes a second, so this is imported where trees are wanted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

# Values of a column that trees tell apart: with few rows, finding more takes as long as the trees.
TREE_BINS, FEW_ROWS, BINS_OF_FEW = 255, 2000, 64


class BoostedTrees(HistGradientBoostingClassifier):
    """Trees whose columns are cut into bins all at once.

    scikit-learn looks at one column after another, which takes a third of the time where rows are few. Should another
    version of it not ask :meth:`_bin_data`, the trees are the same, and that third is back.
    """

    def _bin_data(self, X: np.ndarray, *rest: Any, **named: Any) -> np.ndarray:  # noqa: N803 (its name there)
        if np.isnan(X).any():
            found: np.ndarray = super()._bin_data(X, *rest, **named)
            return found
        mapper, width = self._bin_mapper, X.shape[1]
        mapper.bin_thresholds_ = thresholds(np.sort(X, axis=0), self.max_bins)
        mapper.n_bins_non_missing_ = np.array([len(cuts) + 1 for cuts in mapper.bin_thresholds_], dtype=np.uint32)
        mapper.is_categorical_ = np.zeros(width, dtype=np.uint8)
        mapper.missing_values_bin_idx_ = mapper.n_bins - 1
        binned: np.ndarray = mapper.transform(X)
        return binned


def thresholds(ordered: np.ndarray, most: int) -> list[np.ndarray]:
    """Per column the values that separate its bins: between all neighbouring values, or, of more, at quantiles.

    Args:
        ordered: (n, d) every column ascending.
        most: bins of a column at most.
    """
    changes = ordered[1:] != ordered[:-1]
    many = changes.sum(0) >= most
    column, row = (changes & ~many).T.nonzero()
    between = (ordered[row, column] + ordered[row + 1, column]) / 2
    found = np.split(between, np.cumsum(np.bincount(column, minlength=len(many)))[:-1])
    shares = np.linspace(0, 100, most + 1)[1:-1]
    quantiles = np.percentile(ordered[:, many], shares, axis=0, method="averaged_inverted_cdf")
    for number, cuts in zip(np.flatnonzero(many).tolist(), quantiles.T, strict=True):
        found[number] = cuts[np.r_[True, cuts[1:] > cuts[:-1]]]  # frequent values are several quantiles
    return found


def boosted_trees(rows: int, trees: int, state: int) -> BoostedTrees:
    """As many trees as C2ST grows, not yet learned, for tables of so many rows."""
    return BoostedTrees(
        max_iter=trees,
        learning_rate=0.15,
        max_leaf_nodes=15,
        min_samples_leaf=max(2, min(20, rows // 20)),
        early_stopping=False,
        max_bins=TREE_BINS if rows > FEW_ROWS else BINS_OF_FEW,
        random_state=state,
    )


def splittable(rows: np.ndarray, leaf: int) -> np.ndarray:
    """Columns on both sides of some value of which there are as many rows as a leaf has: others no tree looks at.  (d,)

    The first always is, because trees add up its bins to know the whole.
    """
    if len(rows) < 2 * leaf:
        return np.ones(rows.shape[1], dtype=bool)
    ordered = np.sort(rows, axis=0)
    found: np.ndarray = ordered[leaf - 1] < ordered[-leaf]
    found[:1] = True
    return found
