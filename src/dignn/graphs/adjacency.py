"""A large typed graph as compressed sparse rows, built once; sampling touches only the rows it burns."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from dignn.core.errors import SchemaError
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.column_checks import check_rows
from dignn.graphs.distinct_keys import among, mirrored
from dignn.graphs.edge_rows import EdgeRows, edge_rows_of
from dignn.graphs.edge_tables import NO_ROW
from dignn.graphs.flattening import FlatGraphs, flatten_for
from dignn.graphs.schema import Schema
from dignn.graphs.sparse_rows import table_of
from dignn.graphs.typed_edges import Dropped, TypedEdges, typed_edges_of

# Columns of a type for which a node that misses their value is sought, at most.
LACKING_COLUMNS = 8


@dataclass(frozen=True)
class Adjacency:
    """n nodes of all types, numbered through, and their neighbours over all relations, undirected.

    Args:
        schema: the data's schema.
        indptr, neighbour: the neighbours of u are ``neighbour[indptr[u]:indptr[u + 1]]``, ascending.
        relation: for each of them the cell ``edge[u, v]``; 0 where only v to u is an edge (directed
            relations inside one type).
        node_type, row, label: (n,) as in :class:`~dignn.graphs.batch.GraphBatch`.
        graph_label: (n,) class of the graph that a node is part of; -1 without.
        tables: feature rows by type.
        dropped: edges that could not be held, by kind.
        edge_row: for each neighbour the row of the cell, -1 where there is none; None where no edge has a row.
        edge_tables: rows of edges by the label of their relation.

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
    dropped: dict[str, Dropped] = field(default_factory=dict)
    edge_row: np.ndarray | None = None
    edge_tables: dict[str, Tensor] = field(default_factory=dict)

    @classmethod
    def build(cls, data: Any, schema: Schema) -> Adjacency:
        """Of one or many graphs, in any form that :func:`~dignn.graphs.intake.given_graphs` knows."""
        return cls.of_view(flatten_for(data, schema), schema)

    @classmethod
    def of_view(cls, view: FlatGraphs, schema: Schema) -> Adjacency:
        """Of graphs that have been read."""
        code = np.array([schema.type_index(name) for name in view.type_names])
        directed = np.array([False, *(relation.directed for relation in schema.relations)])
        edges = typed_edges_of(view, schema)
        rows = edge_rows_of(view, schema, edges)
        dropped, cells = edges.dropped, [edges]
        del edges
        indptr, neighbour, relation, edge_row = _compress(cells, len(view.node_type), directed, rows)
        return cls(
            schema,
            *(indptr, neighbour, relation),
            node_type=code[view.node_type],
            row=view.row,
            label=view.label,
            graph_label=np.repeat(view.graph_label, np.diff(view.graph_ptr)),
            tables={
                name: table_of(check_rows(x, schema.spec(name), name))
                for name, x in view.x.items()
                if x is not None and schema.spec(name).generated
            },
            dropped=dropped,
            edge_row=edge_row,
            edge_tables={} if rows is None else rows.tables,
        )

    @property
    def targets(self) -> np.ndarray:
        """Nodes where a fire may start: those of the target type, or all where answers are about whole graphs."""
        return np.flatnonzero(self.schema.task.types(self.schema.node_types)[self.node_type])

    @property
    def lacking(self) -> list[int]:
        """A node that misses a value, for each of the first columns that miss some."""
        found = []
        for name, table in self.tables.items():
            place = self.schema.type_index(name)
            for column in self.schema.spec(name).missing[:LACKING_COLUMNS]:
                absent = table[:, column].isnan().nonzero()[:1, 0].numpy()
                found += np.flatnonzero((self.node_type == place) & np.isin(self.row, absent))[:1].tolist()
        return found

    @cached_property
    def _cells(self) -> csr_array:
        return self._matrix(self.relation)

    def lookup(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """``edge[u, v]`` for arrays of node pairs."""
        return self._cells[u, v] if len(u) else np.zeros(0, dtype=np.int64)  # no pairs would be a sparse array

    @cached_property
    def _row_cells(self) -> csr_array:
        """Rows of edges, counted from 1."""
        return self._matrix(np.asarray(self.edge_row) + 1)

    def _matrix(self, values: np.ndarray) -> csr_array:
        """(n, n) a value for each neighbour. Indices of one type are shared; else both would become the wider one."""
        size, kind = len(self.node_type), self.neighbour.dtype
        indptr = self.indptr.astype(kind) if len(self.neighbour) <= np.iinfo(kind).max else self.indptr
        return csr_array((values, self.neighbour, indptr), shape=(size, size))

    def _edge_rows(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The row of ``edge[u, v]`` for arrays of node pairs; -1 where there is none."""
        return self._row_cells[u, v] - 1 if len(u) else np.zeros(0, dtype=np.int64)

    def edge_ends(self, label: str) -> tuple[np.ndarray, np.ndarray]:
        """(m,), (m,) the two nodes that the edge of each row of a relation's table joins."""
        code = self.schema.edge_features_by_label[label].relation
        cells = np.flatnonzero((self.relation == code) & (np.asarray(self.edge_row) != NO_ROW))
        source = np.searchsorted(self.indptr, cells, side="right") - 1
        ends = np.zeros((2, len(self.edge_tables[label])), dtype=np.int64)
        ends[:, np.asarray(self.edge_row)[cells]] = np.stack([source, self.neighbour[cells]])
        return ends[0], ends[1]

    def numbers(self, batch: GraphBatch) -> np.ndarray:
        """(B, N) which of its nodes those of its subgraphs are; -1 on padding."""
        found = np.full(batch.node_type.shape, PADDING, dtype=np.int64)
        for code, nodes in enumerate(self._nodes):
            here = (batch.node_type == code).numpy()
            found[here] = nodes[batch.row.numpy()[here]]
        return found

    def nodes_of(self, name: str) -> np.ndarray:
        """(n,) the nodes of a type, by their rows."""
        return self._nodes[self.schema.type_index(name)]

    @cached_property
    def _nodes(self) -> list[np.ndarray]:
        """By type, the node of each row."""
        order = np.argsort(self.node_type, kind="stable")
        last = np.cumsum(np.bincount(self.node_type, minlength=len(self.schema.node_types)))
        found = []
        for own in np.split(order, last[:-1]):
            nodes = np.empty(int(self.row[own].max(initial=-1)) + 1, dtype=np.int64)
            nodes[self.row[own]] = own
            found.append(nodes)
        return found

    def joined(self, nodes: np.ndarray) -> csr_array:
        """(m, n) float32, 1 where one of some nodes (m,) is joined to a node; neighbours ascend."""
        first, number = self.indptr[nodes], self.indptr[nodes + 1] - self.indptr[nodes]
        ends = np.concatenate([[0], np.cumsum(number)])
        cells = np.arange(ends[-1]) + np.repeat(first - ends[:-1], number)
        ones = np.ones(len(cells), dtype=np.float32)
        return csr_array((ones, self.neighbour[cells], ends), shape=(len(nodes), len(self.node_type)))

    def around(self, nodes: Sequence[int], size: int) -> list[int]:
        """Some nodes and what lies around them, the nearest first, up to ``size`` in all."""
        found = dict.fromkeys(nodes)
        queue = deque(found)
        while queue and len(found) < size:
            node = queue.popleft()
            begin = int(self.indptr[node])
            near = self.neighbour[begin : min(int(self.indptr[node + 1]), begin + size)].tolist()
            new = [each for each in near if each not in found][: size - len(found)]
            found.update(dict.fromkeys(new))
            queue.extend(new)
        return list(found)

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
        edge_row = None
        if self.edge_row is not None:
            edge_row = torch.full(edge.shape, NO_ROW)
            edge_row[graph, i, j] = torch.from_numpy(self._edge_rows(ids[graph, i], ids[graph, j]))

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
            edge_row=edge_row,
            edge_tables=self.edge_tables,
        )


def _compress(
    given: list[TypedEdges], nodes: int, directed: np.ndarray, rows: EdgeRows | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Sorted rows that hold every cell and, for cells without a mirror, the way back with relation 0.

    Only directed relations have such cells; ``directed[r]`` says whether relation r is one. The one entry of ``given``
    is taken out of it: its keys are as large as the graph, and gone when the rest is made.
    """
    cells = given.pop()
    key, relation, size = cells.key, cells.relation, cells.size
    del cells
    edge_row = None if rows is None else rows.row
    first = np.arange(nodes + 1) * size
    indptr = np.searchsorted(key, first)
    neighbour = np.empty(len(key), dtype=np.int32 if size < 2**31 else np.int64)
    np.remainder(key, size, out=neighbour, casting="unsafe")
    if directed.any():
        back = mirrored(key[directed[relation]], size)
        back = back[~among(back, key)]
        place = np.searchsorted(key, back)
        del key
        indptr += np.searchsorted(back, first)
        neighbour, relation = np.insert(neighbour, place, back % size), np.insert(relation, place, 0)
        edge_row = None if edge_row is None else np.insert(edge_row, place, NO_ROW)
    return indptr, neighbour, relation, edge_row
