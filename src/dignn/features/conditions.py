"""The class around a node: what links the features of neighbours to the structure's classes.

A target node has its own class. Any other node has the mean of the classes around its neighbours that are
nearer to a target node: papers take their authors' classes, conferences their papers'. In graph
classification every node has the class of its graph. Where no labelled node is in reach, all entries are zero.

A class that is far away says less: the conference of an author's paper mostly fits the author, a conference that is
reached by way of a common word hardly. So a condition tells near nodes, which are as few steps from a labelled node as
their type allows, from far ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn.functional import one_hot

from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.schema import Schema


def condition_data(data: Adjacency) -> Tensor:
    """(n, 2 C) the class around every node of a large graph: the first C columns for near nodes, the others for far."""
    size = len(data.node_type)
    ones = np.ones(len(data.neighbour), dtype=np.float32)
    joined = csr_array((ones, data.neighbour, data.indptr), shape=(size, size))
    label = data.schema.task.node_class(data.label, data.graph_label)

    def around(values: Tensor) -> Tensor:
        return torch.from_numpy(joined @ values.numpy())

    return _condition(torch.from_numpy(label), torch.from_numpy(data.node_type), data.schema, around)


def condition_batch(batch: GraphBatch) -> Tensor:
    """(B, N, 2 C) the same for every node of a batch; zero on padding."""
    whole = batch.graph_label[:, None].expand_as(batch.label).masked_fill(~batch.mask, PADDING)
    joined = batch.undirected.float()
    label = batch.schema.task.node_class(batch.label, whole)
    return _condition(label, batch.node_type, batch.schema, joined.matmul)


def class_of_condition(condition: Tensor) -> Tensor:
    """The class around, near or far.  (..., 2 C) -> (..., C)"""
    near, far = condition.chunk(2, dim=-1)
    return near + far


def steps_to_target(schema: Schema) -> Tensor:
    """(types,) steps from each node type to the target type in the metagraph; 0 for all without a target."""
    count = len(schema.node_types)
    steps = torch.full((count,), count)
    steps[torch.from_numpy(schema.task.types(schema.node_types))] = 0
    for _ in range(count):
        for relation in schema.relations:
            one, other = schema.type_index(relation.source), schema.type_index(relation.target)
            steps[one] = min(int(steps[one]), int(steps[other]) + 1)
            steps[other] = min(int(steps[other]), int(steps[one]) + 1)
    return steps


def _condition(label: Tensor, node_type: Tensor, schema: Schema, neighbour_sum: Callable[[Tensor], Tensor]) -> Tensor:
    """The class around every node, near or far.  (..., 2 C)

    Args:
        label: (...) class of each node, -1 where it has none.
        node_type: (...) -1 on padding.
        schema: of the nodes.
        neighbour_sum: from values (..., k) of the nodes to their sums over the neighbours of each node.
    """
    around = one_hot(label.clamp_min(0), schema.num_classes).float() * (label >= 0)[..., None]
    known = around.sum(-1) > 0
    answered = torch.from_numpy(schema.task.types(schema.node_types))
    open_nodes = (node_type >= 0) & ~answered[node_type.clamp_min(0)]
    steps = torch.zeros_like(node_type)
    for step in itertools.count(1):
        count = neighbour_sum(known.float()[..., None])  # (..., 1)
        new = open_nodes & ~known & (count[..., 0] > 0)
        if not new.any():
            break
        around = torch.where(new[..., None], neighbour_sum(around) / count.clamp_min(1), around)
        known |= new
        steps[new] = step
    near = (steps <= steps_to_target(schema)[node_type.clamp_min(0)])[..., None]
    return torch.cat([around * near, around * ~near], dim=-1)
