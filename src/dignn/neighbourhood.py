"""The class around a node: what links the features of neighbours to the structure's classes.

A target node has its own class. Any other node has the mean of the classes around its neighbours that are
nearer to a target node: papers take their authors' classes, conferences their papers'. In graph
classification every node has the class of its graph. Where no labelled node is in reach, all entries are zero.

A class that is far away says less: the conference of an author's paper mostly fits the author, a conference that is
reached by way of a common word hardly. So a condition tells near nodes, which are as few steps from a labelled node as
their type allows, from far ones.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn.functional import one_hot

from dignn.batch import GraphBatch
from dignn.sampling import Adjacency
from dignn.schema import Schema


def condition_data(data: Adjacency) -> Tensor:
    """(n, 2 C) the class around every node of a large graph: the first C columns for near nodes, the others for far."""
    around, steps = _around_data(data)
    return _told_apart(around, steps, torch.from_numpy(data.node_type), data.schema)


def condition_batch(batch: GraphBatch) -> Tensor:
    """(B, N, 2 C) the same for every node of a batch; zero on padding."""
    around, steps = _around_batch(batch)
    return _told_apart(around, steps, batch.node_type, batch.schema)


def class_of_condition(condition: Tensor) -> Tensor:
    """The class around, near or far.  (..., 2 C) -> (..., C)"""
    near, far = condition.chunk(2, dim=-1)
    return near + far


def steps_to_target(schema: Schema) -> Tensor:
    """(types,) steps from each node type to the target type in the metagraph; 0 for all without a target."""
    count = len(schema.node_types)
    if schema.target_index is None:
        return torch.zeros(count, dtype=torch.long)
    steps = torch.full((count,), count)
    steps[schema.target_index] = 0
    for _ in range(count):
        for relation in schema.relations:
            one, other = schema.type_index(relation.source), schema.type_index(relation.target)
            steps[one] = min(int(steps[one]), int(steps[other]) + 1)
            steps[other] = min(int(steps[other]), int(steps[one]) + 1)
    return steps


def _told_apart(around: Tensor, steps: Tensor, node_type: Tensor, schema: Schema) -> Tensor:
    near = steps <= steps_to_target(schema)[node_type.clamp_min(0)]
    return torch.cat([around * near[..., None], around * ~near[..., None]], dim=-1)


def _around_data(data: Adjacency) -> tuple[Tensor, Tensor]:
    """The class around every node (n, C), and how many steps away it is (n,)."""
    classes = data.schema.num_classes
    label = data.graph_label if data.schema.target is None else data.label
    around = _one_hot(torch.from_numpy(label), classes).numpy()
    steps = np.zeros(len(around), dtype=np.int64)
    if data.schema.target is None:
        return torch.from_numpy(around), torch.from_numpy(steps)
    size = len(data.node_type)
    joined = csr_array(
        (np.ones(len(data.neighbour), dtype=np.float32), data.neighbour, data.indptr), shape=(size, size)
    )
    known = around.sum(1) > 0
    open_nodes = data.node_type != data.schema.target_index
    step = 0
    while True:
        count = joined @ known.astype(np.float32)
        new = open_nodes & ~known & (count > 0)
        if not new.any():
            return torch.from_numpy(around), torch.from_numpy(steps)
        around[new] = (joined[new] @ around) / count[new, None]
        known |= new
        step += 1
        steps[new] = step


def _around_batch(batch: GraphBatch) -> tuple[Tensor, Tensor]:
    """The class around every node (B, N, C), and how many steps away it is (B, N)."""
    classes = batch.schema.num_classes
    steps = torch.zeros_like(batch.node_type)
    if batch.schema.target is None:
        return _one_hot(batch.graph_label, classes)[:, None, :] * batch.mask[:, :, None], steps
    around = _one_hot(batch.label, classes)
    joined = batch.undirected.float()
    known = around.sum(2) > 0
    open_nodes = batch.mask & ~batch.target_mask
    step = 0
    while True:
        count = joined @ known.float()[:, :, None]  # (B, N, 1)
        new = open_nodes & ~known & (count[:, :, 0] > 0)
        if not new.any():
            return around, steps
        around = torch.where(new[:, :, None], (joined @ around) / count.clamp_min(1), around)
        known = known | new
        step += 1
        steps = torch.where(new, step, steps)


def _one_hot(label: Tensor, classes: int) -> Tensor:
    """One-hot rows; zero where the label is -1."""
    return one_hot(label.clamp_min(0), classes).float() * (label >= 0)[..., None]
