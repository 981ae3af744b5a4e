"""A graph as the page shows it: its drawing, its legend, and the same in words, node by node and edge by edge."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from dignn import readable
from dignn.batch import GraphBatch
from dignn.evidence.grammar import noun, nouns, percent
from dignn.report.emphasis import Emphasis
from dignn.report.looks import looks
from dignn.report.svg import INK, LINE, dashes, page_svg, shape_svg
from dignn.schema import FeatureKind, Schema

# Features of a node that are named.
MOST_FEATURES = 12
# Non-zero columns of a node that are counted.
_COUNTED = 1000


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


def legend(*graphs: GraphBatch) -> list[tuple[Markup, str]]:
    """Marks and names of what occurs in some graphs of one schema: types, patterns of lines, arrows."""
    schema = graphs[0].schema
    here = {readable.type_name(graph, node) for graph in graphs for node in range(int(graph.sizes[0]))}
    entries = [(_mark(shape_svg(look, 12, 12)), name) for name, look in looks(schema).items() if name in here]
    relations = [relation for graph in graphs for _, _, relation in readable.edges(graph)]
    for name, dash in dashes(schema).items():
        if any(relation.name == name for relation in relations):
            entries.append((_mark(_stroke(dash)), name))
    if any(relation.directed for relation in relations):
        head = Markup('<path d="M23 12L14 8L14 16z" fill="{}"/>').format(INK)
        entries.append((_mark(_stroke("") + head), "direction of a relation"))
    return entries


def made_of(graph: GraphBatch) -> str:
    """How many nodes of each type, in words: ``2 authors, 1 paper``."""
    names = graph.schema.node_types
    counts = [int((graph.node_type == code).sum()) for code in range(len(names))]
    shown = [(number, noun(name) if number == 1 else nouns(name)) for number, name in zip(counts, names, strict=True)]
    return ", ".join(f"{number} {word}" for number, word in shown if number)


def unbroken(text: str) -> str:
    """A text whose percentages stay on one line."""
    return text.replace(" %", "\u00a0%")


def ring() -> Markup:
    """The mark of the classified node in a legend."""
    return _mark(Markup('<circle cx="12" cy="12" r="9" fill="none" stroke="{}" stroke-width="2.2"/>').format(INK))


def stronger() -> Markup:
    """The mark of parts that the model would miss in a legend: two nodes, one larger, and a growing line."""
    return Markup(
        '<svg viewBox="0 0 48 24" class="key wide" aria-hidden="true"><path d="M8 11L36 9L36 15L8 13z" fill="{0}"/>'
        '<circle cx="8" cy="12" r="4.5" fill="#fff" stroke="{0}" stroke-width="1.5"/>'
        '<circle cx="37" cy="12" r="9" fill="#fff" stroke="{0}" stroke-width="1.5"/></svg>'
    ).format(INK)


def _mark(inside: Markup) -> Markup:
    return Markup('<svg viewBox="0 0 24 24" class="key" aria-hidden="true">{}</svg>').format(inside)


def _stroke(dash: str) -> Markup:
    pattern = Markup(' stroke-dasharray="{}"').format(dash) if dash else Markup("")
    return Markup('<line x1="1" y1="12" x2="23" y2="12" stroke="{}" stroke-width="2"{}/>').format(LINE, pattern)


def _node_row(graph: GraphBatch, node: int, target: int | None, weight: Emphasis) -> NodeRow:
    name = readable.type_name(graph, node)
    spec = graph.schema.spec(name)
    missed = [spec.column_name(column) for column in weight.columns.get(node, [])]
    shown = [] if spec.kind is FeatureKind.IDENTITY else readable.top_features(graph, node, _COUNTED)
    ranked = sorted(shown, key=lambda pair: missed.index(pair[0]) if pair[0] in missed else len(missed))
    return NodeRow(
        number=node + 1,
        type_name=name,
        member=readable.member_name(graph, node),
        classified=node == target,
        features=[(column, _value(value, spec.kind), column in missed) for column, value in ranked[:MOST_FEATURES]],
        further=max(0, len(ranked) - MOST_FEATURES),
        without=percent(weight.without_node[node]) if node in weight.without_node else "",
    )


def _value(value: float, kind: FeatureKind) -> str:
    """A value in words, to stand behind the name of its column; that a word is there once needs none."""
    if kind in (FeatureKind.BINARY, FeatureKind.COUNT):
        return "" if value == 1 else f" \u00d7 {value:.3g}"
    return f": {value:.3g}".replace("-", "\u2212")


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
