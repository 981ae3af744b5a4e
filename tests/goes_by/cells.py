"""What a graph holds at each place, in plain dictionaries, so that two graphs can be compared place by place."""

from __future__ import annotations

import math
from typing import Any

from dignn.graphs.batch import GraphBatch
from strategies import row_of


def cells(graph: GraphBatch) -> dict[tuple[Any, ...], Any]:
    """By place what is there, for a batch of one graph; nothing where nothing is. A missing value is ``missing``."""
    found: dict[tuple[Any, ...], Any] = {}
    for v, kind in enumerate(graph.node_type[0].tolist()):
        if kind < 0:
            continue
        name = graph.schema.node_types[kind]
        found["node", v] = name
        if name in graph.tables:
            found |= {("column", v, j): told(value) for j, value in enumerate(row_of(graph, 0, v))}
    for u, line in enumerate(graph.edge[0].tolist()):
        for v, code in enumerate(line):
            if code:
                label = graph.schema.relations[code - 1].label
                found["edge", u, v] = label
                if label in graph.edge_tables and graph.edge_row is not None:
                    row = graph.edge_tables[label][graph.edge_row[0, u, v]].tolist()
                    found |= {("edge column", u, v, j): told(value) for j, value in enumerate(row)}
    return found


def told(value: float) -> float | str:
    return "missing" if math.isnan(value) else value


def differing(one: GraphBatch, other: GraphBatch) -> set[tuple[Any, ...]]:
    """Places where two graphs do not hold the same."""
    first, second = cells(one), cells(other)
    return {place for place in first.keys() | second.keys() if first.get(place) != second.get(place)}
