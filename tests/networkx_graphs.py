"""Batches from networkx graphs, which tests write down easily: the way back of ``to_networkx``."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
import torch

from dignn.core.errors import SchemaError
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.conversion import batch_of_flat
from dignn.graphs.flattening import FlatGraphs
from dignn.graphs.schema import EdgeType, Schema


def from_networkx(graphs: nx.Graph | nx.DiGraph | Sequence[nx.Graph | nx.DiGraph], schema: Schema) -> GraphBatch:
    """Graphs with the attributes that :func:`to_networkx` writes, as one batch.

    An edge's ``relation`` may be a number, a name, or missing where the types of its ends allow only one
    relation. Features ``x`` are given for all nodes of a type or for none.
    """
    several = [graphs] if isinstance(graphs, nx.Graph) else list(graphs)
    view = _networkx_view(several, schema)
    tables = {name: x for name, x in view.x.items() if x is not None and schema.spec(name).generated}
    return batch_of_flat(view, schema, np.arange(len(schema.node_types)), tables).check()


def _networkx_view(graphs: Sequence[nx.Graph | nx.DiGraph], schema: Schema) -> FlatGraphs:
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
    return FlatGraphs(
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
