"""One graph as people read it: its edges, the named features of its nodes, what it is made of."""

from __future__ import annotations

from dignn.graphs.batch import GraphBatch
from dignn.graphs.column_words import carried
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind
from dignn.graphs.schema import Relation

# Kinds whose 0 says that something is not there.
_FLAGS = (ColumnKind.BINARY, ColumnKind.ONE_HOT)


def edges(graph: GraphBatch) -> list[tuple[int, int, Relation]]:
    """(source, target, relation) of every edge of a batch of one graph, an undirected one once.

    An edge between two types goes as its relation is named (author writes paper); an undirected one inside a type from
    the smaller number to the larger.
    """
    found = []
    schema, kinds, cells = graph.schema, graph.node_type[0].tolist(), graph.edge[0].nonzero()
    for (u, v), code in zip(cells.tolist(), graph.edge[0][cells.unbind(1)].tolist(), strict=True):
        relation = schema.relations[code - 1]
        forward = schema.node_types[kinds[u]] == relation.source
        if relation.directed or (u < v if relation.symmetric else forward):
            found.append((u, v, relation))
    return found


def type_name(graph: GraphBatch, node: int) -> str:
    """The name of a node's type."""
    return graph.schema.node_types[int(graph.node_type[0, node])]


def top_features(graph: GraphBatch, node: int, most: int = 8) -> list[tuple[str, float]]:
    """Names and values of a node's non-zero columns, largest first (columns of a continuous type by size).

    Columns that differ come in their order, categories and dates also where they are 0; a missing value is NaN.
    """
    return [(name, value) for name, value, _ in told_features(graph, node, most)]


def told_features(graph: GraphBatch, node: int, most: int) -> list[tuple[str, float, Column]]:
    """The same, and what each column holds, which says how its value is read."""
    name = type_name(graph, node)
    spec = graph.schema.spec(name)
    if spec.kind is FeatureKind.NONE or name not in graph.tables:
        return []
    row = graph.tables[name][int(graph.row[0, node])]
    return [(spec.column_name(c), float(row[c]), spec.column(c)) for c in carried(row, spec)[:most]]


def edge_features(graph: GraphBatch, u: int, v: int) -> list[tuple[str, float, Column]]:
    """What an edge of one graph carries: names, values and columns; of flags those that are set, of others all.

    Where the two directions of an undirected edge carry rows of their own, those of the way back follow, and say so.
    """
    relation = graph.schema.relations[int(graph.edge[0, u, v]) - 1]
    features = graph.schema.generated_edges.get(relation.label)
    if features is None or relation.label not in graph.edge_tables or graph.edge_row is None:
        return []
    spec, found = features.spec, []
    for cell, note in (((u, v), ""), ((v, u), " (back)"))[: 1 if features.shared else 2]:
        row = graph.edge_tables[relation.label][int(graph.edge_row[(0, *cell)])].tolist()
        for number, value in enumerate(row):
            column = spec.column(number)
            if column.kind is not ColumnKind.CONSTANT and (value != 0 or column.kind not in _FLAGS):
                found.append((f"{spec.column_name(number)}{note}", float(value), column))
    return found


def member_name(graph: GraphBatch, node: int) -> str:
    """What tells a node of an identity type from others of its type; empty for other types."""
    if graph.schema.spec(type_name(graph, node)).kind is not FeatureKind.IDENTITY:
        return ""
    features = top_features(graph, node, 1)
    return features[0][0] if features else ""


def counts(graph: GraphBatch) -> dict[str, int]:
    """How many nodes of each type there are, for types that have some."""
    found = {name: int((graph.node_type == code).sum()) for code, name in enumerate(graph.schema.node_types)}
    return {name: count for name, count in found.items() if count}


def composition(graph: GraphBatch) -> str:
    """How many nodes of each type, for example ``2 author, 5 paper``."""
    return ", ".join(f"{count} {name}" for name, count in counts(graph).items())
