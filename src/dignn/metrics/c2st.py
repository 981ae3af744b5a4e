"""Classifier two-sample test: how well a strong classifier tells generated rows from real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from dignn.core.one_thread import one_thread
from dignn.metrics.counting import some

if TYPE_CHECKING:  # it loads torch, which processes that run this test alone do without
    from dignn.core.seeds import Seed

# Rows of each side at most, and at least: with fewer there is nothing to learn from.
MOST_PER_SIDE, LEAST_PER_SIDE = 2000, 10
FOLDS = 5
TREES = 40
# Copies of a row that are a larger share of all rows than this are something to learn; fewer are chance.
FREQUENT_ROW = 0.01
# Tables with more columns than this are shown to trees by their most frequent columns and main directions.
MANY_COLUMNS = 400
FREQUENT_COLUMNS, DIRECTIONS, DIRECTIONS_OF_FEW = 50, 50, 20
# How many of the main directions a row's length is measured in.
LENGTHS = (5, 10, 20, 50)


def c2st(generated: sparse.csr_matrix, real: sparse.csr_matrix, *, seed: Seed) -> float | None:
    """Area under the ROC curve on rows that were not learned from, mean of 5 stratified folds; 0.5 is ideal.

    Equal numbers of both are compared, at most 2,000. Gradient-boosted trees see the columns and, of each row, the
    number of non-zeros, the sum, the largest value, the scores in the 20 main directions and the row's length in those
    (rows of words that go together are long). Tables of more than 400 columns are too wide for them: there they see the
    50 most frequent columns and 50 directions, a logistic regression sees all columns, and the larger of the two areas
    is reported. Values below 0.5 are chance and reported as they are.

    Copies of a row fall into one fold, so that rows drawn with replacement are not told by their twins; a row that is
    more than 1 % of all is spread over the folds, so that a generator of a few rows only is found out.

    Args:
        generated, real: rows (n, d) and (m, d).
        seed: of what is drawn.

    Returns:
        None if there are fewer than 10 rows of a side.
    """
    return area(generated, real, seed.value)


def area(generated: sparse.csr_matrix, real: sparse.csr_matrix, seed: int) -> float | None:
    """:func:`c2st` by the value of its seed."""
    number = min(generated.shape[0], real.shape[0], MOST_PER_SIDE)
    if number < LEAST_PER_SIDE:
        return None
    rng = np.random.default_rng(seed)
    rows = sparse.vstack([table[some(table.shape[0], number, rng)] for table in (generated, real)]).tocsr()
    label = np.repeat([1, 0], number)
    copies = _Copies(rows, rng)
    fold = _folds(copies, label, rng)
    state = int(rng.integers(2**31))
    with one_thread():
        areas = [_trees_area(_seen_by_trees(rows, copies, state), label, fold, state)]
        if rows.shape[1] > MANY_COLUMNS:
            areas.append(_regression_area(rows, label, fold))
    return max(areas)


class _Copies:
    """Which rows are the same.

    Attributes:
        first: (n,) the first row that each row is a copy of, itself included.
        count: (n,) how many copies there are.
    """

    def __init__(self, rows: sparse.csr_matrix, rng: np.random.Generator) -> None:
        # Rows are the same if their products with a random direction are.
        _, first, copy, count = np.unique(
            rows @ rng.normal(size=rows.shape[1]), return_index=True, return_inverse=True, return_counts=True
        )
        self.first, self.count = first[copy], count[copy]


def _folds(copies: _Copies, label: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A fold for each row, the same for copies unless they are many, both sides spread evenly.  (n,)"""
    unit = np.where(copies.count > FREQUENT_ROW * len(label), np.arange(len(label)), copies.first)
    fold = np.empty(len(label), dtype=np.int64)
    for side in (0, 1):
        units = rng.permutation(np.unique(unit[label[unit] == side]))
        fold[units] = np.arange(len(units)) % FOLDS
    return fold[unit]


def _seen_by_trees(rows: sparse.csr_matrix, copies: _Copies, state: int) -> np.ndarray:
    """Columns, row statistics, and scores and lengths in the main directions.  (n, features)"""
    from sklearn.utils.extmath import randomized_svd

    seen = [np.diff(rows.indptr)[:, None], np.asarray(rows.sum(1)), rows.max(1).toarray()]
    wide = rows.shape[1] > MANY_COLUMNS
    frequent = np.argsort(-np.bincount(rows.indices, minlength=rows.shape[1]), kind="stable")
    seen.append(rows[:, frequent[:FREQUENT_COLUMNS] if wide else slice(None)].toarray())
    # Directions of distinct rows, or they would turn towards rows that have copies.
    distinct = rows[np.unique(copies.first)]
    number = min(DIRECTIONS if wide else DIRECTIONS_OF_FEW, *distinct.shape)
    if rows.nnz and number > 1:
        scores = rows @ randomized_svd(distinct, number, random_state=state)[2].T
        lengths = [(scores[:, :directions] ** 2).sum(1, keepdims=True) for directions in LENGTHS]
        seen += [scores, *lengths]
    return np.hstack(seen)


def _trees_area(seen: np.ndarray, label: np.ndarray, fold: np.ndarray, state: int) -> float:
    """Of boosted trees."""
    from sklearn.metrics import roc_auc_score

    from dignn.metrics.boosted_trees import boosted_trees, splittable

    trees = boosted_trees(len(label), TREES, state)
    areas = []
    for number in range(FOLDS):
        test = fold == number
        learned = seen[~test]
        columns = splittable(learned, trees.min_samples_leaf)
        trees.fit(learned[:, columns], label[~test])
        areas.append(roc_auc_score(label[test], trees.decision_function(seen[test][:, columns])))
    return float(np.mean(areas))


def _regression_area(rows: sparse.csr_matrix, label: np.ndarray, fold: np.ndarray) -> float:
    """Of a logistic regression."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    regression = LogisticRegression(C=0.1, max_iter=300)
    rows = rows / (np.sqrt((rows.data**2).mean()) if rows.nnz else 1.0)  # so that units do not matter
    areas = []
    for number in range(FOLDS):
        test = fold == number
        regression.fit(rows[~test], label[~test])
        areas.append(roc_auc_score(label[test], regression.decision_function(rows[test])))
    return float(np.mean(areas))
