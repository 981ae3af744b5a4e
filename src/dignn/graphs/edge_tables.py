"""The rows of edges in a batch of graphs: which edge has which, what it holds, and how batches join and keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn.functional import pad

from dignn.core.checks import instance
from dignn.core.errors import SchemaError
from dignn.graphs.feature_matrix import of_dtype
from dignn.graphs.joined_tables import join_tables
from dignn.graphs.packed_tables import outside, pack_table, unpack_table
from dignn.graphs.relation import EdgeType, Relation
from dignn.graphs.schema import Schema

NO_ROW = -1
Cells = tuple[Tensor, Tensor, Tensor]
"""Graph, source and target of some edges.  (e,) each"""


class WithEdgeRows(Protocol):
    """Graphs whose edges may have rows."""

    @property
    def schema(self) -> Schema: ...

    @property
    def edge(self) -> Tensor: ...

    @property
    def edge_row(self) -> Tensor | None: ...

    @property
    def edge_tables(self) -> dict[str, Tensor]: ...


def check_edge_tables(schema: Schema, edge: Tensor, edge_row: Tensor | None, tables: dict[str, Tensor]) -> None:
    """Raises where rows and tables are not what a batch of these edges (B, N, N) can have."""
    instance("edge_tables", tables, dict, "a dictionary of feature tables by the label of a relation")
    if edge_row is not None:
        instance("edge_row", edge_row, Tensor, "a tensor")
        if edge_row.shape != edge.shape:
            raise SchemaError(
                f"GraphBatch.edge_row has shape {tuple(edge_row.shape)}; it must be {tuple(edge.shape)}, as edge is"
            )
    elif tables:
        raise SchemaError("GraphBatch has edge_tables without edge_row; give the row of each edge")
    for label, table in tables.items():
        if label not in schema.generated_edges:
            known = ", ".join(schema.generated_edges) or "none"
            raise SchemaError(f"The schema has no features of edges '{label}'; it has {known}")
        width = schema.generated_edges[label].spec.width
        instance(f"The feature table of '{label}'", table, Tensor, "a tensor")
        if table.dim() != 2 or table.size(1) != width:
            raise SchemaError(
                f"The feature table of '{label}' has shape {tuple(table.shape)}; it needs {width} columns"
            )


def rows_outside(schema: Schema, edge: Tensor, edge_row: Tensor | None, tables: Mapping[str, Tensor]) -> bool:
    """Whether an edge has a row that its relation's table does not have."""
    if edge_row is None:
        return bool(tables)
    return any(
        outside(edge_row[edge == schema.generated_edges[label].relation], 0, len(table))
        for label, table in tables.items()
    )


def edge_values(batch: WithEdgeRows, label: str, cells: Cells) -> Tensor:
    """(e, d) what the edges of a relation at these cells carry.

    Args:
        batch: the graphs.
        label: of the relation, whose edges carry something.
        cells: its edges.

    Raises:
        SchemaError: they are not filled in yet.
    """
    features = batch.schema.edge_features_by_label[label]
    if not features.spec.generated:
        return torch.tensor(features.spec.constant or (), dtype=torch.float32).repeat(len(cells[0]), 1)
    if not len(cells[0]):
        return torch.empty(0, features.spec.width)
    if label not in batch.edge_tables or batch.edge_row is None:
        raise SchemaError(f"The features of the edges '{label}' are not filled in yet; use a FeatureBank")
    return batch.edge_tables[label][batch.edge_row[cells]]


def fields_of_edges(batch: WithEdgeRows, relation: Relation, cells: Cells) -> dict[EdgeType, dict[str, Tensor]]:
    """By edge type of a relation, the fields of its edges at these cells, as the data has them."""
    features = batch.schema.edge_features_by_label.get(relation.label)
    if features is None:
        return {}
    rows = edge_values(batch, relation.label, cells)
    found: dict[EdgeType, dict[str, Tensor]] = {edge_type: {} for edge_type in relation.edge_types}
    for field in features.fields:
        values = of_dtype(rows[:, features.columns(field)], field.dtype)
        for edge_type, own in found.items():
            if field.carried_by(relation, edge_type):
                own[field.name] = values[:, 0] if field.vector else values
    return found


def own_cells(batch: WithEdgeRows, node_type: Tensor, label: str) -> Cells:
    """The cells that have a row of their own, of the edges of a relation.

    Of an edge whose two directions share a row, the cell of its forward direction; inside one type, that from the
    smaller to the larger position.

    Args:
        batch: the graphs.
        node_type: (B, N) types of their nodes.
        label: of the relation.
    """
    schema = batch.schema
    features = schema.edge_features_by_label[label]
    relation = schema.relations[features.relation - 1]
    here = batch.edge == features.relation
    if relation.symmetric and features.shared:
        here = here.triu(1)
    elif relation.source != relation.target:
        here = here & (node_type == schema.type_index(relation.source))[:, :, None]
    graph, source, target = here.nonzero(as_tuple=True)
    return graph, source, target


def with_rows(batch: Any, label: str, cells: Cells, rows: Tensor, table: Tensor) -> Any:
    """The same graphs with other rows for the edges of a relation.

    Args:
        batch: a GraphBatch.
        label: of the relation.
        cells: :func:`own_cells` of it.
        rows: (e,) the row of each in the table.
        table: rows (n, d).
    """
    features = batch.schema.edge_features_by_label[label]
    relation = batch.schema.relations[features.relation - 1]
    edge_row = torch.full_like(batch.edge, NO_ROW) if batch.edge_row is None else batch.edge_row.clone()
    graph, source, target = cells
    edge_row[graph, source, target] = rows
    if features.shared and not relation.directed:
        edge_row[graph, target, source] = rows
    return replace(batch, edge_row=edge_row, edge_tables={**batch.edge_tables, label: table})


def rows_in(batch: Any, name: str) -> Tensor:
    """(n,) rows of a table that a batch uses: one for each node of a type, or for each edge of a relation.

    Args:
        batch: a GraphBatch.
        name: a node type, or the label of a relation; none where its features are not filled in.
    """
    if name in batch.tables:
        return batch.row[batch.node_type == batch.schema.type_index(name)]
    if name in batch.edge_tables:
        return batch.edge_row[own_cells(batch, batch.node_type, name)]
    return torch.empty(0, dtype=torch.long)


def table_in(batch: Any, name: str) -> Tensor:
    """(n, d) the feature table of a node type, or of the edges of a relation."""
    return batch.tables[name] if name in batch.tables else batch.edge_tables[name]


def joined_edge_tables(batches: Sequence[WithEdgeRows], size: int) -> dict[str, Any]:
    """``edge_row`` and ``edge_tables`` of all graphs, padded to ``size`` nodes. Equal tables are shared."""
    if all(batch.edge_row is None for batch in batches):
        return {}
    rows = [torch.full_like(b.edge, NO_ROW) if b.edge_row is None else b.edge_row.clone() for b in batches]
    tables: dict[str, Tensor] = {}
    for label in dict.fromkeys(label for batch in batches for label in batch.edge_tables):
        relation = batches[0].schema.edge_features_by_label[label].relation
        here = [batch.edge == relation for batch in batches]
        tables[label] = join_tables(label, [batch.edge_tables.get(label) for batch in batches], rows, here)
    wide = [pad(row, (0, size - row.size(1)) * 2, value=NO_ROW) for row in rows]
    return {"edge_row": torch.cat(wide), "edge_tables": tables}


# -- files --------------------------------------------------------------------------------------------


def packed_edges(
    schema: Schema, edge: Tensor, edge_row: Tensor | None, tables: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Tensors for a file: the rows that edges use, and which each uses, in the order of cells."""
    if edge_row is None or not tables:
        return {}
    row = edge_row.clone()
    tensors: dict[str, Tensor] = {}
    for label, table in tables.items():
        features = schema.generated_edges[label]
        here = edge == features.relation
        used, position = torch.unique(row[here], return_inverse=True)
        row[here] = position
        tensors |= pack_table(f"edges.{features.relation}", table[used], features.spec.kind)
    return tensors | {"edge_row": row[edge > 0].to(torch.int32)}


def unpacked_edges(schema: Schema, edge: Tensor, tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """``edge_row`` and ``edge_tables`` of what :func:`packed_edges` gave.

    Raises:
        SchemaError: something is missing or does not fit.
    """
    found = {
        label: table
        for label, features in schema.generated_edges.items()
        if (table := unpack_table(f"edges.{features.relation}", tensors, features.spec)) is not None
    }
    if not found:
        return {}
    lost = [
        label
        for label, features in schema.generated_edges.items()
        if label not in found and bool((edge == features.relation).any())
    ]
    if lost or "edge_row" not in tensors:
        raise SchemaError(f"it lacks the features of '{lost[0]}'" if lost else "it lacks edge_row")
    row = torch.full_like(edge, NO_ROW)
    if tensors["edge_row"].shape != (int((edge > 0).sum()),):
        raise SchemaError("edge_row does not fit the edges")
    row[edge > 0] = tensors["edge_row"].long()
    return {"edge_row": row, "edge_tables": found}
