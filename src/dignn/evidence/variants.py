"""Variants of one graph in which a part is missing: a node, an edge, some feature columns, all features of a node.

What "missing" means for features depends on what they hold. A word that is absent is a 0, so columns of binary and
count types become 0. A value of a continuous column, or a category, cannot be absent: it becomes the average (the most
frequent) one. A member of an identity type becomes the average of all members: "some conference".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import torch
from torch import Tensor

from dignn.batch import PADDING, GraphBatch
from dignn.errors import DignnError
from dignn.schema import FeatureKind, FeatureSpec

# Columns that are removed one at a time, of one node and of a graph.
COLUMNS_PER_NODE = 60
COLUMNS_IN_ALL = 400


class Kind(str, Enum):
    """What is removed."""

    NODE = "node"  # one node with its edges
    EDGE = "edge"  # one edge
    COLUMN = "column"  # feature columns, each of one node
    ROW = "row"  # all features of one node, which becomes an average one
    OTHERS = "others"  # every node but the target


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
        """The edges of an edge part."""
        return list(zip(self.nodes[::2], self.nodes[1::2], strict=True)) if self.kind is Kind.EDGE else []

    @property
    def joint(self) -> bool:
        """Whether it is several things that are removed together."""
        return len(self.nodes) > (2 if self.kind is Kind.EDGE else 1)


def average_rows(real: GraphBatch) -> dict[str, Tensor]:
    """By type name the row of an average node: the mean, or the most frequent codes of a categorical type.  (d,) each

    The mean is over the rows of the graphs' feature tables, which for real subgraphs are those of the data.
    """
    schema = real.schema
    found = {}
    for name, table in real.tables.items():
        spec = schema.spec(name)
        if spec.kind is FeatureKind.IDENTITY or not len(table):
            found[name] = _neutral(spec)
        elif spec.kind is FeatureKind.CATEGORICAL:
            found[name] = table.mode(0).values
        else:
            found[name] = table.mean(0)
    return found


def parts_of(graph: GraphBatch, node: int | None, averages: Mapping[str, Tensor]) -> list[Part]:
    """Everything that can be removed from one graph without removing the target ``node``."""
    size = graph.node_type.size(1)
    here = [v for v in range(size) if bool(graph.mask[0, v])]
    others = [v for v in here if v != node]
    parts = [Part(Kind.NODE, (v,)) for v in others]
    parts += [Part(Kind.EDGE, (u, v)) for u, v in _edges(graph)]
    described = [v for v in here if _type(graph, v) in graph.tables]
    parts += [Part(Kind.ROW, (v,)) for v in described]
    parts += _columns(graph, node, described, averages)
    if node is not None and others:
        parts.append(Part(Kind.OTHERS))
    return parts


def without(graph: GraphBatch, parts: Sequence[Part], averages: Mapping[str, Tensor], node: int | None) -> GraphBatch:
    """One variant of ``graph`` for each part, which it lacks. Nodes keep their positions.

    A node that is removed becomes padding, so that positions go on to mean the same node.
    """
    many = (len(parts), *graph.node_type.shape[1:])
    edge = graph.edge.expand(*many, many[1]).clone()
    node_type = graph.node_type.expand(many).clone()
    for number, part in enumerate(parts):
        for u, v in part.edges:
            edge[number, u, v] = 0
            if not _directed(graph, u, v):
                edge[number, v, u] = 0
        gone = part.nodes if part.kind is Kind.NODE else ()
        if part.kind is Kind.OTHERS:
            gone = tuple(v for v in range(many[1]) if v != node)
        if gone:
            edge[number, gone, :] = 0
            edge[number, :, gone] = 0
            node_type[number, gone] = PADDING
    label = graph.label.expand(many).masked_fill(node_type < 0, PADDING)
    changed = replace(
        graph,
        node_type=node_type,
        edge=edge,
        label=label,
        graph_label=graph.graph_label.expand(len(parts)).clone(),
        row=graph.row.expand(many).clone(),
        tables={},
    )
    return _with_features(changed, graph, parts, averages)


def steps_from(graph: GraphBatch, node: int | None) -> list[int]:
    """Steps from ``node`` to every position of one graph; 0 everywhere without one, the size where out of reach."""
    size = graph.node_type.size(1)
    if node is None:
        return [0] * size
    joined = graph.undirected[0]
    steps = torch.full((size,), size)
    steps[node] = 0
    for step in range(1, size):
        reached = joined[steps == step - 1].any(0) & (steps == size)
        steps[reached] = step
    return [int(step) for step in steps]


def _with_features(
    changed: GraphBatch, graph: GraphBatch, parts: Sequence[Part], averages: Mapping[str, Tensor]
) -> GraphBatch:
    """Variants share one small table per type: the graph's own rows, then the rows that variants change."""
    row = changed.row
    tables: dict[str, Tensor] = {}
    for name in graph.tables:
        spec = graph.schema.spec(name)
        average = averages.get(name, _neutral(spec))
        nodes = (graph.node_type[0] == graph.schema.type_index(name)).nonzero()[:, 0].tolist()
        own = graph.tables[name][graph.row[0, nodes]]
        place = {v: i for i, v in enumerate(nodes)}
        row[:, nodes] = torch.arange(len(nodes))
        fresh: dict[tuple[int, int], int] = {}  # (variant, node) -> its new row
        whole: list[int] = []  # new rows that are average ones
        cells: list[tuple[int, int]] = []  # (new row, column)
        for number, part in enumerate(parts):
            if part.kind not in (Kind.ROW, Kind.COLUMN):
                continue
            for index, v in enumerate(part.nodes):
                if v not in place:
                    continue
                new = fresh.setdefault((number, v), len(fresh))
                if part.kind is Kind.ROW or spec.kind is FeatureKind.IDENTITY:
                    whole.append(new)
                else:
                    cells.append((new, part.columns[index]))
        made = own[[place[v] for _, v in fresh]]
        made[whole] = average
        if cells:
            rows, columns = torch.tensor(cells).T
            zero = spec.kind in (FeatureKind.BINARY, FeatureKind.COUNT)
            made[rows, columns] = own.new_zeros(len(columns)) if zero else average[columns]
        for (number, v), new in fresh.items():
            row[number, v] = len(nodes) + new
        tables[name] = torch.cat([own, made])
    return replace(changed, row=row.masked_fill(changed.node_type < 0, PADDING), tables=tables)


def _neutral(spec: FeatureSpec) -> Tensor:
    """Where no real rows are known: zeros, or the mean of all members of an identity type."""
    if spec.kind is FeatureKind.IDENTITY:
        return torch.full((spec.width,), 1 / spec.width)
    return torch.zeros(spec.width)


def _columns(
    graph: GraphBatch, node: int | None, described: Sequence[int], averages: Mapping[str, Tensor]
) -> list[Part]:
    """Columns that hold something, nodes near the target first, and of each node those that an average one has least.

    A column holds something where it is not zero; a category, where it is not the usual one. Anonymous continuous
    columns tell a reader nothing one by one, so they are left out.
    """
    steps = steps_from(graph, node)
    parts: list[Part] = []
    rows = {v: graph.tables[_type(graph, v)][int(graph.row[0, v])] for v in described}
    # equally near nodes in the order of what they hold, so that the order of nodes does not matter
    for v in sorted(described, key=lambda v: (v != node, steps[v], _type(graph, v), rows[v].tolist())):
        spec = graph.schema.spec(_type(graph, v))
        if spec.kind is FeatureKind.CONTINUOUS and spec.names is None:
            continue
        unusual = (rows[v] - averages.get(_type(graph, v), _neutral(spec))).abs()
        if spec.kind is FeatureKind.CATEGORICAL:
            unusual = (unusual > 0).float()  # codes are not far or near; 0 is one like any other
        present = (unusual if spec.kind is FeatureKind.CATEGORICAL else rows[v]).nonzero()[:, 0]
        order = torch.argsort(unusual[present], descending=True, stable=True)[:COLUMNS_PER_NODE]
        parts += [Part(Kind.COLUMN, (v,), (int(column),)) for column in present[order]]
    return parts[:COLUMNS_IN_ALL]


def at_limit(parts: Sequence[Part]) -> bool:
    """Whether these single columns are as many as are tried, so that there may be others."""
    of_node = Counter(part.nodes[0] for part in parts)
    return len(parts) >= COLUMNS_IN_ALL or max(of_node.values(), default=0) >= COLUMNS_PER_NODE


def _edges(graph: GraphBatch) -> list[tuple[int, int]]:
    """Every edge once: an undirected one between types in the direction of its relation."""
    found = []
    for u, v in graph.edge[0].nonzero().tolist():
        relation = graph.schema.relations[int(graph.edge[0, u, v]) - 1]
        forward = u < v if relation.source == relation.target else _type(graph, u) == relation.source
        if relation.directed or forward:
            found.append((u, v))
    return found


def _directed(graph: GraphBatch, u: int, v: int) -> bool:
    return graph.schema.relations[int(graph.edge[0, u, v]) - 1].directed


def _type(graph: GraphBatch, node: int) -> str:
    return graph.schema.node_types[int(graph.node_type[0, node])]


def check_one(graph: GraphBatch, node: int | None) -> None:
    """Raises unless ``graph`` is a single graph and ``node`` one of its target nodes."""
    if len(graph) != 1:
        raise DignnError(f"Effects of removal are of one graph, but {len(graph)} were given; give them one by one")
    if (node is None) != (graph.schema.target is None):
        wanted = "no node" if graph.schema.target is None else f"the position of a node of type '{graph.schema.target}'"
        raise DignnError(f"The node is {node}; this model classifies {wanted}, so give that")
    if node is not None and not (0 <= node < graph.node_type.size(1) and bool(graph.target_mask[0, node])):
        raise DignnError(f"Position {node} holds no node of type '{graph.schema.target}'; give one that does")
