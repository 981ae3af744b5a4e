"""The rows of a node type that a generator learns from, each with the class around its node."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.features.base import LEAST_ROWS
from dignn.features.conditions import condition_batch
from dignn.features.surroundings import Occasions
from dignn.features.table import Table
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureSpec

# What a node counts for being in the data, beside its occurrences in subgraphs.
ONCE_IN_DATA = 0.5


def training_rows(
    data: Adjacency,
    learned: np.ndarray,
    graphs: GraphBatch | None,
    around: Tensor,
    name: str,
    occasions: Occasions | None = None,
    seed: Seed | None = None,
) -> Table | None:
    """What there is to learn from for a type; None without any row.

    Args:
        data: the data.
        learned: (n,) which nodes may be learned from.
        graphs: subgraphs, in which rows count as often as they stand there; see :meth:`FeatureBank.fit`.
        around: (n, 2 C) condition of each node in the data.
        name: the node type.
        occasions: what is known of rows in the subgraphs, which they go by.
        seed: of the occasions that are chosen.
    """
    schema = data.schema
    spec: FeatureSpec = schema.spec(name)
    nodes = np.flatnonzero(learned & (data.node_type == schema.type_index(name)))
    if not len(nodes):
        return None
    row = torch.from_numpy(data.row[nodes])
    condition, weight, context = around[torch.from_numpy(nodes)], torch.ones(len(row)), None
    if graphs is not None:
        seen = condition_batch(graphs)
        if occasions is not None and seed is not None:
            context = occasions.of(name, row, seed)
        here = graphs.node_type == schema.type_index(name)
        size = len(data.tables[name])
        times = torch.bincount(graphs.row[here], minlength=size)[row]
        total = torch.zeros(size, condition.size(1)).index_add_(0, graphs.row[here], seen[here])[row]
        weight = times + ONCE_IN_DATA
        condition = (total + ONCE_IN_DATA * condition) / weight[:, None]
    # A class that few nodes have far away is no class: what is far says little, and that little takes rows to learn.
    far = torch.arange(condition.size(1)) >= schema.num_classes
    condition[:, far & (condition.sum(0) < LEAST_ROWS)] = 0.0
    return Table.of(data.tables[name][row], condition, spec, weight, context=context)
