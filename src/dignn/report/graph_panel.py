"""A graph as the page shows it: its drawing, its legend, and the same in words, node by node and edge by edge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from dignn.core.numerals import percent
from dignn.evidence.marks import Marks
from dignn.graphs import description as readable
from dignn.graphs.batch import GraphBatch
from dignn.graphs.column_words import behind_name
from dignn.graphs.feature_spec import FeatureKind
from dignn.report.emphasis import Emphasis
from dignn.report.graph_svg import NodePlaces, page_svg
from dignn.report.graph_words import features_of
from dignn.report.legend import entries
from dignn.report.mark_words import shown_mark, title

# Features of a node that are named.
MOST_FEATURES = 12


def graph_view(
    graph: GraphBatch,
    key: str,
    name: str,
    target: int | None,
    weight: Emphasis | None = None,
    marks: Mapping[str, Marks] | None = None,
    place: NodePlaces | None = None,
) -> dict[str, Any]:
    """What the page shows of a batch of one graph: a drawing with its tables.

    Args:
        graph: the graph, with features where there are some.
        key: tells it from the other graphs of the page.
        name: what a screen reader calls it.
        target: the classified node; None for graph classification.
        weight: what the model would miss; None where it was not measured.
        marks: by name, what other explainers make of it.
        place: where nodes are drawn, if not as usual.
    """
    shown, marks = weight or Emphasis(), marks or {}
    nodes = [_node_row(graph, node, target, shown) for node in range(int(graph.sizes[0]))]
    edges = _edge_rows(graph, shown)
    for number, row in enumerate(nodes):
        row["marks"] = [shown_mark(given.nodes[number]) for given in marks.values()]
    for number, row in enumerate(edges):
        row["marks"] = ["" if given.edges is None else shown_mark(given.edges[number]) for given in marks.values()]
    return {
        "key": key,
        "drawing": page_svg(graph, key, name, target, shown, place),
        "nodes": nodes,
        "edges": edges,
        "carrying": any(row["features"] for row in edges),
        "averaged": any(row["average"] for row in edges),
        "measured": bool(shown.without_node or shown.without_edge),
        "markers": [title(name) for name in marks],
        "featured": any(row["features"] for row in nodes),
    }


def legend(*graphs: GraphBatch, target: bool = False, changed: bool = False) -> list[tuple[Markup, str]]:
    """Marks and names of what occurs in some graphs of one schema."""
    box = Markup('<svg viewBox="0 0 24 24" class="key" aria-hidden="true">{}</svg>')
    return [(box.format(mark), name) for mark, name in entries(graphs, target, changed)]


def _node_row(graph: GraphBatch, node: int, target: int | None, weight: Emphasis) -> dict[str, Any]:
    """A node in words: its features are (name, value in words, whether the model would miss it)."""
    name = readable.type_name(graph, node)
    kind = graph.schema.spec(name).kind
    features, further = features_of(graph, node, weight.columns.get(node, []), MOST_FEATURES)
    if kind is FeatureKind.IDENTITY:  # its column is its name
        features, further = [], 0
    return {
        "number": node + 1,
        "type_name": name,
        "member": readable.member_name(graph, node),
        "classified": node == target,
        "features": [(item.name, behind_name(item.value, item.column), item.missed) for item in features],
        "further": further,
        "without": percent(weight.without_node[node]) if node in weight.without_node else "",
    }


def _edge_rows(graph: GraphBatch, weight: Emphasis) -> list[dict[str, Any]]:
    """Edges in words; data that has only one relation often calls it nothing in particular."""
    found = []
    for u, v, relation in readable.edges(graph):
        carried = readable.edge_features(graph, u, v)
        shown = [(name, behind_name(value, column), False) for name, value, column in carried[:MOST_FEATURES]]
        found.append(
            {
                "source": f"{readable.type_name(graph, u)} {u + 1}",
                "relation": "joined to" if relation.name == "to" else relation.name.replace("_", " "),
                "target": f"{readable.type_name(graph, v)} {v + 1}",
                "directed": relation.directed,
                "features": shown,
                "further": len(carried[MOST_FEATURES:]),
                "without": percent(weight.without_edge[u, v]) if (u, v) in weight.without_edge else "",
                "average": percent(weight.average_edge[u, v]) if (u, v) in weight.average_edge else "",
            }
        )
    return found
