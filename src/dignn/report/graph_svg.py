"""Graphs as SVG: one way to draw them for the page, for notebooks and as thumbnails.

Colours and widths are attributes of the elements, so that a drawing needs no style sheet; the page's only refines them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dignn.core.numerals import percent
from dignn.graphs import description as readable
from dignn.graphs.batch import GraphBatch
from dignn.graphs.column_words import goes_without_saying, in_words
from dignn.report.emphasis import Emphasis, emphasis
from dignn.report.graph_drawing import CHANGE, INK, DrawnEdge, DrawnNode, NodeStyle, drawing
from dignn.report.graph_words import made_of
from dignn.report.templating import render

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanation

# By node, where it is drawn in the unit square.
NodePlaces = Mapping[int, tuple[float, float]]
LETTER = 7.6  # width of a letter of a label, on average, on narrow screens, where letters are larger

_CORNERS = {
    "square": (4, 45),
    "triangle": (3, -90),
    "diamond": (4, 0),
    "pentagon": (5, -90),
    "hexagon": (6, 0),
    "down": (3, 90),
}


@dataclass(frozen=True)
class Frame:
    """The size of a drawing: its box, what stays free at its border, the radius of a node."""

    width: int
    height: int
    margin: int
    radius: float
    detailed: bool = True


PAGE = Frame(440, 350, 38, 8.5)
CARD = Frame(340, 300, 34, 8.5)
THUMBNAIL = Frame(120, 96, 8, 3.4, detailed=False)


def svg(explanation: Explanation, frame: Frame = CARD, **attributes: Any) -> Markup:
    """An explanation as a still drawing; hovering a node shows its features, where the viewer can.

    Args:
        explanation: what to draw.
        frame: the size.
        attributes: further ones of the element.
    """
    graph = explanation.graph
    name = f"Explanation of {explanation.class_name}, probability {percent(explanation.score)}: {made_of(graph)}"
    return still_svg(graph, name, explanation.node, emphasis(explanation.evidence), frame, **attributes)


def still_svg(
    graph: GraphBatch,
    name: str,
    target: int | None,
    weight: Emphasis | None = None,
    frame: Frame = CARD,
    **attributes: Any,
) -> Markup:
    """A batch of one graph likewise, whose ``name`` screen readers say."""
    titles = [_long_title(graph, node, target) for node in range(int(graph.sizes[0]))]
    return _paint(graph, frame, {**attributes, "role": "img", "aria-label": name}, target, weight, titles)


def small_svg(graph: GraphBatch) -> Markup:
    """A thumbnail of a batch of one graph."""
    return _paint(graph, THUMBNAIL, {"class": "thumbnail", "role": "img", "aria-label": made_of(graph)})


def page_svg(
    graph: GraphBatch, key: str, name: str, target: int | None, weight: Emphasis, place: NodePlaces | None = None
) -> Markup:
    """The drawing that the page's script brings to life; rows ``KEY-n0``, ``KEY-e0``, ... say what it shows."""
    titles = [_short_title(graph, node, target) for node in range(int(graph.sizes[0]))]
    attributes = {"class": "graph", "role": "group", "data-graph": key, "aria-label": name}
    return _paint(graph, PAGE, attributes, target, weight, titles, place)


def shape_svg(look: NodeStyle, x: float, y: float, radius: float = 8.5, outline: float = 1.3) -> Markup:
    """The mark of a node type, centred at (x, y), with a dark outline that light colours need."""
    style = Markup('fill="{}" stroke="{}" stroke-width="{}" stroke-linejoin="round"').format(look.colour, INK, outline)
    if look.shape == "circle":
        return Markup('<circle class="mark" cx="{:.4g}" cy="{:.4g}" r="{:.1f}" {}/>').format(x, y, radius, style)
    if look.shape == "star":
        angles = [(-90.0 + 36 * k, radius * (1.35 if k % 2 == 0 else 0.6)) for k in range(10)]
    else:
        count, turn = _CORNERS[look.shape]
        angles = [(turn + 360 / count * k, radius * 1.2) for k in range(count)]
    points = " ".join(
        f"{x + r * math.cos(math.radians(a)):.1f},{y + r * math.sin(math.radians(a)):.1f}" for a, r in angles
    )
    return Markup('<polygon class="mark" points="{}" {}/>').format(points, style)


@dataclass(frozen=True)
class _Placed:
    """A node in a frame: its centre, its radius and its mark; where its label stands, seen from the centre."""

    drawn: DrawnNode
    x: float
    y: float
    radius: float
    mark: Markup
    label: tuple[float, float]


def _paint(
    graph: GraphBatch,
    frame: Frame,
    attributes: dict[str, Any],
    target: int | None = None,
    weight: Emphasis | None = None,
    titles: Sequence[str] | None = None,
    place: NodePlaces | None = None,
) -> Markup:
    """The element; ``titles``, one for each node, are shown on hover and read by screen readers."""
    nodes, edges = drawing(graph, target, weight, place)
    placed = {node.number: _placed(node, frame) for node in nodes}
    lines = [_line(edge, placed[edge.source], placed[edge.target], frame) for edge in edges]
    return render(
        "graph.svg",
        frame=frame,
        attributes=attributes,
        nodes=placed.values(),
        lines=lines,
        titles=titles,
        ink=INK,
        change=CHANGE,
    )


def _placed(node: DrawnNode, frame: Frame) -> _Placed:
    """Inside the frame, as the label is."""
    x = frame.margin + node.x * (frame.width - 2 * frame.margin)
    y = frame.margin + node.y * (frame.height - 2 * frame.margin)
    radius = frame.radius * (1.15 if frame.detailed and node.letter else 1.0) * (1 + 0.55 * node.strength)
    above = (node.above and y - radius - 18 > 0) or y + radius + 18 > frame.height
    half = len(node.label) * LETTER / 2 + 3
    away = radius + (8 if node.changed else 0)
    label = (min(max(x, half), frame.width - half) - x, -away - 6 if above else away + 15)
    return _Placed(node, x, y, radius, shape_svg(node.style, 0, 0, radius, 1.3 if frame.detailed else 0.6), label)


def _line(edge: DrawnEdge, start: _Placed, end: _Placed, frame: Frame) -> dict[str, Any]:
    """What the template says of an edge; the tip of an arrow lies at the rim of the node where it ends."""
    width = (1.3 + 3.4 * edge.strength) if frame.detailed else 0.9
    dx, dy = end.x - start.x, end.y - start.y
    length = math.hypot(dx, dy) or 1.0
    back = end.radius * 1.25 + 1
    return {
        "edge": edge,
        "ends": (start.x, start.y, end.x, end.y),
        "width": width,
        "tip": (end.x - dx / length * back, end.y - dy / length * back),
        "size": (1.6 + width) * (0.6 + end.radius / 14),
        "angle": f"{math.degrees(math.atan2(dy, dx)):.0f}",
    }


def _long_title(graph: GraphBatch, node: int, target: int | None) -> str:
    """What a reader sees on hovering a still drawing: the type, and the largest features by name."""
    told = [
        name if goes_without_saying(value, column) else f"{name}: {in_words(value, column)}"
        for name, value, column in readable.told_features(graph, node, 12)
    ]
    return "\n".join([_short_title(graph, node, target), *told])


def _short_title(graph: GraphBatch, node: int, target: int | None) -> str:
    classified = "the classified node" if node == target else ""
    name = f"{readable.type_name(graph, node)} {node + 1}"
    return ", ".join(filter(None, [name, readable.member_name(graph, node), classified]))
