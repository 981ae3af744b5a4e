"""Feature metrics of whole graphs: rows of generated graphs against rows that nobody learned from, type by type.

A real node stands in several subgraphs, and every time counts, as it does for the model that is explained. Subgraphs
are not all learned or all held out: only the node that a held-out subgraph starts from is sure to be held out, and most
nodes around it were learned. So rows are told apart one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dignn.batch import GraphBatch, spread
from dignn.metrics.columns import matrix_of
from dignn.metrics.features import Values, feature_realism
from dignn.metrics.nearest import memorisation
from dignn.runtime.seeds import Seed
from dignn.sampling import Adjacency
from dignn.schema import FeatureKind

GRAPH_FEATURE_METRICS = ("column_error", "pair_error", "row_density", "c2st", "memorisation")
# Rows of a type that are compared at most.
MOST_ROWS = 800
# Learned rows among which the nearest are sought at most.
MOST_KNOWN = 4 * MOST_ROWS
# With fewer rows that were not learned, nothing can be said about them.
LEAST_HELD_OUT = 20

# By node type, (rows of its table,) whether generators learned from the row.
Learned = Mapping[str, Tensor]


def learned_rows(data: Adjacency, learned: np.ndarray) -> dict[str, Tensor]:
    """By node type, which rows (of its feature table, or just its nodes) were learned from, given which nodes were.

    Args:
        data: all real nodes.
        learned: (n,) which of them generators learned from.
    """
    masks = {}
    for code, name in enumerate(data.schema.node_types):
        own = data.node_type == code
        rows = len(data.tables[name]) if name in data.tables else int(data.row[own].max(initial=-1)) + 1
        masks[name] = torch.zeros(rows, dtype=torch.bool)
        masks[name][torch.from_numpy(data.row[learned & own])] = True
    return masks


def graph_features(
    candidates: GraphBatch,
    train: GraphBatch,
    held_out: GraphBatch,
    learned: Learned,
    *,
    most: int = MOST_ROWS,
    floor: bool = True,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """``sound.features`` of ``metrics.json`` and its floor: mean over node types, and each under ``by_type``.

    Generated rows are compared with rows of held-out graphs that were not learned, floors are of learned rows of
    training graphs. Where held-out graphs have fewer than 20 such rows, and for identity types, whose members are all
    learned, all rows of held-out graphs count. Memorisation is None where all real graphs have fewer than 20 different
    rows that were not learned.

    Types count that have generated features and rows in all three sets; identity types in the column error only.

    Args:
        candidates: generated graphs with features.
        train: real graphs that the generators learned from.
        held_out: real graphs that they did not learn from; rows are those of the same tables.
        learned: which rows they learned from.
        most: rows of each type and set that are compared at most, evenly spread.
        floor: whether the floor is measured; else it is empty.
    """
    values: dict[str, Values] = {}
    floors: dict[str, Values] = {}
    for name in candidates.schema.node_types:
        spec = candidates.schema.spec(name)
        made, of_train, of_held_out = (_numbers(batch, name) for batch in (candidates, train, held_out))
        if not spec.generated or not (len(made) and len(of_train) and len(of_held_out)):
            continue
        known = learned[name].numpy()
        of_train = of_train[known[of_train]]
        new = of_held_out[~known[of_held_out]]
        of_held_out = new if len(new) >= LEAST_HELD_OUT and spec.kind is not FeatureKind.IDENTITY else of_held_out
        if not len(of_train):
            continue
        generated, old, real = (
            batch.tables[name][rows[spread(len(rows), most)]]
            for batch, rows in zip((candidates, train, held_out), (made, of_train, of_held_out), strict=True)
        )
        found = feature_realism(generated, old if floor else None, real, spec.kind)
        near = _memorisation(matrix_of(generated), train, held_out, known, name, most)
        for by_type, measured, share in zip((values, floors), (found.value, found.floor), near, strict=True):
            if measured is not None:
                by_type[name] = {metric: measured[metric] for metric in GRAPH_FEATURE_METRICS}
                by_type[name]["memorisation"] = share
    return _summary(values), _summary(floors)


def _numbers(batch: GraphBatch, name: str) -> np.ndarray:
    """Rows of the type's table, one for each node; none where features are not filled in.  (n,)"""
    if name not in batch.tables:
        return np.zeros(0, dtype=np.int64)
    return batch.row[batch.node_type == batch.schema.type_index(name)].numpy()


def _memorisation(
    generated: sparse.csr_matrix, train: GraphBatch, held_out: GraphBatch, known: np.ndarray, name: str, most: int
) -> tuple[float | None, float | None]:
    """Learned rows against rows that were not, of all nodes in real graphs, each node once.

    Of both sets of graphs: but for the nodes that they start from, which nodes stand in a graph has nothing to do with
    which ones were learned, so that a new row is as likely to be near the one as the other. Nodes with equal rows are
    all kept for the same reason: equal rows on both sides are a tie.

    Args:
        known: (rows of the table,) which were learned.
    """
    kind = train.schema.spec(name).kind
    if kind is FeatureKind.IDENTITY:
        return None, None
    there = np.union1d(_numbers(train, name), _numbers(held_out, name))
    old, new = there[known[there]], there[~known[there]]
    if len(new) < LEAST_HELD_OUT or not len(old):
        return None, None
    table = train.tables[name]
    learned, others = (
        matrix_of(table, rows[spread(len(rows), limit)]) for rows, limit in ((old, MOST_KNOWN), (new, most))
    )
    return memorisation(generated, learned, others, kind, seed=Seed(0).child("memorisation"))


def _summary(by_type: dict[str, Values]) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for metric in GRAPH_FEATURE_METRICS:
        known = [values[metric] for values in by_type.values()]
        numbers = [value for value in known if value is not None]
        summary[metric] = sum(numbers) / len(numbers) if numbers else None
    return {**summary, "by_type": by_type or None}
