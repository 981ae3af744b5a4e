"""GraphBatch to and from the graph classes of PyTorch Geometric and networkx.

What a conversion does with input that a simple typed graph cannot hold (self-loops, repeated edges, several
relations between one pair of nodes) is defined in one place, :func:`dignn.cells.cells_of`.
"""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot
from torch_geometric.data import Data, HeteroData

from dignn.batch import PADDING, GraphBatch
from dignn.cells import cells_of
from dignn.errors import SchemaError
from dignn.schema import EdgeType, Layout, Schema
from dignn.view import View, view_for

# -- from PyTorch Geometric ---------------------------------------------------------------------------


def from_pyg(graphs: Data | HeteroData | Sequence[Data | HeteroData], schema: Schema) -> GraphBatch:
    """Small graphs as one batch.

    Nodes of a ``Data`` keep their order; those of a ``HeteroData`` are listed type by type.
    """
    view = view_for(graphs, schema)
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
            tables[name] = x if present else x.new_zeros(0, spec.width)
    return _from_view(view, schema, code, tables)


def _from_view(view: View, schema: Schema, code: np.ndarray, tables: dict[str, Tensor]) -> GraphBatch:
    """``code`` holds the schema's number of each of the view's types."""
    sizes = np.diff(view.graph_ptr)
    graph = np.repeat(np.arange(len(sizes)), sizes)
    position = np.arange(len(view.node_type)) - view.graph_ptr[graph]
    shape = (len(sizes), int(sizes.max(initial=0)))

    def place(values: np.ndarray) -> Tensor:
        out = torch.full(shape, PADDING, dtype=torch.long)
        out[graph, position] = torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64))
        return out

    cells = cells_of(view, schema)
    edge = torch.zeros(*shape, shape[1], dtype=torch.long)
    edge[graph[cells.source], position[cells.source], position[cells.target]] = torch.from_numpy(cells.relation)
    graph_label = np.full(len(sizes), PADDING) if view.graph_label is None else view.graph_label
    return GraphBatch(
        schema=schema,
        node_type=place(code[view.node_type]),
        edge=edge,
        label=place(view.label),
        graph_label=torch.from_numpy(graph_label.astype(np.int64)),
        row=place(view.row),
        tables=tables,
    )


# -- to PyTorch Geometric -----------------------------------------------------------------------------


def to_pyg(batch: GraphBatch) -> list[Data] | list[HeteroData]:
    """One ``Data`` or ``HeteroData`` (the schema's layout) per graph, both directions of every relation."""
    graphs = [to_disjoint(batch[number]) for number in range(len(batch))]
    for graph in graphs:
        stores = graph.node_stores if isinstance(graph, HeteroData) else [graph]
        for store in stores:
            del store["batch"]
    return graphs


def to_disjoint(batch: GraphBatch, edge_weight: Tensor | None = None) -> Data | HeteroData:
    """All graphs side by side in one ``Data`` or ``HeteroData``, with ``batch`` vectors that tell them apart.

    Nodes come in order of graph and position (within each type, for ``HeteroData``). Every node type and edge
    type of the schema is there, if need be empty. ``edge_weight`` (B, N, N) becomes the attribute
    ``edge_weight`` of the edges; a reverse edge has the weight of its forward edge.
    """
    if edge_weight is not None and edge_weight.shape != batch.edge.shape:
        raise SchemaError(f"edge_weight has shape {tuple(edge_weight.shape)}; it must be {tuple(batch.edge.shape)}")
    convert = _to_hetero if batch.schema.layout is Layout.HETERO else _to_homogeneous
    return convert(batch, edge_weight)


def _to_hetero(batch: GraphBatch, edge_weight: Tensor | None) -> HeteroData:
    schema = batch.schema
    data = HeteroData()
    number = torch.full_like(batch.node_type, PADDING)  # number of a node among those of its type
    for code, name in enumerate(schema.node_types):
        here = batch.node_type == code
        number[here] = torch.arange(int(here.sum()))
        if schema.spec(code).width:
            data[name].x = batch.features(name)
        data[name].num_nodes = int(here.sum())
        data[name].batch = here.nonzero()[:, 0]
        if name == schema.target:
            data[name].y = batch.label[here]
    for code, relation in enumerate(schema.relations, start=1):
        graph, u, v = _arcs(batch, code)
        index = torch.stack([number[graph, u], number[graph, v]])
        for edge_type, pairs in zip(relation.edge_types, (index, index.flip(0)), strict=False):
            data[edge_type].edge_index = pairs
            if edge_weight is not None:
                data[edge_type].edge_weight = edge_weight[graph, u, v]
    if schema.target is None:
        data.y = batch.graph_label
    return data


def _to_homogeneous(batch: GraphBatch, edge_weight: Tensor | None) -> Data:
    schema = batch.schema
    mask = batch.mask
    number = torch.full_like(batch.node_type, PADDING)
    number[mask] = torch.arange(int(mask.sum()))
    data = Data(num_nodes=int(mask.sum()), batch=mask.nonzero()[:, 0])
    if schema.type_in_x:
        data.x = one_hot(batch.node_type[mask], len(schema.node_types)).float()
    elif schema.features[0].width:
        x = torch.zeros(int(mask.sum()), schema.features[0].width)
        for code, name in enumerate(schema.node_types):
            x[batch.node_type[mask] == code] = batch.features(name)
        data.x = x
    pieces, names, weights = [torch.empty(2, 0, dtype=torch.long)], [torch.empty(0, dtype=torch.long)], []
    for code, relation in enumerate(schema.relations, start=1):
        graph, u, v = _arcs(batch, code)
        index = torch.stack([number[graph, u], number[graph, v]])
        for (_, name, _), pairs in zip(relation.edge_types, (index, index.flip(0)), strict=False):
            pieces.append(pairs)
            if edge_weight is not None:
                weights.append(edge_weight[graph, u, v])
            if schema.edge_attr_names is not None:
                names.append(torch.full((pairs.size(1),), schema.edge_attr_names.index(name)))
    index = torch.cat(pieces, dim=1)
    order = torch.argsort(index[0] * max(data.num_nodes, 1) + index[1], stable=True)
    data.edge_index = index[:, order]
    if schema.edge_attr_names is not None:
        data.edge_attr = one_hot(torch.cat(names)[order], len(schema.edge_attr_names)).float()
    if weights:
        data.edge_weight = torch.cat(weights)[order]
    data.y = batch.graph_label if schema.target is None else batch.label[mask]
    return data


def _arcs(batch: GraphBatch, relation: int) -> tuple[Tensor, Tensor, Tensor]:
    """Graph, source and target position of the forward arcs of a relation."""
    source, target = batch.schema.ends(relation)
    cells = batch.edge == relation
    if source != target:  # stored both ways; the types tell which is forward
        cells = cells & (batch.node_type == source)[:, :, None]
    graph, u, v = cells.nonzero(as_tuple=True)
    return graph, u, v


# -- networkx -----------------------------------------------------------------------------------------


def to_networkx(batch: GraphBatch, number: int = 0) -> nx.Graph | nx.DiGraph:
    """One graph of the batch; a ``DiGraph`` if the schema has a directed relation, else a ``Graph``.

    Node attributes: ``type``, and where known ``label``, ``row`` and ``x``. Edge attributes: ``relation``
    (number from 1) and ``name``. The graph attribute ``label`` is its class. In a ``DiGraph`` an undirected
    edge stands in both directions.
    """
    one = batch[number]
    schema = one.schema
    directed = any(relation.directed for relation in schema.relations)
    graph: nx.Graph | nx.DiGraph = nx.DiGraph() if directed else nx.Graph()
    if int(one.graph_label[0]) >= 0:
        graph.graph["label"] = int(one.graph_label[0])
    for node in one.mask[0].nonzero()[:, 0].tolist():
        name = schema.node_types[int(one.node_type[0, node])]
        graph.add_node(node, type=name)
        row = int(one.row[0, node])
        if row >= 0:
            graph.nodes[node]["row"] = row
        if name in one.tables and row >= 0:
            graph.nodes[node]["x"] = one.tables[name][row].tolist()
        if int(one.label[0, node]) >= 0:
            graph.nodes[node]["label"] = int(one.label[0, node])
    for u, v in one.edge[0].nonzero().tolist():
        relation = int(one.edge[0, u, v])
        graph.add_edge(u, v, relation=relation, name=schema.relations[relation - 1].name)
    return graph


def from_networkx(graphs: nx.Graph | nx.DiGraph | Sequence[nx.Graph | nx.DiGraph], schema: Schema) -> GraphBatch:
    """Graphs with the attributes that :func:`to_networkx` writes, as one batch.

    An edge's ``relation`` may be a number, a name, or missing where the types of its ends allow only one
    relation. Features ``x`` are given for all nodes of a type or for none.
    """
    several = [graphs] if isinstance(graphs, nx.Graph) else list(graphs)
    view = _networkx_view(several, schema)
    tables = {name: x for name, x in view.x.items() if x is not None and schema.spec(name).generated}
    return _from_view(view, schema, np.arange(len(schema.node_types)), tables).check()


def _networkx_view(graphs: Sequence[nx.Graph | nx.DiGraph], schema: Schema) -> View:
    nodes: list[tuple[int, int, int]] = []  # type, row, label
    edges: dict[EdgeType, list[tuple[int, int]]] = {}
    rows: dict[str, list[list[float]]] = {}
    bare: dict[str, object] = {}  # a node without x, by type
    for graph in graphs:
        number = {node: i for i, node in enumerate(graph, start=len(nodes))}
        for node, attributes in graph.nodes(data=True):
            name = attributes.get("type", schema.node_types[0] if len(schema.node_types) == 1 else None)
            if name is None:
                raise SchemaError(
                    f"Node {node!r} has no attribute 'type'; set it to one of {', '.join(schema.node_types)}"
                )
            code, row = schema.type_index(name), attributes.get("row", PADDING)
            if "x" in attributes:
                x, row = list(attributes["x"]), len(rows.setdefault(name, []))
                rows[name].append(x)
                if len(x) != schema.spec(code).width:
                    raise SchemaError(
                        f"Node {node!r} of type '{name}' has {len(x)} feature columns, "
                        f"and {schema.spec(code).width} in the schema"
                    )
            else:
                bare[name] = node
            nodes.append((code, row, attributes.get("label", PADDING)))
        for a, b, attributes in graph.edges(data=True):
            u, v = number[a], number[b]
            relation = schema.relations[_relation_number(schema, nodes[u][0], nodes[v][0], attributes) - 1]
            if relation.directed and not graph.is_directed():
                raise SchemaError(f"Relation {relation.label} is directed; give a DiGraph")
            forward = schema.node_types[nodes[u][0]] == relation.source
            edges.setdefault(relation.edge_type, []).append((u, v) if forward else (v, u))
    for name in bare.keys() & rows.keys():
        raise SchemaError(f"Node {bare[name]!r} of type '{name}' has no 'x', but others have; give all or none")
    node_type, row_numbers, label = np.array(nodes, dtype=np.int64).reshape(-1, 3).T
    return View(
        type_names=schema.node_types,
        node_type=node_type,
        row=row_numbers,
        graph_ptr=np.cumsum([0, *(len(graph) for graph in graphs)]),
        x={name: torch.tensor(values, dtype=torch.float32) for name, values in rows.items()},
        edges={edge_type: np.array(pairs, dtype=np.int64).T for edge_type, pairs in edges.items()},
        label=label,
        graph_label=np.array([graph.graph.get("label", PADDING) for graph in graphs], dtype=np.int64),
    )


def _relation_number(schema: Schema, source: int, target: int, attributes: dict) -> int:
    wanted = attributes.get("relation", attributes.get("name"))
    options = [
        number
        for number, relation in enumerate(schema.relations, start=1)
        if schema.allowed[source, target, number] and wanted in (None, number, relation.name)
    ]
    ends = f"'{schema.node_types[source]}' and '{schema.node_types[target]}'"
    if len(options) != 1:
        known = "no relation" if not options else "several relations"
        raise SchemaError(
            f"The schema has {known}{'' if wanted is None else f' {wanted}'} between {ends}; set the edge's 'relation'"
        )
    return options[0]
