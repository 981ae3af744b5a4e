"""The rows of a node type that a generator learns from, each with the class around its node."""

from __future__ import annotations

import numpy as np
import torch

from dignn.core.seeds import Seed
from dignn.features.base import LEAST_ROWS
from dignn.features.conditions import DataConditions, condition_batch
from dignn.features.surroundings import Occasions
from dignn.features.table import Table
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch, spread
from dignn.graphs.feature_spec import FeatureSpec

# What a node counts for being in the data, beside its occurrences in subgraphs.
ONCE_IN_DATA = 0.5
# Rows of a type that are looked at, at most, numbers in them, and in the classes around them: bounds memory and time,
# however large the data is and however many columns and classes it has.
LEARNED_ROWS, MOST_CELLS, MOST_CONDITIONS = 20_000, 2**26, 2**24


def training_rows(
    data: Adjacency,
    learned: np.ndarray,
    graphs: GraphBatch | None,
    around: DataConditions,
    name: str,
    occasions: Occasions | None = None,
    seed: Seed | None = None,
) -> Table | None:
    """What there is to learn from for a type; None without any row.

    Of many rows those that stand in subgraphs, and some of the others.

    Args:
        data: the data.
        learned: (n,) which nodes may be learned from.
        graphs: subgraphs, in which rows count as often as they stand there; see :meth:`FeatureBank.fit`.
        around: conditions of nodes in the data.
        name: the node type.
        occasions: what is known of rows in the subgraphs, which they go by.
        seed: of the occasions that are chosen.
    """
    schema = data.schema
    spec: FeatureSpec = schema.spec(name)
    own = data.nodes_of(name)
    stand = np.empty(0, dtype=np.int64)
    if graphs is not None:
        here = graphs.node_type == schema.type_index(name)
        stand = own[graphs.row[here].numpy()]
    nodes = some_nodes(data, name, learned, stand)
    if not len(nodes):
        return None
    row = torch.from_numpy(data.row[nodes])
    condition, weight, context = around.of(nodes), torch.ones(len(row)), None
    if graphs is not None:
        seen = condition_batch(graphs)[here]
        if occasions is not None and seed is not None:
            context = occasions.of(name, row, seed)
        place = torch.full((len(own),), len(row))  # where a row of the data stands among these
        place[row] = torch.arange(len(row))
        stands = place[graphs.row[here]]
        known = stands < len(row)
        times = torch.bincount(stands[known], minlength=len(row))
        total = torch.zeros_like(condition).index_add_(0, stands[known], seen[known])
        weight = times + ONCE_IN_DATA
        condition = (total + ONCE_IN_DATA * condition) / weight[:, None]
    # A class that few nodes have far away is no class: what is far says little, and that little takes rows to learn.
    far = torch.arange(condition.size(1)) >= schema.num_classes
    condition[:, far & (condition.sum(0) < LEAST_ROWS)] = 0.0
    return Table.of(data.tables[name][row], condition, spec, weight, context=context)


def some_nodes(
    data: Adjacency, name: str, among: np.ndarray | None = None, first: np.ndarray | None = None
) -> np.ndarray:
    """The nodes of a type, ascending: all of them, or, where there are many, those that come first and some others.

    Args:
        data: the data.
        name: the type.
        among: (n,) which nodes may be taken; by default all.
        first: nodes that come first.
    """
    own = data.nodes_of(name)
    nodes = np.sort(own if among is None else own[among[own]])
    most = min(
        LEARNED_ROWS,
        MOST_CONDITIONS // (2 * max(1, data.schema.num_classes)),
        MOST_CELLS // data.schema.spec(name).width,
    )
    if len(nodes) <= most:
        return nodes
    comes_first = np.zeros(len(data.node_type), dtype=bool)
    comes_first[own[:0] if first is None else first] = True
    before, others = nodes[comes_first[nodes]], nodes[~comes_first[nodes]]
    before = before[spread(len(before), most)]
    return np.sort(np.concatenate([before, others[spread(len(others), most - len(before))]]))
