"""GraphBatch: many small typed graphs as padded tensors.

This is what every step of the way hands to the next: sampled subgraphs, generated structures, candidates with
features. Conversions to and from graph classes live in :mod:`dignn.graphs.conversion`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from dignn.core.checks import instance, shown
from dignn.core.checks import path as checked_path
from dignn.core.errors import OutOfRangeError, RunFolderError, SchemaError
from dignn.core.files import load_tensors, save_tensors
from dignn.core.torch_defaults import plain_torch
from dignn.graphs.edge_tables import (
    check_edge_tables,
    joined_edge_tables,
    packed_edges,
    rows_outside,
    unpacked_edges,
)
from dignn.graphs.feature_spec import FeatureKind
from dignn.graphs.joined_tables import join_tables
from dignn.graphs.packed_tables import outside as _outside
from dignn.graphs.packed_tables import pack_table, unpack_table
from dignn.graphs.schema import Schema

PADDING = -1


@dataclass(frozen=True)
class GraphBatch:
    """B typed graphs of up to N nodes.

    Args:
        schema: the data's schema.
        node_type: (B, N) index into ``schema.node_types``; -1 on padding.
        edge: (B, N, N) 0 = no edge, r = ``schema.relations[r - 1]``. Symmetric, except that a directed
            relation inside one type fills only ``edge[source, target]``. The diagonal is 0.
        label: (B, N) class of target nodes; -1 elsewhere and where unknown.
        graph_label: (B,) class of each graph (graph classification); -1 where unknown.
        row: (B, N) the node's row in its type's feature table; -1 where there is none. For real
            subgraphs this is the node's number in the data, also for types without features.
        tables: feature rows by type name; absent until features are filled in.
        edge_row: (B, N, N) the row of each cell of ``edge`` in its relation's table; -1 where there is none. None where
            no edge has a row. Both directions of an edge have one row, unless the schema says that they differ.
        edge_tables: rows of edges by the label of their relation; absent until features are filled in.

    Graphs share their tables, so that selecting, joining and bootstrapping graphs copies no features.
    """

    schema: Schema
    node_type: Tensor
    edge: Tensor
    label: Tensor
    graph_label: Tensor
    row: Tensor
    tables: dict[str, Tensor] = field(default_factory=dict)
    edge_row: Tensor | None = None
    edge_tables: dict[str, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        instance("schema", self.schema, Schema, "a Schema")
        for name in ("node_type", "edge", "label", "graph_label", "row"):
            instance(name, getattr(self, name), Tensor, "a tensor")
        if self.node_type.dim() != 2:
            found = tuple(self.node_type.shape)
            raise SchemaError(f"GraphBatch.node_type has shape {found}; it must be (graphs, nodes of the largest)")
        count, size = self.node_type.shape
        shapes = {"edge": (count, size, size), "label": (count, size), "row": (count, size), "graph_label": (count,)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise SchemaError(f"GraphBatch.{name} has shape {tuple(getattr(self, name).shape)}; it must be {shape}")
        instance("tables", self.tables, dict, "a dictionary of feature tables by node type")
        for name, table in self.tables.items():
            width = self.schema.spec(name).width
            instance(f"The feature table of '{name}'", table, Tensor, "a tensor")
            if table.dim() != 2 or table.size(1) != width:
                raise SchemaError(
                    f"The feature table of '{name}' has shape {tuple(table.shape)}; it needs {width} columns"
                )
        check_edge_tables(self.schema, self.edge, self.edge_row, self.edge_tables)

    # -- size and content -----------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.node_type.size(0)

    @property
    def mask(self) -> Tensor:
        """(B, N) True on nodes, False on padding."""
        return self.node_type >= 0

    @property
    def sizes(self) -> Tensor:
        """(B,) nodes per graph."""
        return self.mask.sum(1)

    @property
    def target_mask(self) -> Tensor:
        """(B, N) True on nodes that are answered about one by one; nowhere where answers are about whole graphs."""
        return self.schema.task.node_mask(self.node_type, self.schema.node_types)

    @property
    def undirected(self) -> Tensor:
        """(B, N, N) True where two nodes are joined, whatever the relation and its orientation."""
        return (self.edge > 0) | (self.edge > 0).transpose(1, 2)

    def features(self, node_type: str) -> Tensor:
        """Feature rows of all nodes of a type, in order of graph and position.  (n, d)"""
        spec = self.schema.spec(node_type)
        rows = self.row[self.node_type == self.schema.type_index(node_type)]
        if spec.kind is FeatureKind.NONE:
            return torch.tensor(spec.constant or (), dtype=torch.float32).repeat(len(rows), 1)
        if not len(rows):
            return torch.empty(0, spec.width)
        if node_type not in self.tables:
            raise SchemaError(f"The features of '{node_type}' are not filled in yet; use a FeatureBank")
        return self.tables[node_type][rows]

    def check(self) -> GraphBatch:
        """Raises where the tensors break a promise of this class; returns itself."""
        size = self.node_type.size(1)
        classes = self.schema.num_classes
        pair = self.mask[:, :, None] & self.mask[:, None, :]
        both = self.edge.transpose(1, 2)
        symmetric = torch.tensor([True, *(not relation.directed for relation in self.schema.relations)])
        allowed = torch.from_numpy(self.schema.allowed)
        types = self.node_type.clamp(0, len(self.schema.node_types) - 1)
        relation = self.edge.clamp(0, len(self.schema.relations))
        fits = allowed[types[:, :, None], types[:, None, :], relation]
        problems = {
            "an unknown node type": _outside(self.node_type, PADDING, len(self.schema.node_types)),
            "an unknown relation": _outside(self.edge, 0, len(self.schema.relations) + 1),
            "an edge on padding": bool(((self.edge != 0) & ~pair).any()),
            "a self-loop": bool(self.edge[:, range(size), range(size)].any()),
            "an undirected edge in one direction only": bool(
                (symmetric[relation] & (both != self.edge) & (self.edge > 0)).any()
            ),
            "a relation between types that the metagraph does not join": bool((~fits & pair).any()),
            "a label outside the classes": _outside(self.label, PADDING, classes)
            or _outside(self.graph_label, PADDING, classes),
            "a label on a node that is not of the target type": bool((~self.target_mask & (self.label >= 0)).any()),
            "a row that its feature table does not have": any(
                _outside(self.row[self.node_type == self.schema.type_index(name)], 0, len(table))
                for name, table in self.tables.items()
            ),
            "a row of an edge that its feature table does not have": bool(self.edge_tables)
            and rows_outside(self.schema, self.edge, self.edge_row, self.edge_tables),
        }
        found = [problem for problem, there in problems.items() if there]
        if found:
            raise SchemaError(f"This batch has {' and '.join(found)}")
        return self

    # -- new batches ----------------------------------------------------------------------------------

    def __getitem__(self, index: int | slice | Sequence[int] | Tensor) -> GraphBatch:
        """Some of the graphs, trimmed to the largest of them."""
        if not isinstance(index, slice):
            index = self._places(index)
        node_type = self.node_type[index]
        occupied = (node_type >= 0).any(0).nonzero()
        size = int(occupied.max()) + 1 if len(occupied) else 0
        return replace(
            self,
            node_type=node_type[:, :size],
            edge=self.edge[index][:, :size, :size],
            label=self.label[index][:, :size],
            graph_label=self.graph_label[index],
            row=self.row[index][:, :size],
            edge_row=None if self.edge_row is None else self.edge_row[index][:, :size, :size],
        )

    def _places(self, index: object) -> Tensor:
        """Numbers of graphs, or a mask of them.  (n,)"""
        try:
            places = torch.as_tensor(index).reshape(-1)
        except (TypeError, ValueError, RuntimeError) as error:
            raise SchemaError(f"{shown(index)} is no place in a batch; give numbers of graphs, or a mask") from error
        count, mask = len(self), places.dtype == torch.bool
        if places.is_floating_point() and len(places):  # of an empty list, too
            raise SchemaError(f"{shown(index)} is no place in a batch; give whole numbers, or a mask")
        if len(places) != count if mask else _outside(places, -count, count):
            raise OutOfRangeError(f"The batch has {count} graphs, which {shown(index)} does not fit; give places in it")
        return places if mask else places.long()

    def permute(self, order: Tensor) -> GraphBatch:
        """The same graphs with nodes reordered: node i of graph b was node ``order[b, i]``.  order: (B, N)"""
        instance("order", order, Tensor, "a tensor of positions")
        shape = self.node_type.shape
        if order.dtype != torch.long or order.shape != shape or _outside(order, 0, max(shape[1], 1)):
            raise SchemaError(
                f"order is {order.dtype} of shape {tuple(order.shape)}; give positions from 0 to {shape[1] - 1}, "
                f"whole numbers (torch.long) of shape {tuple(shape)}"
            )

        def moved(cells: Tensor) -> Tensor:
            by_source = cells.gather(1, order[:, :, None].expand_as(cells))
            return by_source.gather(2, order[:, None, :].expand_as(cells))

        return replace(
            self,
            node_type=self.node_type.gather(1, order),
            edge=moved(self.edge),
            edge_row=None if self.edge_row is None else moved(self.edge_row),
            label=self.label.gather(1, order),
            row=self.row.gather(1, order),
        )

    def without_features(self) -> GraphBatch:
        """The typed structure alone."""
        return replace(self, tables={}, row=torch.full_like(self.row, PADDING), edge_row=None, edge_tables={})

    def without_labels(self) -> GraphBatch:
        """What the model and the reader see: classes of nodes and graphs are what somebody meant them to be."""
        return replace(
            self, label=torch.full_like(self.label, PADDING), graph_label=torch.full_like(self.graph_label, PADDING)
        )

    @staticmethod
    def cat(batches: Sequence[GraphBatch]) -> GraphBatch:
        """One batch of all graphs, padded to the largest. Equal tables are shared, others joined."""
        if not batches:
            raise SchemaError("There is nothing to join; give at least one batch")
        instance("batches", batches, (list, tuple), "a list of GraphBatch objects")
        for batch in batches:
            instance("A batch to join", batch, GraphBatch, "a GraphBatch")
        first = batches[0]
        if any(batch.schema != first.schema for batch in batches):
            raise SchemaError("Only batches of one schema can be joined")
        size = max(batch.node_type.size(1) for batch in batches)
        tables, rows = _join_tables(batches)
        return GraphBatch(
            schema=first.schema,
            node_type=torch.cat([_pad(batch.node_type, size, PADDING) for batch in batches]),
            edge=torch.cat([_pad(batch.edge, size, 0, dims=2) for batch in batches]),
            label=torch.cat([_pad(batch.label, size, PADDING) for batch in batches]),
            graph_label=torch.cat([batch.graph_label for batch in batches]),
            row=torch.cat([_pad(row, size, PADDING) for row in rows]),
            tables=tables,
            **joined_edge_tables(batches, size),
        )

    # -- files ----------------------------------------------------------------------------------------

    def packed(self) -> dict[str, Tensor]:
        """Tensors for a file: the graphs and the feature rows they use."""
        tensors = {name: getattr(self, name) for name in ("node_type", "label", "graph_label")}
        tensors["edge"] = self.edge.to(torch.int16)
        row = self.row.clone()
        for name, table in self.tables.items():
            here = self.node_type == self.schema.type_index(name)
            used, position = torch.unique(row[here], return_inverse=True)
            row[here] = position
            tensors |= pack_table(f"table.{name}", table[used], self.schema.spec(name).kind)
        return tensors | {"row": row} | packed_edges(self.schema, self.edge, self.edge_row, self.edge_tables)

    @classmethod
    def unpacked(cls, schema: Schema, tensors: Mapping[str, Tensor]) -> GraphBatch:
        """The graphs of what :meth:`packed` gave.

        Raises:
            SchemaError: something is missing or does not fit.
        """
        instance("schema", schema, Schema, "a Schema")
        instance("tensors", tensors, Mapping, "a dictionary of tensors by name")
        for name, value in tensors.items():
            instance(name, value, Tensor, "a tensor")
        missing = {"node_type", "edge", "label", "graph_label", "row"} - set(tensors)
        if missing:
            raise SchemaError(f"it lacks {', '.join(sorted(missing))}")
        tables: dict[str, Tensor] = {}
        lost: list[str] = []  # types whose nodes have no features, though others have some
        for name in schema.node_types:
            table = unpack_table(f"table.{name}", tensors, schema.spec(name))
            if table is not None:
                tables[name] = table
            elif bool((tensors["node_type"] == schema.type_index(name)).any()) and schema.spec(name).generated:
                lost.append(name)
        if tables and lost:
            raise SchemaError(f"it lacks the features of '{lost[0]}'")
        node_type, label, graph_label, row = (tensors[name] for name in ("node_type", "label", "graph_label", "row"))
        edge = tensors["edge"].long()
        edges = unpacked_edges(schema, edge, tensors)
        return cls(schema, node_type, edge, label, graph_label, row, tables, **edges).check()

    @plain_torch()
    def save(self, path: Path | str) -> None:
        """Writes a safetensors file that holds the graphs, the feature rows they use, and the schema."""
        save_tensors(
            checked_path("path", path), self.packed(), {"format": "dignn.GraphBatch.1", "schema": self.schema.to_json()}
        )

    @classmethod
    @plain_torch()
    def load(cls, path: Path | str) -> GraphBatch:
        """Reads what :meth:`save` wrote.

        Raises:
            RunFolderError: the file is damaged.
        """
        tensors, metadata = load_tensors(checked_path("path", path), "dignn.GraphBatch.1")
        try:
            return cls.unpacked(Schema.from_json(metadata["schema"]), tensors)
        except (KeyError, IndexError, RuntimeError, ValueError) as error:
            raise RunFolderError(f"{path} is damaged ({error}); delete it and run again") from error


def spread(count: int, most: int) -> list[int]:
    """At most ``most`` numbers below ``count``, evenly spread: batches are often ordered by size."""
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, most)).astype(int)).tolist() if count else []


def _pad(tensor: Tensor, size: int, value: int, dims: int = 1) -> Tensor:
    extra = size - tensor.size(1)
    return torch.nn.functional.pad(tensor, (0, extra) * dims, value=value) if extra else tensor


def _join_tables(batches: Sequence[GraphBatch]) -> tuple[dict[str, Tensor], list[Tensor]]:
    tables: dict[str, Tensor] = {}
    rows = [batch.row.clone() for batch in batches]
    for name in dict.fromkeys(name for batch in batches for name in batch.tables):
        here = [batch.node_type == batch.schema.type_index(name) for batch in batches]
        tables[name] = join_tables(name, [batch.tables.get(name) for batch in batches], rows, here)
    return tables, rows
