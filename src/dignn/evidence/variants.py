"""Variants of one graph in which a part is missing: a node, an edge, some feature columns, all features of a node.

What "missing" means for features depends on what they hold (:mod:`dignn.evidence.neutral_rows`). An edge that
carries features may carry average ones instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import torch
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.evidence.edge_variants import averaged, unusual_edges
from dignn.evidence.neutral_rows import Averages, neutral_row, says_something, without_columns
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.description import edges, type_name
from dignn.graphs.igraph_graphs import igraph_of

# Columns that are removed one at a time, of one node and of a graph.
COLUMNS_PER_NODE = 60
COLUMNS_IN_ALL = 400


class Kind(str, Enum):
    """What is removed."""

    NODE = "node"  # one node with its edges
    EDGE = "edge"  # one edge
    COLUMN = "column"  # feature columns, each of one node
    ROW = "row"  # all features of one node, which becomes an average one
    EDGE_ROW = "edge_row"  # all features of one edge, or of several, which carry average ones
    OTHERS = "others"  # every node but the target


_OF_EDGES = (Kind.EDGE, Kind.EDGE_ROW)


@dataclass(frozen=True)
class Part:
    """What a variant lacks.

    Args:
        kind: what is removed.
        nodes: the nodes; both ends of each edge, source first; the node of each column; none for ``OTHERS``.
        columns: of a column part, the column of each entry of ``nodes``.
    """

    kind: Kind
    nodes: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()

    @property
    def edges(self) -> list[tuple[int, int]]:
        """The edges of an edge part, or of one of their rows."""
        return list(zip(self.nodes[::2], self.nodes[1::2], strict=True)) if self.kind in _OF_EDGES else []

    @property
    def joint(self) -> bool:
        """Whether it is several things that are removed together."""
        return len(self.nodes) > (2 if self.kind in _OF_EDGES else 1)


def parts_of(graph: GraphBatch, node: int | None, averages: Averages) -> list[Part]:
    """Everything that can be removed from one graph without removing the target ``node``."""
    here = graph.mask[0].nonzero()[:, 0].tolist()
    others = [v for v in here if v != node]
    parts = [Part(Kind.NODE, (v,)) for v in others]
    parts += [Part(Kind.EDGE, (u, v)) for u, v, _ in edges(graph)]
    carrying = unusual_edges(graph, averages)
    parts += [Part(Kind.EDGE_ROW, pair) for pair in carrying]
    if len(carrying) > 1:
        parts.append(Part(Kind.EDGE_ROW, tuple(v for pair in carrying for v in pair)))
    described = [v for v in here if type_name(graph, v) in graph.tables]
    parts += [Part(Kind.ROW, (v,)) for v in described]
    parts += _columns(graph, node, described, averages)
    if node is not None and others:
        parts.append(Part(Kind.OTHERS))
    return parts


def without(graph: GraphBatch, parts: Sequence[Part], averages: Averages, node: int | None) -> GraphBatch:
    """One variant of ``graph`` for each part, which it lacks. Nodes keep their positions.

    A node that is removed becomes padding, so that positions go on to mean the same node.
    """
    many = (len(parts), *graph.node_type.shape[1:])
    edge = graph.edge.expand(*many, many[1]).clone()
    node_type = graph.node_type.expand(many).clone()
    for number, part in enumerate(parts):
        for u, v in part.edges if part.kind is Kind.EDGE else ():
            edge[number, u, v] = 0
            if not graph.schema.relations[int(graph.edge[0, u, v]) - 1].directed:
                edge[number, v, u] = 0
        gone = part.nodes if part.kind is Kind.NODE else ()
        if part.kind is Kind.OTHERS:
            gone = tuple(v for v in range(many[1]) if v != node)
        if gone:
            edge[number, gone, :] = 0
            edge[number, :, gone] = 0
            node_type[number, gone] = PADDING
    row, tables = _changed_features(graph, parts, averages)
    label, row = (values.masked_fill(node_type < 0, PADDING) for values in (graph.label.expand(many), row))
    graph_label = graph.graph_label.expand(len(parts)).clone()
    of_edges = averaged(graph, [part.edges if part.kind is Kind.EDGE_ROW else [] for part in parts], averages)
    return GraphBatch(graph.schema, node_type, edge, label, graph_label, row, tables, *of_edges)


def steps_from(graph: GraphBatch, node: int | None) -> list[int]:
    """Steps from ``node`` to every position of one graph; 0 everywhere without one, the size where out of reach."""
    size = graph.node_type.size(1)
    if node is None:
        return [0] * size
    (steps,) = igraph_of(size, graph.undirected[0].nonzero().tolist()).distances(node)
    return [int(min(step, size)) for step in steps]


def _changed_features(graph: GraphBatch, parts: Sequence[Part], averages: Averages) -> tuple[Tensor, dict[str, Tensor]]:
    """Rows of variants (parts, N) in one small table per type: the graph's own rows, then those that are changed."""
    row, tables = graph.row.expand(len(parts), -1).clone(), {}
    for name, table in graph.tables.items():
        nodes = (graph.node_type[0] == graph.schema.type_index(name)).nonzero()[:, 0]
        row[:, nodes] = torch.arange(len(nodes))
        tables[name] = [table[graph.row[0, nodes]]]
    size = {name: len(own[0]) for name, own in tables.items()}
    for number, part in enumerate(parts):
        for v in dict.fromkeys(part.nodes if part.kind in (Kind.ROW, Kind.COLUMN) else ()):
            name = type_name(graph, v)
            tables[name].append(_changed_row(graph, v, part, averages))
            row[number, v] = size[name]
            size[name] += 1
    return row, {name: torch.cat(several) for name, several in tables.items()}


def _changed_row(graph: GraphBatch, v: int, part: Part, averages: Averages) -> Tensor:
    """The features of a node without those of the part.  (1, d)"""
    name = type_name(graph, v)
    spec = graph.schema.spec(name)
    row = graph.tables[name][graph.row[0, [v]]]
    average = averages.get(name, neutral_row(spec)).to(row.dtype)
    if part.kind is Kind.ROW:
        return average[None]
    columns = [column for node, column in zip(part.nodes, part.columns, strict=True) if node == v]
    return without_columns(row[0], columns, spec, average)[None]


def _columns(graph: GraphBatch, node: int | None, described: Sequence[int], averages: Averages) -> list[Part]:
    """Columns that say something, nodes near the target first, and of each node those that an average one has least."""
    steps = steps_from(graph, node)
    parts: list[Part] = []
    rows = {v: graph.tables[type_name(graph, v)][int(graph.row[0, v])] for v in described}
    held = {v: row.nan_to_num(-torch.inf).tolist() for v, row in rows.items()}  # what is missing is in order, too
    # equally near nodes in the order of what they hold, so that the order of nodes does not matter
    for v in sorted(described, key=lambda v: (v != node, steps[v], type_name(graph, v), held[v])):
        name = type_name(graph, v)
        spec = graph.schema.spec(name)
        present, unusual = says_something(rows[v], spec, averages.get(name, neutral_row(spec)))
        order = torch.argsort(unusual[present], descending=True, stable=True)[:COLUMNS_PER_NODE]
        parts += [Part(Kind.COLUMN, (v,), (present[place],)) for place in order.tolist()]
    return parts[:COLUMNS_IN_ALL]


def at_limit(parts: Sequence[Part]) -> bool:
    """Whether these single columns are as many as are tried, so that there may be others."""
    of_node = Counter(part.nodes[0] for part in parts)
    return len(parts) >= COLUMNS_IN_ALL or max(of_node.values(), default=0) >= COLUMNS_PER_NODE


def check_one(graph: GraphBatch, node: int | None) -> None:
    """Raises unless ``graph`` is a single graph and ``node`` one of its target nodes."""
    if len(graph) != 1:
        raise DignnError(f"Effects of removal are of one graph, but {len(graph)} were given; give them one by one")
    task = graph.schema.task
    if (node is None) != task.of_graphs:
        wanted = "no node" if task.of_graphs else "the position of one"
        raise DignnError(f"The node is {node}; this model answers about {task.things}, so give {wanted}")
    if node is not None and not (0 <= node < graph.node_type.size(1) and bool(graph.target_mask[0, node])):
        raise DignnError(f"Position {node} holds none of the {task.things}; give one that does")
