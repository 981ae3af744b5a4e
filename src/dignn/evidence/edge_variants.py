"""Variants of one graph in which edges carry average features instead of their own, and words for these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from dignn.evidence.neutral_rows import STEPPED, average_row
from dignn.graphs.batch import GraphBatch, spread
from dignn.graphs.description import edges
from dignn.graphs.feature_spec import FeatureSpec

# Rows from which the average is taken: more would hardly change it.
MOST_ROWS = 50_000
# What names of fields begin with, and what says nothing to a reader.
_PREFIX, _NAMELESS = "edge_", ("attr", "attribute", "attributes", "feature", "features", "feat")


def average_edge_rows(real: GraphBatch) -> dict[str, Tensor]:
    """By the label of a relation the row of an average edge: the mean of numbers, the most frequent of all else.

    Each column goes by the values that are there; a category that has a column for each value stays one.
    """
    found = {}
    for label, table in real.edge_tables.items():
        if len(table):
            spec = real.schema.generated_edges[label].spec
            found[label] = average_row(table[spread(len(table), MOST_ROWS)], spec, STEPPED)
    return found


def unusual_edges(graph: GraphBatch, averages: Mapping[str, Tensor]) -> list[tuple[int, int]]:
    """Edges of one graph that carry something else than average ones do."""
    found = []
    for u, v, relation in edges(graph):
        table, average = graph.edge_tables.get(relation.label), averages.get(relation.label)
        if table is not None and graph.edge_row is not None and average is not None:
            rows = table[[int(graph.edge_row[0, u, v]), *_back(graph, u, v)]]
            if not bool((rows == average).all()):
                found.append((u, v))
    return found


def averaged(
    graph: GraphBatch, changed: Sequence[Sequence[tuple[int, int]]], averages: Mapping[str, Tensor]
) -> tuple[Tensor | None, dict[str, Tensor]]:
    """``edge_row`` and ``edge_tables`` of variants in which some edges of one graph carry average rows.

    Args:
        graph: the graph.
        changed: the edges of each variant.
        averages: :func:`average_edge_rows`.
    """
    if graph.edge_row is None:
        return None, {}
    row = graph.edge_row.expand(len(changed), -1, -1).clone()
    tables = {}
    for label, table in graph.edge_tables.items():
        here = graph.edge[0] == graph.schema.generated_edges[label].relation
        used, place = torch.unique(graph.edge_row[0][here], return_inverse=True)
        row[:, here] = place
        average = averages.get(label, torch.zeros(table.size(1)))
        tables[label] = torch.cat([table[used], average[None].to(table.dtype)])
    for number, several in enumerate(changed):
        for u, v in several:
            last = len(tables[graph.schema.relations[int(graph.edge[0, u, v]) - 1].label]) - 1
            row[number, u, v] = last
            if _back(graph, u, v):
                row[number, v, u] = last
    return row, tables


def _back(graph: GraphBatch, u: int, v: int) -> list[int]:
    """The row of the other direction of an undirected edge."""
    directed = graph.schema.relations[int(graph.edge[0, u, v]) - 1].directed
    return [] if directed or graph.edge_row is None else [int(graph.edge_row[0, v, u])]


# -- words --------------------------------------------------------------------------------------------


def average_words(graph: GraphBatch, u: int, v: int) -> str:
    """What an edge carries in such a variant: ``an average weight``, ``average features``, ``the usual features``."""
    spec = graph.schema.edge_features_by_label[graph.schema.relations[int(graph.edge[0, u, v]) - 1].label].spec
    name = carried_words(spec)
    numeric = any(spec.column(column).numeric for column in range(spec.width))
    if name == "features":
        return "average features" if numeric else "the usual features"
    return f"an average {name}" if numeric else f"the usual {name}"


def carried_words(spec: FeatureSpec) -> str:
    """What edges carry: the name of the only column, where it has one, or ``features``."""
    name = spec.column_name(0).removeprefix(_PREFIX).replace("_", " ") if spec.width == 1 and spec.names else ""
    return name if name and name not in _NAMELESS else "features"
