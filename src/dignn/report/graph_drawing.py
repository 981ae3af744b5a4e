"""What a drawing of a graph shows, and where: one description, which is painted as SVG and by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dignn.graphs import description as readable
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Schema
from dignn.report.emphasis import Emphasis
from dignn.report.layout import layout
from dignn.report.safe_text import shortened

# Okabe and Ito's palette, which colour-blind readers can tell apart; shapes say the same a second time.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#B8A800", "#777777")
SHAPES = ("circle", "square", "triangle", "diamond", "pentagon", "hexagon", "down", "star")
INK = "#1c2330"
LINE = "#7d8796"
# What surrounds changed parts: a dashed ring, a broad band.
CHANGE = "#9a4a00"
LONGEST_LABEL = 20
# How lines of relations are drawn that join the same types, so that the type of an end does not tell them apart.
DASHES = ("", "6 3", "1.5 3", "8 3 2 3")


@dataclass(frozen=True)
class NodeStyle:
    """How a node type is drawn."""

    colour: str
    shape: str


@dataclass(frozen=True)
class DrawnNode:
    """A node.

    Args:
        number: its position in the graph.
        style: colour and shape of its type.
        x, y: its place in the unit square; y runs down.
        strength: how much the model would miss it, from 0 to 1.
        ringed: whether it is the classified node.
        letter: what stands inside it; empty where types have longer names.
        label: the member's name, which stands beside it; empty where it has none.
        above: whether that is the side without neighbours.
        changed: whether it differs from a node of another graph, which is drawn beside it.
    """

    number: int
    style: NodeStyle
    x: float
    y: float
    strength: float
    ringed: bool
    letter: str
    label: str
    above: bool
    changed: bool = False

    @property
    def letter_colour(self) -> str:
        """White or dark, whichever is easier to read inside the node."""
        return "#ffffff" if dark(self.style.colour) else INK


@dataclass(frozen=True)
class DrawnEdge:
    """An edge: its ends, the pattern of its line, how much the model would miss it, and whether it is a change."""

    source: int
    target: int
    directed: bool
    dash: str
    strength: float
    changed: bool = False

    @property
    def colour(self) -> str:
        return INK if self.strength > 0.5 else LINE


def drawing(
    graph: GraphBatch,
    target: int | None = None,
    weight: Emphasis | None = None,
    place: Mapping[int, tuple[float, float]] | None = None,
) -> tuple[list[DrawnNode], list[DrawnEdge]]:
    """The nodes, in their order, and the edges of a batch of one graph.

    Args:
        graph: the graph.
        target: the classified node, which gets a ring.
        weight: what is drawn stronger.
        place: where each node is drawn in the unit square; by default as :func:`layout` puts it.
    """
    weight, schema = weight or Emphasis(), graph.schema
    place, styles, dash = place or layout(graph), node_styles(schema), dashes(schema)
    letters = all(len(name) <= 2 for name in schema.node_types)  # as atoms have: these stand in the nodes
    joined = readable.edges(graph)
    nodes = []
    for node, (x, y) in place.items():
        name = readable.type_name(graph, node)
        heights = [place[v if u == node else u][1] for u, v, _ in joined if node in (u, v)]
        nodes.append(
            DrawnNode(
                number=node,
                style=styles[name],
                x=x,
                y=y,
                strength=weight.node.get(node, 0.0),
                ringed=node == target,
                letter=name if letters else "",
                label="" if letters else shortened(readable.member_name(graph, node), LONGEST_LABEL),
                above=not heights or sum(heights) / len(heights) >= y,
                changed=node in weight.changed_nodes,
            )
        )
    edges = [
        DrawnEdge(
            *(u, v, relation.directed, dash.get(relation.name, "")),
            weight.edge.get((u, v), 0.0),
            changed=(u, v) in weight.changed_edges,
        )
        for u, v, relation in joined
    ]
    return nodes, edges


def node_styles(schema: Schema) -> dict[str, NodeStyle]:
    """A colour and a shape for each node type, by its place in the schema."""
    return {
        name: NodeStyle(COLOURS[place % len(COLOURS)], SHAPES[(place + place // len(COLOURS)) % len(SHAPES)])
        for place, name in enumerate(schema.node_types)
    }


def dashes(schema: Schema) -> dict[str, str]:
    """The pattern of lines by relation name; empty where the types of its ends tell every relation from the others."""
    names = list(dict.fromkeys(relation.name for relation in schema.relations))
    ends = {frozenset((relation.source, relation.target)) for relation in schema.relations}
    if len(ends) == len(schema.relations):
        return {}
    return {name: DASHES[place % len(DASHES)] for place, name in enumerate(names)}


def dark(colour: str) -> bool:
    """Whether white text is easier to read on it than dark text."""
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    luminance = sum(
        share * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
        for share, part in ((0.2126, red), (0.7152, green), (0.0722, blue))
    )
    return 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.067
