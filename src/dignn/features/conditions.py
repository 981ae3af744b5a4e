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

# Steps of nodes that may get a class from their neighbours, and of those that never do.
_OPEN, _NEVER = -1, -2


def condition_data(data: Adjacency, nodes: np.ndarray | None = None) -> Tensor:
    """(m, 2 C) the class around nodes (m,) of a large graph: the first C columns for near nodes, the others for far.

    By default all nodes.
    """
    return DataConditions(data).of(np.arange(len(data.node_type)) if nodes is None else nodes)


class DataConditions:
    """The class around nodes of a large graph, of which only those are looked at that it takes.

    Args:
        data: the graph.
    """

    def __init__(self, data: Adjacency) -> None:
        self.data = data
        self._label = data.schema.task.node_class(data.label, data.graph_label)
        answered = data.schema.task.types(data.schema.node_types)
        # Steps to a labelled node, as far as known; a node that is answered about takes no class from others.
        self._step = np.where(self._label >= 0, 0, np.where(answered[data.node_type], _NEVER, _OPEN)).astype(np.int32)
        self._reached, self._last = np.flatnonzero(self._step == 0), 0  # the nodes with most steps so far

    def of(self, nodes: np.ndarray) -> Tensor:
        """(m, 2 C) the class around nodes (m,)."""
        unique, place = np.unique(nodes, return_inverse=True)
        self._walk_to(unique)
        step, schema = self._step[unique], self.data.schema
        around = torch.zeros(len(unique), schema.num_classes)
        for number in np.unique(step[step >= 0]).tolist():
            here = np.flatnonzero(step == number)
            around[torch.from_numpy(here)] = torch.from_numpy(self._around(unique[here], number).toarray())
        kind = torch.from_numpy(self.data.node_type[unique])
        return _near_or_far(around, torch.from_numpy(step.clip(0)), kind, schema)[torch.from_numpy(place)]

    def _walk_to(self, nodes: np.ndarray) -> None:
        """Finds the steps from nodes to the nearest labelled one, where there is one in reach."""
        left = nodes[self._step[nodes] == _OPEN]
        while len(left):
            known = (self._step >= 0) & (self._step <= self._last)
            beside = self.data.joined(left) @ known.astype(np.float32) > 0
            self._step[left[beside]] = self._last + 1
            left = left[~beside]
            if not len(left) or not len(self._reached):
                return
            near = _distinct(self.data.joined(self._reached).indices, len(self._step))
            self._last += 1
            self._reached = near[(self._step[near] == _OPEN) | (self._step[near] == self._last)]
            self._step[self._reached] = self._last

    def _around(self, nodes: np.ndarray, step: int) -> csr_array:
        """(m, C) the class around different nodes that are so many steps from a labelled one."""
        classes = self.data.schema.num_classes
        if not step:
            place = np.arange(len(nodes))
            ones = np.ones(len(nodes), dtype=np.float32)
            return csr_array((ones, (place, self._label[nodes])), shape=(len(nodes), classes))
        joined = self.data.joined(nodes)
        of = np.repeat(np.arange(len(nodes)), np.diff(joined.indptr))
        nearer = self._step[joined.indices] == step - 1
        others = _distinct(joined.indices[nearer], len(self._step))
        place = np.searchsorted(others, joined.indices[nearer])
        ones = np.ones(len(place), dtype=np.float32)
        joined = csr_array((ones, (of[nearer], place)), shape=(len(nodes), len(others)))
        found = joined @ self._around(others, step - 1)
        count = np.diff(joined.indptr).astype(np.float32)
        found.data /= np.repeat(count, np.diff(found.indptr))
        return found


def _distinct(nodes: np.ndarray, size: int) -> np.ndarray:
    """The different ones among many of so many nodes, ascending."""
    found = np.zeros(size, dtype=bool)
    found[nodes] = True
    return np.flatnonzero(found)


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
    steps = np.where(schema.task.types(schema.node_types), 0, count).tolist()
    ends = {(schema.type_index(each.source), schema.type_index(each.target)) for each in schema.relations}
    before: list[int] = []
    while steps != before:
        before = list(steps)
        for one, other in ends:
            steps[one], steps[other] = min(steps[one], steps[other] + 1), min(steps[other], steps[one] + 1)
    return torch.tensor(steps)


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
    return _near_or_far(around, steps, node_type, schema)


def _near_or_far(around: Tensor, steps: Tensor, node_type: Tensor, schema: Schema) -> Tensor:
    """The class around nodes that are so many steps from a labelled one: near or far.  (..., C) -> (..., 2 C)"""
    near = (steps <= steps_to_target(schema)[node_type.clamp_min(0)])[..., None]
    return torch.cat([around * near, around * ~near], dim=-1)
