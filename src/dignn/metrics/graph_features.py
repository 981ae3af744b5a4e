"""Feature metrics of whole graphs: rows of generated graphs against rows that nobody learned from, type by type.

A real node stands in several subgraphs, and every time counts, as it does for the model that is explained. Subgraphs
are not all learned or all held out: only the node that a held-out subgraph starts from is sure to be held out, and most
nodes around it were learned. So rows are told apart one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
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
MOST_ROWS = 1000
# Learned rows among which the nearest are sought at most.
MOST_KNOWN = 4 * MOST_ROWS
# With fewer rows that were not learned, nothing can be said about them.
LEAST_HELD_OUT = 20

# By node type, (rows of its table,) whether generators learned from the row.
Learned = Mapping[str, Tensor]


def learned_rows(data: Adjacency, learned: np.ndarray) -> dict[str, Tensor]:
    """Which rows of each feature table were learned from, given which nodes were.

    Args:
        data: all real nodes.
        learned: (n,) which of them generators learned from.
    """
    masks = {}
    for name, table in data.tables.items():
        nodes = np.flatnonzero(learned & (data.node_type == data.schema.type_index(name)))
        masks[name] = torch.zeros(len(table), dtype=torch.bool)
        masks[name][torch.from_numpy(data.row[nodes])] = True
    return masks


def graph_features(
    candidates: GraphBatch, train: GraphBatch, held_out: GraphBatch, learned: Learned, *, most: int = MOST_ROWS
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
    """
    pieces = feature_pieces(candidates, train, held_out, learned, most=most)
    return summary({name: measure_piece(piece) for name, piece in pieces.items()})


@dataclass(frozen=True, eq=False)
class Piece:
    """The rows of one node type that are compared.

    Args:
        kind: what the columns hold.
        generated: rows of generated graphs.
        train: learned rows of training graphs; None if no floor is wanted.
        held_out: rows that were not learned.
        old, new: learned rows and others among which the nearest are sought; None where there are too few.
    """

    kind: FeatureKind
    generated: Tensor
    train: Tensor | None
    held_out: Tensor
    old: Tensor | None
    new: Tensor | None


def feature_pieces(
    candidates: GraphBatch,
    train: GraphBatch,
    held_out: GraphBatch,
    learned: Learned,
    *,
    most: int = MOST_ROWS,
    floor: bool = True,
) -> dict[str, Piece]:
    """What :func:`graph_features` measures, by node type, as pieces that can be measured anywhere."""
    pieces = {}
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
        near = _nearest_among(train, held_out, known, name, most)
        pieces[name] = Piece(spec.kind, generated, old if floor else None, real, *near)
    return pieces


def measure_piece(piece: Piece) -> tuple[Values, Values | None]:
    """Values of a node type and, if it is wanted, their floor."""
    found = feature_realism(piece.generated, piece.train, piece.held_out, piece.kind)
    near: tuple[float | None, float | None] = (None, None)
    if piece.old is not None and piece.new is not None:
        generated, old, new = (matrix_of(table) for table in (piece.generated, piece.old, piece.new))
        near = memorisation(generated, old, new, piece.kind, seed=Seed(0).child("memorisation"))
    floor = None if found.floor is None else _with(found.floor, near[1])
    return _with(found.value, near[0]), floor


def _with(values: Values, share: float | None) -> Values:
    return {**{name: values[name] for name in GRAPH_FEATURE_METRICS}, "memorisation": share}


def _numbers(batch: GraphBatch, name: str) -> np.ndarray:
    """Rows of the type's table, one for each node; none where features are not filled in.  (n,)"""
    if name not in batch.tables:
        return np.zeros(0, dtype=np.int64)
    return batch.row[batch.node_type == batch.schema.type_index(name)].numpy()


def _nearest_among(
    train: GraphBatch, held_out: GraphBatch, known: np.ndarray, name: str, most: int
) -> tuple[Tensor | None, Tensor | None]:
    """Learned rows and rows that were not, of all nodes in real graphs, each node once; None where there are too few.

    Of both sets of graphs: but for the nodes that they start from, which nodes stand in a graph has nothing to do with
    which ones were learned, so that a new row is as likely to be near the one as the other. Nodes with equal rows are
    all kept for the same reason: equal rows on both sides are a tie.

    Args:
        known: (rows of the table,) which were learned.
    """
    if train.schema.spec(name).kind is FeatureKind.IDENTITY:
        return None, None
    there = np.union1d(_numbers(train, name), _numbers(held_out, name))
    old, new = there[known[there]], there[~known[there]]
    if len(new) < LEAST_HELD_OUT or not len(old):
        return None, None
    table = train.tables[name]
    return table[old[spread(len(old), MOST_KNOWN)]], table[new[spread(len(new), most)]]


def summary(by_type: Mapping[str, tuple[Values, Values | None]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values by node type and their floors, each with the mean over the types."""
    values = {name: pair[0] for name, pair in by_type.items()}
    floors = {name: pair[1] for name, pair in by_type.items() if pair[1] is not None}
    return _mean(values), _mean(floors)


def _mean(by_type: dict[str, Values]) -> dict[str, Any]:
    means: dict[str, Any] = {}
    for metric in GRAPH_FEATURE_METRICS:
        known = [values[metric] for values in by_type.values()]
        numbers = [value for value in known if value is not None]
        means[metric] = sum(numbers) / len(numbers) if numbers else None
    return {**means, "by_type": by_type or None}
