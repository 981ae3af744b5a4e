"""Memorisation: whether generated rows are nearer to the rows that were learned from than to others."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from dignn.core.seeds import Seed
from dignn.graphs.feature_spec import FeatureKind
from dignn.metrics.column_errors import Indicators, Matrix, moments, product
from dignn.metrics.counting import some

# Rows whose distances are computed together: bounds memory.
DISTANCE_ROWS = 1024
# Rows whose nearest ones are sought at most: the share has an error below 0.01 then.
MOST_SOUGHT = 4000
# Parts of the larger side at most.
SIDE_PARTS = 5
# Distances that differ by less than this share of the rows' squared lengths are equal.
_TIE = 1e-9


class Memorisation:
    """Share of generated rows that are nearer to a training row than to a held-out row; ties count one half.

    Both sides have as many rows: the larger one is cut into as many such parts as it has, at most 5, and the share is
    the mean over them.

    Distances: L1 for binary columns and counts, the number of different columns for categorical ones, and Euclid in
    units of the training rows' standard deviations for continuous ones. Mixed rows come as numbers of one scale
    (:class:`dignn.metrics.mixed_rows.Encoding`), which Euclid measures.

    Args:
        generated, train, held_out: rows (n, d) each; all have the same width.
        kind: what the columns hold.
        seed: of the parts, and of the rows that are looked at.
    """

    def __init__(self, generated: Matrix, train: Matrix, held_out: Matrix, kind: FeatureKind, *, seed: Seed) -> None:
        rng = seed.numpy()
        generated, train, held_out = _squared(kind, train, [generated, train, held_out])
        self._of_train = train.shape[0] > held_out.shape[0]
        self._larger, self._smaller = (train, held_out) if self._of_train else (held_out, train)
        count, size = self._larger.shape[0], self._smaller.shape[0]
        order, starts = rng.permutation(count), range(0, min(count - size, (SIDE_PARTS - 1) * size) + 1, size)
        self._parts = [order[start : start + size] for start in starts]
        self._generated = generated[some(generated.shape[0], MOST_SOUGHT, rng)]
        self._own = some(count, MOST_SOUGHT, rng)

    @cached_property
    def share(self) -> float:
        """Of generated rows."""
        return self._of_training(float(self._nearer(self._generated).mean()))

    @cached_property
    def floor(self) -> float | None:
        """Of real rows that stand on neither side: those of the larger table, each with the parts that it is not in.

        It tells how far chance goes: a single short row that is near to all others (a hub) can move both by 0.05. None
        if there is one part only.
        """
        elsewhere = np.stack([~np.isin(self._own, part) for part in self._parts], axis=1)
        if not elsewhere.any():
            return None
        return self._of_training(float(self._nearer(self._larger[self._own])[elsewhere].mean()))

    def _of_training(self, nearer: float) -> float:
        """The share that is nearer to training rows, of the share that is nearer to the larger table."""
        return nearer if self._of_train else 1 - nearer

    def _nearer(self, rows: Matrix) -> np.ndarray:
        """Whether each row is nearer to one of each part than to one of the smaller table: 1, 0, or 1/2.  (n, parts)"""
        found = []
        tables = [self._larger[part] for part in self._parts]
        for start in range(0, rows.shape[0], DISTANCE_ROWS):
            block = rows[start : start + DISTANCE_ROWS]
            far = _nearest(block, self._smaller)[:, None]
            near = np.stack([_nearest(block, table) for table in tables], axis=1)
            tie = np.abs(near - far) <= _TIE * (1 + _lengths(block)[:, None] + np.abs(near))
            found.append(np.where(tie, 0.5, near < far))
        return np.concatenate(found)


def _squared(kind: FeatureKind, train: Matrix, tables: list[Matrix]) -> list[Matrix]:
    """The tables so that squared Euclid between them is (a monotone function of) the distance that is wanted."""
    if kind is FeatureKind.MIXED:
        return tables
    if kind is FeatureKind.CONTINUOUS:
        deviation = moments(train)[1]
        scale = sparse.diags(1.0 / np.where(deviation > 0, deviation, 1.0))
        return [(table @ scale).tocsr() for table in tables]
    if kind is FeatureKind.CATEGORICAL:
        code = Indicators(tables, [], zero=True)
        return [code(table) for table in tables]
    return _thermometers(tables)


def _thermometers(tables: list[Matrix]) -> list[Matrix]:
    """Counts as columns of 0 and 1, x >= 1, x >= 2, ..., of which |a - b| differ between a and b."""
    width = tables[0].shape[1]
    levels = int(max(table.data.max(initial=1) for table in tables))
    coded = []
    for table in tables:
        count = table.data.astype(np.int64)
        level = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        ends = np.concatenate([[0], np.cumsum(count)])[table.indptr]
        columns = np.repeat(table.indices.astype(np.int64), count) + level * width
        shape = (table.shape[0], width * levels)
        coded.append(sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape=shape))
    return coded


def _nearest(rows: Matrix, table: Matrix) -> np.ndarray:
    """Squared distance of each row to the nearest of the table, less the row's own squared length.  (n,)"""
    return (_lengths(table) - 2 * product(rows, table.T.tocsr())).min(1)


def _lengths(table: Matrix) -> np.ndarray:
    return np.asarray(table.multiply(table).sum(1)).ravel()
