"""A large typed graph as compressed sparse rows, built once; sampling touches only the rows it burns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.batch import PADDING, GraphBatch
from dignn.cells import Cells, cells_of
from dignn.errors import SchemaError
from dignn.schema import Schema
from dignn.view import view_for


@dataclass(frozen=True)
class Adjacency:
    """n nodes of all types, numbered through, and their neighbours over all relations, undirected.

    Args:
        schema: the data's schema.
        indptr, neighbour: the neighbours of u are ``neighbour[indptr[u]:indptr[u + 1]]``, ascending.
        relation: for each of them the cell ``edge[u, v]``; 0 where only v to u is an edge (directed
            relations inside one type).
        node_type, row, label: (n,) as in :class:`~dignn.batch.GraphBatch`.
        graph_label: (n,) class of the graph that a node is part of; -1 without.
        tables: feature rows by type.

    The arrays may be memory-mapped.
    """

    schema: Schema
    indptr: np.ndarray
    neighbour: np.ndarray
    relation: np.ndarray
    node_type: np.ndarray
    row: np.ndarray
    label: np.ndarray
    graph_label: np.ndarray
    tables: dict[str, Tensor]

    @classmethod
    def build(cls, data: Data | HeteroData | Sequence[Data | HeteroData], schema: Schema) -> Adjacency:
        view = view_for(data, schema)
        code = np.array([schema.type_index(name) for name in view.type_names])
        directed = np.array([False, *(relation.directed for relation in schema.relations)])
        indptr, neighbour, relation = _compress(cells_of(view, schema), len(view.node_type), directed)
        graph_label = np.full(len(view.node_type), PADDING)
        if view.graph_label is not None:
            graph_label = np.repeat(view.graph_label, np.diff(view.graph_ptr))
        return cls(
            schema=schema,
            indptr=indptr,
            neighbour=neighbour,
            relation=relation,
            node_type=code[view.node_type],
            row=view.row,
            label=view.label,
            graph_label=graph_label,
            tables={name: x for name, x in view.x.items() if x is not None and schema.spec(name).generated},
        )

    @property
    def targets(self) -> np.ndarray:
        """Nodes where a fire may start: those of the target type, or all (graph classification)."""
        target = self.schema.target_index
        return np.arange(len(self.node_type)) if target is None else np.flatnonzero(self.node_type == target)

    def lookup(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """``edge[u, v]`` for arrays of node pairs: a binary search in every row at once."""
        low, end = self.indptr[u], self.indptr[u + 1]
        high = end.copy()
        while (open_rows := low < high).any():
            middle = (low + high) // 2
            below = open_rows & (self.neighbour[np.where(open_rows, middle, 0)] < v)
            low = np.where(below, middle + 1, low)
            high = np.where(open_rows & ~below, middle, high)
        found = low < end
        position = np.where(found, low, 0)
        if not len(self.neighbour):
            return np.zeros(len(u), dtype=np.int64)
        return np.where(found & (self.neighbour[position] == v), self.relation[position], 0)

    def induced(self, nodes: Sequence[Sequence[int]]) -> GraphBatch:
        """The induced subgraph of each list of nodes, features shared with this graph."""
        sizes = np.array([len(listed) for listed in nodes], dtype=np.int64)
        shape = (len(nodes), int(sizes.max(initial=0)))
        ids = np.full(shape, PADDING, dtype=np.int64)
        for number, listed in enumerate(nodes):
            ids[number, : len(listed)] = listed
        there = np.arange(shape[1]) < sizes[:, None]
        if (there & ((ids < 0) | (ids >= len(self.node_type)))).any():
            raise SchemaError("A subgraph names a node that does not exist")
        graph, i, j = np.nonzero(there[:, :, None] & there[:, None, :])
        edge = np.zeros((*shape, shape[1]), dtype=np.int64)
        edge[graph, i, j] = self.lookup(ids[graph, i], ids[graph, j])

        def gather(values: np.ndarray) -> Tensor:
            return torch.from_numpy(np.where(there, values[np.where(there, ids, 0)], PADDING).astype(np.int64))

        graph_label = np.array([self.graph_label[listed[0]] if len(listed) else PADDING for listed in nodes])
        return GraphBatch(
            schema=self.schema,
            node_type=gather(self.node_type),
            edge=torch.from_numpy(edge),
            label=gather(self.label),
            graph_label=torch.from_numpy(graph_label.astype(np.int64)),
            row=gather(self.row),
            tables=self.tables,
        )


def _compress(cells: Cells, size: int, directed: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sorted rows that hold every cell and, for cells without a mirror, the way back with relation 0.

    Only directed relations have such cells; ``directed[r]`` says whether relation r is one.
    """
    source, target, relation = cells.source, cells.target, cells.relation
    if directed.any():
        one_way = directed[relation]
        back = target[one_way] * size + source[one_way]
        missing = np.setdiff1d(back, source * size + target, assume_unique=True)
        source = np.concatenate([source, missing // size])
        target = np.concatenate([target, missing % size])
        relation = np.concatenate([relation, np.zeros(len(missing), dtype=np.int64)])
        order = np.lexsort((target, source))
        source, target, relation = source[order], target[order], relation[order]
    return np.concatenate([[0], np.cumsum(np.bincount(source, minlength=size))]), target, relation
