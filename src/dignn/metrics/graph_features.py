"""Feature metrics of whole graphs: rows of generated graphs against those of held-out ones, type by type.

A real node stands in several subgraphs, and every time counts, as it does for the model that is explained.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from dignn.batch import GraphBatch
from dignn.metrics.columns import matrix_of
from dignn.metrics.features import Values, feature_realism
from dignn.metrics.nearest import memorisation
from dignn.metrics.structure import spread
from dignn.runtime.seeds import Seed
from dignn.schema import FeatureKind

GRAPH_FEATURE_METRICS = ("column_error", "pair_error", "row_density", "c2st", "memorisation")
# Rows of a type that are compared at most.
MOST_ROWS = 1000
# Distinct training rows among which the nearest are sought at most, and held-out ones at least.
MOST_KNOWN, LEAST_HELD_OUT = 4 * MOST_ROWS, 20


def graph_features(
    candidates: GraphBatch, train: GraphBatch, held_out: GraphBatch, *, most: int = MOST_ROWS
) -> tuple[dict[str, Any], dict[str, Any]]:
    """``sound.features`` of ``metrics.json`` and its floor: mean over node types, and each under ``by_type``.

    Types count that have generated features and nodes in all three sets; identity types in the column error only.
    Subgraphs to learn from and held-out ones share some nodes at their borders: memorisation leaves rows that occur in
    both out of both, and looks at distinct rows. It is None if fewer than 20 held-out rows are left.

    Args:
        candidates: generated graphs with features.
        train: real graphs that the generators learned from.
        held_out: real graphs that they never saw.
        most: rows of each type and set that are compared at most, evenly spread.
    """
    values: dict[str, Values] = {}
    floors: dict[str, Values] = {}
    for name in candidates.schema.node_types:
        spec = candidates.schema.spec(name)
        numbers = [_numbers(batch, name) for batch in (candidates, train, held_out)]
        if not spec.generated or not all(len(rows) for rows in numbers):
            continue
        generated, learned, real = (
            batch.tables[name][rows[spread(len(rows), most)]]
            for batch, rows in zip((candidates, train, held_out), numbers, strict=True)
        )
        found = feature_realism(generated, learned, real, spec.kind)
        assert found.floor is not None  # there are training rows
        near = _memorisation(matrix_of(generated), train, held_out, name, most)
        for by_type, measured, share in zip((values, floors), (found.value, found.floor), near, strict=True):
            by_type[name] = {metric: measured[metric] for metric in GRAPH_FEATURE_METRICS}
            by_type[name]["memorisation"] = share
    return _summary(values), _summary(floors)


def _numbers(batch: GraphBatch, name: str) -> np.ndarray:
    """Rows of the type's table, one for each node; none where features are not filled in.  (n,)"""
    if name not in batch.tables:
        return np.zeros(0, dtype=np.int64)
    return batch.row[batch.node_type == batch.schema.type_index(name)].numpy()


def _memorisation(
    generated: sparse.csr_matrix, train: GraphBatch, held_out: GraphBatch, name: str, most: int
) -> tuple[float | None, float | None]:
    """Against distinct rows that occur in one of the two sets only."""
    kind = train.schema.spec(name).kind
    if kind is FeatureKind.IDENTITY:
        return None, None
    known, real = (matrix_of(batch.tables[name], np.unique(_numbers(batch, name))) for batch in (train, held_out))
    # Rows are the same if their products with a random direction are.
    direction = Seed(0).child("memorisation", name).numpy().normal(size=known.shape[1])
    names = [rows @ direction for rows in (known, real)]
    both = np.intersect1d(*names)
    known, real = (
        _distinct(rows, code, both, limit)
        for rows, code, limit in zip((known, real), names, (MOST_KNOWN, most), strict=True)
    )
    if real.shape[0] < LEAST_HELD_OUT or not known.shape[0]:
        return None, None
    return memorisation(generated, known, real, kind, seed=Seed(0).child("memorisation"))


def _distinct(rows: sparse.csr_matrix, names: np.ndarray, both: np.ndarray, most: int) -> sparse.csr_matrix:
    """Rows of different names that are not among ``both``."""
    kept = np.sort(np.unique(names, return_index=True)[1])
    kept = kept[~np.isin(names[kept], both)]
    return rows[kept[spread(len(kept), most)]]


def _summary(by_type: dict[str, Values]) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for metric in GRAPH_FEATURE_METRICS:
        known = [values[metric] for values in by_type.values()]
        numbers = [value for value in known if value is not None]
        summary[metric] = sum(numbers) / len(numbers) if numbers else None
    return {**summary, "by_type": by_type or None}
