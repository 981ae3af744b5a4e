"""Graphs with something taken away or added. Nodes keep their positions, so that a position goes on to mean a node."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import pad

from dignn.core.errors import SchemaError
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.edge_tables import NO_ROW, own_cells, with_rows


def without_nodes(batch: GraphBatch, gone: Tensor) -> GraphBatch:
    """The same graphs without some nodes and their edges; where they were is padding.  gone: (B, N) bool"""
    gone = gone & batch.mask
    cells = gone[:, :, None] | gone[:, None, :]
    return replace(
        _without_cells(batch, cells),
        node_type=batch.node_type.masked_fill(gone, PADDING),
        label=batch.label.masked_fill(gone, PADDING),
        row=batch.row.masked_fill(gone, PADDING),
    )


def with_room(batch: GraphBatch, size: int) -> GraphBatch:
    """The same graphs with padding up to ``size`` nodes; those that have as many or more stay as they are."""
    extra = max(size - batch.node_type.size(1), 0)
    cells = None if batch.edge_row is None else pad(batch.edge_row, (0, extra, 0, extra), value=NO_ROW)
    return replace(
        batch,
        node_type=pad(batch.node_type, (0, extra), value=PADDING),
        edge=pad(batch.edge, (0, extra, 0, extra)),
        label=pad(batch.label, (0, extra), value=PADDING),
        row=pad(batch.row, (0, extra), value=PADDING),
        edge_row=cells,
    )


def with_used_rows(batch: GraphBatch) -> GraphBatch:
    """The same graphs with tables of those rows only that they use: parts of a batch share its tables."""
    row, tables = batch.row.clone(), {}
    for name, table in batch.tables.items():
        here = batch.node_type == batch.schema.type_index(name)
        used, row[here] = torch.unique(row[here], return_inverse=True)
        tables[name] = table[used]
    found = replace(batch, row=row, tables=tables)
    for label, table in batch.edge_tables.items():
        assert batch.edge_row is not None  # there are tables
        cells = own_cells(batch, batch.node_type, label)
        used, place = torch.unique(batch.edge_row[cells], return_inverse=True)
        found = with_rows(found, label, cells, place, table[used])
    return found


def with_nodes(batch: GraphBatch, position: Tensor, node_type: Tensor) -> GraphBatch:
    """The same graphs with one more node each, not joined to anything.

    Args:
        batch: B graphs.
        position: (B,) where the nodes go: padding.
        node_type: (B,) what they are; -1 leaves a graph as it is.

    Raises:
        SchemaError: there is a node already, or no such position.

    Where nodes of the type carry features, the node has no row yet: :meth:`FeatureBank.redraw` gives it one.
    """
    some = (node_type >= 0).nonzero()[:, 0]
    size = batch.node_type.size(1)
    inside = bool(((position[some] >= 0) & (position[some] < size)).all())
    if not inside or bool(batch.mask[some, position[some]].any()):
        raise SchemaError("A node would go where there is one, or no room; give a position that is padding (with_room)")
    types = batch.node_type.index_put((some, position[some]), node_type[some])
    return replace(batch, node_type=types)


def without_edges(batch: GraphBatch, gone: Tensor) -> GraphBatch:
    """The same graphs without the edges between some pairs of nodes, either way round.  gone: (B, N, N) bool"""
    return _without_cells(batch, gone | gone.transpose(1, 2))


def with_edges(batch: GraphBatch, u: Tensor, v: Tensor, code: Tensor) -> GraphBatch:
    """The same graphs with one more edge each, from u to v; an edge between them is replaced.

    Args:
        batch: B graphs.
        u, v: (B,) positions of two different nodes.
        code: (B,) number of the relation, from 1; 0 leaves a graph as it is.

    Raises:
        SchemaError: the metagraph does not have such an edge.

    Where edges of the relation carry something, the edge has no row yet: :meth:`FeatureBank.redraw` of an end gives it
    one.
    """
    some = (code > 0).nonzero()[:, 0]
    u, v, code = u[some], v[some], code[some]
    ends = batch.node_type[some, u], batch.node_type[some, v]
    allowed = torch.from_numpy(batch.schema.allowed)
    if bool((torch.stack(ends) < 0).any()) or bool((u == v).any()) or not bool(allowed[(*ends, code)].all()):
        raise SchemaError("An edge would join what the metagraph does not join; choose relation and ends by the schema")
    directed = torch.tensor([False, *(relation.directed for relation in batch.schema.relations)])[code]
    found = _without_cells(batch, _cells(batch, some, u, v) | _cells(batch, some, v, u))
    edge = found.edge.clone()
    edge[some, u, v] = code
    edge[some[~directed], v[~directed], u[~directed]] = code[~directed]
    return replace(found, edge=edge)


def _cells(batch: GraphBatch, graph: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """(B, N, N) True there."""
    found = torch.zeros(batch.edge.shape, dtype=torch.bool)
    found[graph, u, v] = True
    return found


def _without_cells(batch: GraphBatch, cells: Tensor) -> GraphBatch:
    edge_row = None if batch.edge_row is None else batch.edge_row.masked_fill(cells, NO_ROW)
    return replace(batch, edge=batch.edge.masked_fill(cells, 0), edge_row=edge_row)
