"""Places: nodes of many graphs, or whole graphs, about which a model is asked, and what is around each of them.

All nodes of a batch are numbered through. What is around places is said by sparse matrices from places to nodes, what
is true of nodes by sparse matrices from nodes to traits, so that a product counts for all places and traits at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from dignn.core.checks import instance
from dignn.core.errors import DignnError, SchemaError
from dignn.goes_by.ring_paths import rings_of
from dignn.goes_by.sparse_flags import beside, flags, ones, sparse_rows_of, true_rows, without_zeros
from dignn.goes_by.traits import Holds, Shaped, Trait
from dignn.goes_by.where import Around, Edges, Step, Where
from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_tables import edge_values, own_cells
from dignn.model.scores import Scores

# Of a table of this many times the columns that are asked for, only these are read.
_FEW = 4
# Scopes along paths that are kept: there may be thousands, and each is asked for a few times in a row.
_KEPT_PATHS = 8


class Places:
    """m places of a batch.

    Args:
        batch: graphs with features.
        graph: (m,) which graph of the batch.
        node: (m,) position of the classified node; -1 where the graph is meant.

    Attributes:
        known: of which places predicates are true, (m,) bool each, as far as somebody asked.
    """

    known: dict[Any, np.ndarray]

    def __init__(self, batch: GraphBatch, graph: Tensor, node: Tensor) -> None:
        instance("batch", batch, GraphBatch, "a GraphBatch")
        self.batch, self.schema = batch, batch.schema
        self.graph, self.node = np.asarray(graph, dtype=np.int64), np.asarray(node, dtype=np.int64)
        if self.graph.shape != self.node.shape or self.graph.ndim != 1:
            raise DignnError(
                f"{self.graph.shape} graphs and {self.node.shape} nodes do not fit; give one node for each"
            )
        if len(self.graph) and not 0 <= self.graph.min() <= self.graph.max() < len(batch):
            raise DignnError(
                f"A place is in graph {self.graph.max()}, and the batch has {len(batch)} graphs; give its scores"
            )
        self._own = np.flatnonzero(self.node >= 0)
        inside = self.node.max(initial=-1) < batch.node_type.size(1)
        if not inside or not bool(batch.mask[self.graph[self._own], self.node[self._own]].all()):
            raise DignnError("A place is a node that its graph does not have; give scores of this batch")
        self.known = {}
        self._scopes: dict[Around, csr_array] = {}
        self._along: dict[Around, csr_array] = {}
        self._first: dict[Step, csr_array] = {}
        self._arcs: dict[Step, csr_array] = {}
        self._rows: dict[str, tuple[np.ndarray, Tensor, np.ndarray]] = {}
        self._tables: dict[str, csr_array] = {}

    @classmethod
    def of(cls, batch: GraphBatch, scores: Scores) -> Places:
        """The places that were scored."""
        return cls(batch, scores.graph, scores.node)

    def __len__(self) -> int:
        return len(self.graph)

    # -- nodes ----------------------------------------------------------------------------------------

    @cached_property
    def _cells(self) -> tuple[np.ndarray, np.ndarray]:
        """(M,) graph and position of every node."""
        graph, position = self.batch.mask.nonzero(as_tuple=True)
        return graph.numpy(), position.numpy()

    @cached_property
    def _number(self) -> np.ndarray:
        """(B, N) the number of a node; -1 on padding."""
        found = np.full(tuple(self.batch.node_type.shape), -1)
        found[self._cells] = np.arange(len(self._cells[0]))
        return found

    @cached_property
    def node_type(self) -> np.ndarray:
        """(M,)"""
        return self.batch.node_type.numpy()[self._cells]

    @cached_property
    def _edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(e,) source and target of every cell of ``edge`` that is one, and its relation."""
        graph, u, v = self.batch.edge.nonzero(as_tuple=True)
        numbers = self._number
        code = self.batch.edge[graph, u, v].numpy()
        return numbers[graph.numpy(), u.numpy()], numbers[graph.numpy(), v.numpy()], code

    @cached_property
    def joined(self) -> csr_array:
        """(M, M) 1 where two nodes are joined, by whatever relation."""
        source, target, _ = self._edges
        return flags(self._square(source, target) + self._square(target, source))

    def arcs(self, step: Step) -> csr_array:
        """(M, M) 1 where a step leads from a node to another."""
        if step not in self._arcs:
            labels = [relation.label for relation in self.schema.relations]
            if step.relation not in labels:
                raise SchemaError(
                    f"There is no relation '{step.relation}'; the schema has {', '.join(labels) or 'none'}"
                )
            place = labels.index(step.relation)
            relation = self.schema.relations[place]
            source, target, code = self._edges
            here = code == place + 1
            if relation.source != relation.target:  # both cells of an edge hold it
                here &= self.node_type[source] == self.schema.type_index(relation.source)
            ends = (target[here], source[here]) if step.back else (source[here], target[here])
            self._arcs[step] = self._square(*ends)
        return self._arcs[step]

    def _square(self, source: np.ndarray, target: np.ndarray) -> csr_array:
        size = len(self.node_type)
        return csr_array((np.ones(len(source), np.float32), (source, target)), shape=(size, size))

    # -- around ---------------------------------------------------------------------------------------

    def around(self, where: Where) -> csr_array:
        """(m, items) 1 where an item, a node or an edge, is where it says."""
        if isinstance(where, Edges):
            return self._incident(where)
        everywhere = Around("", where.distance, where.path)  # types are looked at by traits
        known = self._along if where.path else self._scopes
        if everywhere not in known:
            known[everywhere] = self._reached(everywhere)
            if len(self._along) > _KEPT_PATHS:
                del self._along[next(iter(self._along))]
        return known[everywhere]

    def stepped(self, step: Step) -> csr_array:
        """(m, M) 1 where a step leads from a place to a node."""
        if step not in self._first:
            self._first[step] = self.around(Around("", 0)) @ self.arcs(step)
        return self._first[step]

    def _reached(self, where: Around) -> csr_array:
        if where.distance is None:
            return self._whole
        if where.distance == 0:
            shape = (len(self), len(self.node_type))
            number = self._number[self.graph[self._own], self.node[self._own]]
            return csr_array((np.ones(len(number), np.float32), (self._own, number)), shape=shape)
        own = self.around(Around("", 0))
        if where.path:
            found = self.stepped(where.path[0])
            for step in where.path[1:]:
                found = found @ self.arcs(step)
            found = flags(found)
            return without_zeros(found - found.multiply(own))
        nearer = self.around(Around("", where.distance - 1))
        within = sum((self.around(Around("", d)) for d in range(where.distance - 1)), start=nearer)
        found = flags(nearer @ self.joined)
        return without_zeros(found - found.multiply(within))

    @cached_property
    def _whole(self) -> csr_array:
        count = len(self.batch)
        of_graph = csr_array(
            (np.ones(len(self.node_type), np.float32), (self._cells[0], np.arange(len(self.node_type)))),
            shape=(count, len(self.node_type)),
        )
        return of_graph[self.graph]

    def _edge_cells(self, label: str) -> tuple[Tensor, Tensor, Tensor]:
        if label not in self.schema.edge_features_by_label:
            known = ", ".join(self.schema.edge_features_by_label) or "none"
            raise SchemaError(f"The edges '{label}' carry nothing; those that carry something are {known}")
        return own_cells(self.batch, self.batch.node_type, label)

    def _incident(self, where: Edges) -> csr_array:
        graph, u, v = (part.numpy() for part in self._edge_cells(where.relation))
        edges = np.arange(len(graph))
        scope = self._whole if where.anywhere else self.around(Around("", 0))
        ends = [self._number[graph, u]] if where.anywhere else [self._number[graph, u], self._number[graph, v]]
        size = (len(self.node_type), len(graph))
        at_node = sum(csr_array((np.ones(len(graph), np.float32), (end, edges)), shape=size) for end in ends)
        return flags(scope @ at_node)

    # -- traits ---------------------------------------------------------------------------------------

    def traits(self, where: Where, traits: Sequence[Trait]) -> csr_array:
        """(items, t) 1 where a trait is true of an item; of nodes only where they are of the type."""
        held = [(place, trait) for place, trait in enumerate(traits) if isinstance(trait, Holds)]
        shaped = [(place, trait) for place, trait in enumerate(traits) if isinstance(trait, Shaped)]
        parts = [self._held(where, [trait for _, trait in held])] if held else []
        parts += [self._shaped(where, [trait for _, trait in shaped])] if shaped else []
        order = [place for place, _ in (*held, *shaped)]
        found = parts[0] if len(parts) == 1 else beside(parts)
        return found if order == sorted(order) else found[:, np.argsort(order)]

    def items(self, where: Where) -> np.ndarray:
        """Numbers of the items that there are: nodes of the type, or all edges of the relation."""
        if isinstance(where, Edges):
            return np.arange(len(self._edge_cells(where.relation)[0]))
        return np.flatnonzero(self.node_type == self.schema.type_index(where.node_type))

    def count(self, where: Where) -> int:
        """How many items a row of :meth:`around` has."""
        return len(self.items(where)) if isinstance(where, Edges) else len(self.node_type)

    def values(self, where: Where, columns: Sequence[int] | None = None) -> tuple[np.ndarray, csr_array]:
        """(items there are,) which row of a table each has, and the table, sparse, or some columns of it.

        A missing value is NaN.
        """
        name = where.relation if isinstance(where, Edges) else where.node_type
        if name not in self._rows:
            self._rows[name] = self._rows_of(where)
        place, table, used = self._rows[name]
        width = table.size(1)
        if name not in self._tables and columns is not None and _FEW * len(columns) < width:
            return place, sparse_rows_of(table, used, columns)
        if name not in self._tables:
            self._tables[name] = sparse_rows_of(table, used, None)
        found = self._tables[name]
        return place, found if columns is None else found[:, list(columns)]

    def _rows_of(self, where: Where) -> tuple[np.ndarray, Tensor, np.ndarray]:
        """Which of the used rows each item has, the table, and which of its rows are used."""
        if isinstance(where, Edges):
            rows = edge_values(self.batch, where.relation, self._edge_cells(where.relation))
            every = np.arange(len(rows))
            return every, rows, every
        items, spec = self.items(where), self.schema.spec(where.node_type)
        if where.node_type in self.batch.tables:
            row = self.batch.row.numpy()[self._cells][items]
            used, place = np.unique(row, return_inverse=True)
            return place, self.batch.tables[where.node_type], used
        if spec.generated and len(items):
            raise SchemaError(f"The features of '{where.node_type}' are not filled in yet; use a FeatureBank")
        constant = torch.tensor([spec.constant or (0.0,) * spec.width], dtype=torch.float32)
        return np.zeros(len(items), np.int64), constant, np.zeros(min(1, len(items)), np.int64)

    def _held(self, where: Where, traits: Sequence[Holds]) -> csr_array:
        columns = sorted({trait.column for trait in traits})
        spec = self.schema.edge_features_by_label[where.relation].spec if isinstance(where, Edges) else None
        spec = self.schema.spec(where.node_type) if isinstance(where, Around) else spec
        width = spec.width if spec is not None else 0
        if columns and not 0 <= columns[0] <= columns[-1] < width:
            raise SchemaError(f"There is no column {columns[-1]}; there are {width}")
        place, values = self.values(where, columns)
        table = values.tocsc()
        of = {column: number for number, column in enumerate(columns)}
        rows, which = [], []
        for number, trait in enumerate(traits):
            begin, end = table.indptr[of[trait.column] : of[trait.column] + 2]
            found = true_rows(trait, table.indices[begin:end], table.data[begin:end], table.shape[0])
            rows.append(found)
            which.append(np.full(len(found), number))
        count = max(1, table.shape[0])  # there may be no item at all
        true = ones(np.concatenate(rows), np.concatenate(which), (count, len(traits)))
        items = self.items(where)
        at = csr_array((np.ones(len(items), np.float32), (items, place)), shape=(self.count(where), count))
        return at @ true

    def _shaped(self, where: Where, traits: Sequence[Shaped]) -> csr_array:
        if isinstance(where, Edges):
            raise DignnError("Edges have no neighbours and lie on no cycles; ask for what they hold")
        right = self.node_type == self.schema.type_index(where.node_type)
        rows = [np.flatnonzero(right & self._is(trait)) for trait in traits]
        which = np.repeat(np.arange(len(traits)), [len(some) for some in rows])
        return ones(np.concatenate(rows), which, (len(self.node_type), len(traits)))

    def _is(self, trait: Shaped) -> np.ndarray:
        """(M,) bool"""
        if trait.shape == "cycle":
            return self._on_cycle(trait.number)
        degree = self.degree(trait.step)
        return degree == 1 if trait.shape == "leaf" else degree >= trait.number

    def degree(self, step: Step | None = None) -> np.ndarray:
        """(M,) neighbours of every node, or those that it has by a step."""
        return np.diff((self.joined if step is None else self.arcs(step)).indptr)

    # -- cycles ---------------------------------------------------------------------------------------

    @cached_property
    def rings(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """By length: (c,) graphs of all chordless cycles, and (c, length) numbers of their nodes, in order."""
        joined = self.batch.undirected.numpy().copy()
        joined[:, range(joined.shape[1]), range(joined.shape[1])] = False
        found = rings_of(joined)
        return {length: (graph, self._number[graph[:, None], path]) for length, (graph, path) in found.items()}

    def _on_cycle(self, length: int) -> np.ndarray:
        found = np.zeros(len(self.node_type), dtype=bool)
        for number, (_, nodes) in self.rings.items():
            if length in (0, number):
                found[nodes] = True
        return found

    def rings_at(self, length: int) -> tuple[np.ndarray, csr_array]:
        """Types (c, length), sorted, of the cycles of a length, and (m, c) 1 where one goes through a place.

        Of whole graphs, where one is anywhere.
        """
        graph, nodes = self.rings[length]
        kinds = np.sort(self.node_type[nodes], axis=1)
        ring = np.arange(len(graph))
        whole = csr_array((np.ones(len(graph), np.float32), (graph, ring)), shape=(len(self.batch), len(graph)))
        through = csr_array(
            (np.ones(nodes.size, np.float32), (nodes.ravel(), np.repeat(ring, length))),
            shape=(len(self.node_type), len(graph)),
        )
        if len(self._own):
            return kinds, self.around(Around("", 0)) @ through
        return kinds, whole[self.graph]
