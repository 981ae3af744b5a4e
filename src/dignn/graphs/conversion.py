"""GraphBatch to and from the graph classes of PyTorch Geometric and networkx.

What a conversion does with input that a simple typed graph cannot hold (self-loops, repeated edges, several
relations between one pair of nodes) is defined in one place, :func:`dignn.graphs.typed_edges.typed_edges_of`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot, pad
from torch_geometric.data import Batch, Data, HeteroData

from dignn.core.errors import SchemaError
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.column_checks import check_rows
from dignn.graphs.edge_forms import write_edges
from dignn.graphs.edge_rows import edge_rows_of
from dignn.graphs.edge_tables import NO_ROW, fields_of_edges
from dignn.graphs.feature_matrix import as_given, dense
from dignn.graphs.flattening import FlatGraphs, flatten_for
from dignn.graphs.schema import EdgeType, Layout, Schema
from dignn.graphs.typed_edges import typed_edges_of

# -- from PyTorch Geometric ---------------------------------------------------------------------------


def from_pyg(graphs: Any, schema: Schema) -> GraphBatch:
    """Small graphs, in any form that :func:`~dignn.graphs.intake.given_graphs` knows, as one batch.

    Nodes of a ``Data`` keep their order; those of a ``HeteroData`` are listed type by type.
    """
    return batch_of_view(flatten_for(graphs, schema), schema)


def batch_of_view(view: FlatGraphs, schema: Schema) -> GraphBatch:
    """Small graphs that have been read, as one batch."""
    unknown = set(view.type_names) - set(schema.node_types)
    if unknown:
        raise SchemaError(
            f"Node types {sorted(unknown)} are not in the schema; it knows {', '.join(schema.node_types)}"
        )
    code = np.array([schema.type_index(name) for name in view.type_names])
    tables = {}
    for name, x in view.x.items():
        spec = schema.spec(name)
        found = 0 if x is None else x.size(1)
        present = bool((view.node_type == view.type_names.index(name)).any())
        if found != spec.width and present:
            raise SchemaError(f"Node type '{name}' has {found} feature columns here and {spec.width} in the schema")
        if x is not None and spec.generated:
            tables[name] = check_rows(dense(x), spec, name) if present else torch.zeros(0, spec.width)
    return batch_of_flat(view, schema, code, tables)


def batch_of_flat(view: FlatGraphs, schema: Schema, code: np.ndarray, tables: dict[str, Tensor]) -> GraphBatch:
    """``code`` holds the schema's number of each of the view's types."""
    sizes = np.diff(view.graph_ptr)
    graph = np.repeat(np.arange(len(sizes)), sizes)
    position = np.arange(len(view.node_type)) - view.graph_ptr[graph]
    shape = (len(sizes), int(sizes.max(initial=0)))

    def place(values: np.ndarray) -> Tensor:
        out = torch.full(shape, PADDING, dtype=torch.long)
        out[graph, position] = torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64))
        return out

    cells = typed_edges_of(view, schema)
    edge = torch.zeros(*shape, shape[1], dtype=torch.long)
    source, target = cells.ends
    places = graph[source], position[source], position[target]
    edge[places] = torch.from_numpy(cells.relation.astype(np.int64))
    rows = edge_rows_of(view, schema, cells)
    edge_row = None
    if rows is not None:
        edge_row = torch.full_like(edge, NO_ROW)
        edge_row[places] = torch.from_numpy(rows.row)
    return GraphBatch(
        schema=schema,
        node_type=place(code[view.node_type]),
        edge=edge,
        label=place(view.label),
        graph_label=torch.from_numpy(view.graph_label.astype(np.int64)),
        row=place(view.row),
        tables=tables,
        edge_row=edge_row,
        edge_tables={} if rows is None else rows.tables,
    )


# -- to PyTorch Geometric -----------------------------------------------------------------------------


def to_pyg(batch: GraphBatch, marked: Sequence[int | None] | None = None) -> list[Data] | list[HeteroData]:
    """One ``Data`` or ``HeteroData`` (the schema's layout) per graph, both directions of every relation.

    They are as the data's own: features of its dtype and layout, edges in its fields and form.

    Args:
        batch: the graphs.
        marked: position of the classified node of each graph. It gets a True in the boolean vector ``classified`` of
            the target's nodes, and all others a False. Graphs that are classified as a whole have none.
    """
    if marked is not None and len(marked) != len(batch):
        raise SchemaError(f"{len(marked)} marked nodes were given for {len(batch)} graphs; give one for each")
    graphs = []
    for number in range(len(batch)):
        one, mark = batch[number], None if marked is None else marked[number]
        graph = _converted(one, None, _plain(batch.schema))
        if mark is not None and not batch.schema.task.of_graphs:
            chosen = torch.zeros_like(one.mask)
            chosen[0, mark] = True
            targets = one.target_mask if isinstance(graph, HeteroData) else one.mask
            store = graph[batch.schema.target] if isinstance(graph, HeteroData) else graph
            store.classified = chosen[targets]
        graphs.append(graph)
    return graphs


def to_disjoint(batch: GraphBatch, edge_weight: Tensor | None = None) -> Data | HeteroData:
    """All graphs side by side in one ``Batch`` of ``Data`` or ``HeteroData``, with the fields that loaders give it.

    Nodes come in order of graph and position (within each type, for ``HeteroData``). Every node type and edge
    type of the schema is there, if need be empty. ``edge_weight`` (B, N, N) becomes the attribute
    :func:`weight_field` of the edges; a reverse edge has the weight of its forward edge.
    """
    if edge_weight is not None and edge_weight.shape != batch.edge.shape:
        raise SchemaError(f"edge_weight has shape {tuple(edge_weight.shape)}; it must be {tuple(batch.edge.shape)}")
    data = _converted(batch, edge_weight, Batch(_base_cls=type(_plain(batch.schema))))
    data._num_graphs = len(batch)
    return data


def weight_field(schema: Schema) -> str:
    """What weights of edges that are given beside a batch are called: ``edge_weight``, unless the data has its own."""
    own = {field.name for features in schema.edge_features for field in features.fields}
    return "message_weight" if "edge_weight" in own else "edge_weight"


def _plain(schema: Schema) -> Data | HeteroData:
    return HeteroData() if schema.layout is Layout.HETERO else Data()


def _converted(batch: GraphBatch, edge_weight: Tensor | None, data: Any) -> Any:
    convert = _to_hetero if batch.schema.layout is Layout.HETERO else _to_homogeneous
    convert(batch, edge_weight, data)
    return data


def _to_hetero(batch: GraphBatch, edge_weight: Tensor | None, data: HeteroData) -> None:
    schema = batch.schema
    together = isinstance(data, Batch)
    number = torch.full_like(batch.node_type, PADDING)  # number of a node among those of its type
    counts = {}
    for code, name in enumerate(schema.node_types):
        here = batch.node_type == code
        graph = here.nonzero()[:, 0]
        counts[name] = len(graph)
        number[here] = torch.arange(len(graph))
        store = data[name]
        if schema.spec(code).width:
            store.x = as_given(batch.features(name), schema.spec(code))
        store.num_nodes = counts[name]
        if together:
            store.batch, store.ptr = graph, _starts(here)
        if name == schema.target:
            store.y = batch.label[here]
    for edge_type in schema.edge_types_as_stored:
        data[edge_type]  # makes a place for its edges, in the order that some layers go by
    for edge_type, index, attributes in _edges(batch, number, edge_weight):
        sizes = counts[edge_type[0]], counts[edge_type[2]]
        write_edges(data[edge_type], index, sizes, schema.edge_form, attributes)
    if schema.task.of_graphs:
        data.y = batch.graph_label


def _to_homogeneous(batch: GraphBatch, edge_weight: Tensor | None, data: Data) -> None:
    schema = batch.schema
    mask = batch.mask
    graph = mask.nonzero()[:, 0]
    count = len(graph)
    number = torch.full_like(batch.node_type, PADDING)
    number[mask] = torch.arange(count)
    data.num_nodes = count
    if isinstance(data, Batch):
        data.batch, data.ptr = graph, _starts(mask)
    spec = schema.features[0]
    if schema.type_in_x:
        data.x = as_given(one_hot(batch.node_type[mask], len(schema.node_types)).float(), spec)
    elif spec.width:
        x = torch.zeros(count, spec.width)
        for code, name in enumerate(schema.node_types):
            x[batch.node_type[mask] == code] = batch.features(name)
        data.x = as_given(x, spec)
    told = schema.edge_attr_names if schema.edge_type_names is None else schema.edge_type_names
    pieces, names = [torch.empty(2, 0, dtype=torch.long)], [torch.empty(0, dtype=torch.long)]
    carried: dict[str, list[Tensor]] = {}
    for (_, name, _), pairs, several in _edges(batch, number, edge_weight):
        pieces.append(pairs)
        for field, values in several.items():
            carried.setdefault(field, []).append(values)
        if told is not None:
            names.append(torch.full((pairs.size(1),), told.index(name)))
    index = torch.cat(pieces, dim=1)
    order = torch.argsort(index[0] * max(count, 1) + index[1], stable=True)
    attributes = {}
    if schema.edge_attr_names is not None:
        attributes["edge_attr"] = one_hot(torch.cat(names)[order], len(schema.edge_attr_names)).float()
    if schema.edge_type_names is not None:
        attributes["edge_type"] = torch.cat(names)[order]
    attributes |= {field: torch.cat(values)[order] for field, values in carried.items()}
    write_edges(data._store, index[:, order], (count, count), schema.edge_form, attributes)
    data.y = schema.task.node_class(batch.label[mask], batch.graph_label)


def _starts(here: Tensor) -> Tensor:
    """(B + 1,) where each graph begins, and the last ends, among the nodes at these places (B, N)."""
    return pad(here.sum(1).cumsum(0), (1, 0))


def _edges(
    batch: GraphBatch, number: Tensor, edge_weight: Tensor | None
) -> Iterator[tuple[EdgeType, Tensor, dict[str, Tensor]]]:
    """Every edge type, its edges (2, E) between nodes that are called by their ``number`` (B, N), and their fields."""
    for code, relation in enumerate(batch.schema.relations, start=1):
        cells = batch.edge == code
        source, target = batch.schema.ends(code)
        if source != target:  # stored both ways; the types tell which is forward
            cells = cells & (batch.node_type == source)[:, :, None]
        graph, u, v = cells.nonzero(as_tuple=True)
        index = torch.stack([number[graph, u], number[graph, v]])
        weight = {} if edge_weight is None else {weight_field(batch.schema): edge_weight[graph, u, v]}
        fields = fields_of_edges(batch, relation, (graph, u, v))
        for edge_type, pairs in zip(relation.edge_types, (index, index.flip(0)), strict=False):
            yield edge_type, pairs, fields.get(edge_type, {}) | weight


# -- networkx -----------------------------------------------------------------------------------------


def to_networkx(batch: GraphBatch, number: int = 0) -> nx.Graph | nx.DiGraph:
    """One graph of the batch; a ``DiGraph`` if the schema has a directed relation, else a ``Graph``.

    Node attributes: ``type``, and where known ``label``, ``row`` and ``x``. Edge attributes: ``relation`` (number from
    1), ``name`` and, where edges carry something, ``x``. The graph attribute ``label`` is its class. In a ``DiGraph``
    an undirected edge stands in both directions; in a ``Graph`` it has the row of the way that comes last, from the
    larger position to the smaller, where the two differ.
    """
    one = batch[number]
    schema = one.schema
    directed = any(relation.directed for relation in schema.relations)
    graph: nx.Graph | nx.DiGraph = nx.DiGraph() if directed else nx.Graph()
    if int(one.graph_label[0]) >= 0:
        graph.graph["label"] = int(one.graph_label[0])
    for node in one.mask[0].nonzero()[:, 0].tolist():
        kind, row, label = (int(values[0, node]) for values in (one.node_type, one.row, one.label))
        name = schema.node_types[kind]
        graph.add_node(node, type=name)
        if row >= 0:
            graph.nodes[node]["row"] = row
        if name in one.tables and row >= 0:
            graph.nodes[node]["x"] = one.tables[name][row].tolist()
        if label >= 0:
            graph.nodes[node]["label"] = label
    for u, v in one.edge[0].nonzero().tolist():
        relation = int(one.edge[0, u, v])
        known = schema.relations[relation - 1]
        graph.add_edge(u, v, relation=relation, name=known.name)
        if known.label in one.edge_tables and one.edge_row is not None:
            graph.edges[u, v]["x"] = one.edge_tables[known.label][int(one.edge_row[0, u, v])].tolist()
    return graph
