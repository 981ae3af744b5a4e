"""Memorisation: whether generated rows are nearer to the rows that were learned from than to others."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from dignn.metrics.columns import Indicators, moments, product
from dignn.runtime.seeds import Seed
from dignn.schema import FeatureKind

# Rows whose distances are computed together: bounds memory.
BLOCK = 1024
# Rows whose nearest ones are sought at most: the share has an error below 0.01 then.
MOST_ROWS = 4000
# Distances that differ by less than this share of the rows' squared lengths are equal.
_TIE = 1e-9


def memorisation(
    generated: sparse.csr_matrix,
    train: sparse.csr_matrix,
    held_out: sparse.csr_matrix,
    kind: FeatureKind,
    *,
    seed: Seed,
) -> tuple[float, float | None]:
    """Share of generated rows that are nearer to a training row than to a held-out row; ties count one half.

    Both sides have as many rows: of the larger one, some are drawn. Rows that were not drawn are real ones that stand
    on neither side, and their own share is the floor; None if there are none left. Distances: L1 for binary columns and
    counts, the number of different columns for categorical ones, and Euclid in units of the training rows' standard
    deviations for continuous ones.

    Args:
        generated, train, held_out: rows (n, d) each; all have the same width.
    """
    number = min(train.shape[0], held_out.shape[0])
    rng = seed.numpy()
    learned, rest = _divide(train, number, rng)
    others, more = _divide(held_out, number, rng)
    rest = _divide(rest if train.shape[0] > number else more, MOST_ROWS, rng)[0]
    generated = _divide(generated, MOST_ROWS, rng)[0]
    generated, learned, others, rest = _squared(kind, train, [generated, learned, others, rest])
    floor = _share_nearer(rest, learned, others) if rest.shape[0] else None
    return _share_nearer(generated, learned, others), floor


def _divide(
    table: sparse.csr_matrix, number: int, rng: np.random.Generator
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    order = rng.permutation(table.shape[0])
    return table[np.sort(order[:number])], table[np.sort(order[number:])]


def _squared(kind: FeatureKind, train: sparse.csr_matrix, tables: list[sparse.csr_matrix]) -> list[sparse.csr_matrix]:
    """The tables so that squared Euclid between them is (a monotone function of) the distance that is wanted."""
    if kind is FeatureKind.CONTINUOUS:
        deviation = moments(train)[1]
        scale = sparse.diags(1.0 / np.where(deviation > 0, deviation, 1.0))
        return [(table @ scale).tocsr() for table in tables]
    if kind is FeatureKind.CATEGORICAL:
        code = Indicators(tables, [], zero=True)
        return [code(table) for table in tables]
    return _thermometers(tables)


def _thermometers(tables: list[sparse.csr_matrix]) -> list[sparse.csr_matrix]:
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


def _share_nearer(rows: sparse.csr_matrix, learned: sparse.csr_matrix, others: sparse.csr_matrix) -> float:
    total = 0.0
    for start in range(0, rows.shape[0], BLOCK):
        block = rows[start : start + BLOCK]
        length = _lengths(block)
        near, far = (_nearest(block, table) for table in (learned, others))
        tie = np.abs(near - far) <= _TIE * (1 + length + np.abs(near))
        total += float(np.where(tie, 0.5, near < far).sum())
    return total / rows.shape[0]


def _nearest(rows: sparse.csr_matrix, table: sparse.csr_matrix) -> np.ndarray:
    """Squared distance of each row to the nearest of the table, less the row's own squared length.  (n,)"""
    return (_lengths(table) - 2 * product(rows, table.T.tocsr())).min(1)


def _lengths(table: sparse.csr_matrix) -> np.ndarray:
    return np.asarray(table.multiply(table).sum(1)).ravel()
