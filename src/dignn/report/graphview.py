"""A graph as the page shows it: its drawing, its legend, and the same in words, node by node and edge by edge."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from dignn import readable
from dignn.batch import GraphBatch
from dignn.evidence.grammar import percent
from dignn.report.charts.parts import number
from dignn.report.emphasis import Emphasis
from dignn.report.legend import entries
from dignn.report.svg import INK, page_svg
from dignn.report.words import features_of
from dignn.schema import FeatureKind, Schema

# Features of a node that are named.
MOST_FEATURES = 12


@dataclass(frozen=True)
class NodeRow:
    """A node in words: its features are (name, value in words, whether the model would miss it)."""

    number: int
    type_name: str
    member: str
    classified: bool
    features: list[tuple[str, str, bool]]
    further: int
    without: str


@dataclass(frozen=True)
class EdgeRow:
    """An edge in words."""

    source: str
    relation: str
    target: str
    directed: bool
    without: str


@dataclass(frozen=True)
class GraphView:
    """A drawing with its tables; ``key`` is unique on the page."""

    key: str
    drawing: Markup
    nodes: list[NodeRow]
    edges: list[EdgeRow]
    measured: bool
    featured: bool


def graph_view(graph: GraphBatch, key: str, name: str, target: int | None, weight: Emphasis | None = None) -> GraphView:
    """What the page shows of a batch of one graph.

    Args:
        graph: the graph, with features where there are some.
        key: tells it from the other graphs of the page.
        name: what a screen reader calls it.
        target: the classified node; None for graph classification.
        weight: what the model would miss; None where it was not measured.
    """
    shown = weight or Emphasis()
    nodes = [_node_row(graph, node, target, shown) for node in range(int(graph.sizes[0]))]
    return GraphView(
        key=key,
        drawing=page_svg(graph, key, name, target, shown),
        nodes=nodes,
        edges=_edge_rows(graph, shown),
        measured=bool(shown.without_node or shown.without_edge),
        featured=any(row.features for row in nodes),
    )


def legend(*graphs: GraphBatch, target: bool = False) -> list[tuple[Markup, str]]:
    """Marks and names of what occurs in some graphs of one schema."""
    box = Markup('<svg viewBox="0 0 24 24" class="key" aria-hidden="true">{}</svg>')
    return [(box.format(mark), name) for mark, name in entries(graphs, target)]


def stronger() -> Markup:
    """The mark of parts that the model would miss in a legend: two nodes, one larger, and a growing line."""
    return Markup(
        '<svg viewBox="0 0 48 24" class="key wide" aria-hidden="true"><path d="M8 11L36 9L36 15L8 13z" fill="{0}"/>'
        '<circle cx="8" cy="12" r="4.5" fill="#fff" stroke="{0}" stroke-width="1.5"/>'
        '<circle cx="37" cy="12" r="9" fill="#fff" stroke="{0}" stroke-width="1.5"/></svg>'
    ).format(INK)


def _node_row(graph: GraphBatch, node: int, target: int | None, weight: Emphasis) -> NodeRow:
    name = readable.type_name(graph, node)
    kind = graph.schema.spec(name).kind
    features, further = features_of(graph, node, weight.columns.get(node, []), MOST_FEATURES)
    if kind is FeatureKind.IDENTITY:  # its column is its name
        features, further = [], 0
    return NodeRow(
        number=node + 1,
        type_name=name,
        member=readable.member_name(graph, node),
        classified=node == target,
        features=[(feature.name, _value(feature.value, kind), feature.missed) for feature in features],
        further=further,
        without=percent(weight.without_node[node]) if node in weight.without_node else "",
    )


def _value(value: float, kind: FeatureKind) -> str:
    """A value in words, to stand behind the name of its column; that a word is there once needs none."""
    if kind in (FeatureKind.BINARY, FeatureKind.COUNT):
        return "" if value == 1 else f" \u00d7 {number(value)}"
    return f": {number(value)}"


def _edge_rows(graph: GraphBatch, weight: Emphasis) -> list[EdgeRow]:
    return [
        EdgeRow(
            source=f"{readable.type_name(graph, u)} {u + 1}",
            relation=_relation_name(graph.schema, relation.name),
            target=f"{readable.type_name(graph, v)} {v + 1}",
            directed=relation.directed,
            without=percent(weight.without_edge[u, v]) if (u, v) in weight.without_edge else "",
        )
        for u, v, relation in readable.edges(graph)
    ]


def _relation_name(schema: Schema, name: str) -> str:
    """A relation's name; data that has only one often calls it nothing in particular."""
    return "joined to" if name == "to" else name.replace("_", " ")
