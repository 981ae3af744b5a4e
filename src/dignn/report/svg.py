"""Graphs as SVG: one way to draw them for the page, for notebooks and as thumbnails.

Colours and widths are attributes of the elements, so that a drawing needs no style sheet; the page's only refines them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from dignn import readable
from dignn.batch import GraphBatch
from dignn.evidence.grammar import percent
from dignn.explanation import Explanation
from dignn.report.characters import shortened
from dignn.report.charts.parts import number
from dignn.report.emphasis import Emphasis, emphasis
from dignn.report.layout import layout
from dignn.report.looks import Look, looks
from dignn.report.words import made_of
from dignn.schema import Relation, Schema

INK = "#1c2330"
LINE = "#7d8796"
LONGEST_LABEL = 20
LETTER = 7.6  # width of a letter of a label, on average, on narrow screens, where letters are larger
# How lines of relations are drawn that join the same types, so that the type of an end does not tell them apart.
DASHES = ("", "6 3", "1.5 3", "8 3 2 3")

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


def svg(explanation: Explanation, width: int = CARD.width, height: int = CARD.height) -> Markup:
    """An explanation as a still drawing; hovering a node shows its features, where the viewer can."""
    frame = Frame(width, height, CARD.margin, CARD.radius)
    graph = explanation.graph
    name = f"Explanation of {explanation.class_name}, probability {percent(explanation.score)}: {made_of(graph)}"
    titles = [node_title(explanation, node) for node in range(int(graph.sizes[0]))]
    parts = draw_parts(graph, frame, explanation.node, emphasis(explanation), titles)
    return _svg(frame, parts, Markup('role="img" aria-label="{}"').format(name))


def small_svg(graph: GraphBatch) -> Markup:
    """A thumbnail of a batch of one graph."""
    name = made_of(graph)
    return _svg(
        THUMBNAIL, draw_parts(graph, THUMBNAIL), Markup('class="thumbnail" role="img" aria-label="{}"').format(name)
    )


def page_svg(graph: GraphBatch, key: str, name: str, target: int | None, weight: Emphasis) -> Markup:
    """The drawing that the page's script brings to life; rows ``KEY-n0``, ``KEY-e0``, ... say what it shows."""
    titles = [_short_title(graph, node, target) for node in range(int(graph.sizes[0]))]
    parts = draw_parts(graph, PAGE, target, weight, titles)
    attributes = Markup('class="graph" role="group" data-graph="{}" aria-label="{}"').format(key, name)
    return _svg(PAGE, parts, attributes)


def node_title(explanation: Explanation, node: int) -> str:
    """What a reader sees on hovering a still drawing: the type, and the largest features by name."""
    lines = [_short_title(explanation.graph, node, explanation.node)]
    for column, value in explanation.top_features(node, 12):
        lines.append(column if value == 1 else f"{column}: {number(value)}")
    return "\n".join(lines)


def draw_parts(
    graph: GraphBatch,
    frame: Frame,
    target: int | None = None,
    weight: Emphasis | None = None,
    titles: Sequence[str] | None = None,
) -> Markup:
    """The lines and nodes of a batch of one graph.

    Args:
        graph: the graph.
        frame: the size.
        target: the classified node, which gets a ring.
        weight: what is drawn stronger.
        titles: a text for each node, shown on hover and read by screen readers.
    """
    weight = weight or Emphasis()
    place = _places(graph, frame)
    usual = frame.radius * (1.15 if frame.detailed and lettered(graph.schema) else 1.0)
    radius = {node: usual * (1 + 0.55 * weight.node.get(node, 0.0)) for node in place}
    dash = dashes(graph.schema) if frame.detailed else {}
    edges = readable.edges(graph)
    parts = [
        _edge(number, edge, place, radius, _strength(weight, edge), dash.get(edge[2].name, ""), frame)
        for number, edge in enumerate(edges)
    ]
    look = looks(graph.schema)
    for node, (x, y) in place.items():
        kind = readable.type_name(graph, node)
        marks = [shape_svg(look[kind], 0, 0, radius[node], outline=1.3 if frame.detailed else 0.6)]
        if node == target:
            marks.insert(
                0,
                Markup('<circle r="{:.1f}" class="ring" fill="none" stroke="{}" stroke-width="2.2"/>').format(
                    radius[node] + 5.5, INK
                ),
            )
        if frame.detailed:
            marks.append(_label(graph, node, place, radius[node], edges, frame))
        parts.append(_node(node, x, y, radius[node], marks, titles))
    return Markup("").join(parts)


def shape_svg(look: Look, x: float, y: float, radius: float = 8.5, outline: float = 1.3) -> Markup:
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


def dashes(schema: Schema) -> dict[str, str]:
    """The pattern of lines by relation name; empty where the types of its ends tell every relation from the others."""
    names = list(dict.fromkeys(relation.name for relation in schema.relations))
    ends = [frozenset((relation.source, relation.target)) for relation in schema.relations]
    if len(set(ends)) == len(ends):
        return {}
    return {name: DASHES[place % len(DASHES)] for place, name in enumerate(names)}


def lettered(schema: Schema) -> bool:
    """Whether all types have names of one or two letters, as atoms do: these stand in the nodes."""
    return all(len(name) <= 2 for name in schema.node_types)


def dark(colour: str) -> bool:
    """Whether white text is easier to read on it than dark text."""
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    luminance = sum(
        share * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
        for share, part in ((0.2126, red), (0.7152, green), (0.0722, blue))
    )
    return 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.067


def _svg(frame: Frame, parts: Markup, attributes: Markup) -> Markup:
    return Markup('<svg viewBox="0 0 {} {}" xmlns="http://www.w3.org/2000/svg" {}>{}</svg>').format(
        frame.width, frame.height, attributes, parts
    )


def _places(graph: GraphBatch, frame: Frame) -> dict[int, tuple[float, float]]:
    """Positions inside the frame."""
    across, down = frame.width - 2 * frame.margin, frame.height - 2 * frame.margin
    return {node: (frame.margin + x * across, frame.margin + y * down) for node, (x, y) in layout(graph).items()}


def _strength(weight: Emphasis, edge: tuple[int, int, Relation]) -> float:
    return weight.edge.get(edge[:2], 0.0)


def _edge(
    number: int,
    edge: tuple[int, int, Relation],
    place: Mapping[int, tuple[float, float]],
    radius: Mapping[int, float],
    strength: float,
    dash: str,
    frame: Frame,
) -> Markup:
    u, v, relation = edge
    (x1, y1), (x2, y2) = place[u], place[v]
    width = (1.3 + 3.4 * strength) if frame.detailed else 0.9
    ends = Markup('x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"').format(x1, y1, x2, y2)
    line = Markup('<line class="line" {} stroke="{}" stroke-width="{:.1f}"{}/>').format(
        ends,
        INK if strength > 0.5 else LINE,
        width,
        Markup(' stroke-dasharray="{}"').format(dash) if dash else "",
    )
    head = _head((x1, y1), (x2, y2), radius[v], width) if relation.directed else ""
    if not frame.detailed:
        return line + head
    hit = Markup('<line class="hit" {} stroke="transparent" stroke-width="12"/>').format(ends)
    return Markup('<g class="edge" data-edge="{}" data-u="{}" data-v="{}">{}{}{}</g>').format(
        number, u, v, hit, line, head
    )


def _head(start: tuple[float, float], end: tuple[float, float], radius: float, width: float) -> Markup:
    """The tip of an arrow, at the rim of the node where it ends."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy) or 1.0
    back = radius * 1.25 + 1
    size = (1.6 + width) * (0.6 + radius / 14)
    return Markup(
        '<path class="head" d="M0 0L{:.1f} {:.1f}L{:.1f} {:.1f}z" fill="{}" '
        'transform="translate({:.1f} {:.1f}) rotate({:.0f})"/>'
    ).format(
        -2.2 * size,
        -size,
        -2.2 * size,
        size,
        INK,
        end[0] - dx / length * back,
        end[1] - dy / length * back,
        math.degrees(math.atan2(dy, dx)),
    )


def _node(
    node: int, x: float, y: float, radius: float, marks: Sequence[Markup], titles: Sequence[str] | None
) -> Markup:
    inside = Markup("").join(marks)
    if titles is None:
        return Markup('<g transform="translate({:.1f} {:.1f})">{}</g>').format(x, y, inside)
    first = titles[node].split("\n", 1)[0]
    return Markup(
        '<g class="node" data-node="{}" data-r="{:.1f}" transform="translate({:.1f} {:.1f})" role="img" '
        'aria-label="{}"><title>{}</title>{}</g>'
    ).format(node, radius, x, y, first, titles[node], inside)


def _label(
    graph: GraphBatch,
    node: int,
    place: Mapping[int, tuple[float, float]],
    radius: float,
    edges: Sequence[tuple[int, int, Relation]],
    frame: Frame,
) -> Markup:
    """The member's name beside its node, on the side where it has no neighbours, inside the frame."""
    if lettered(graph.schema):
        colour = looks(graph.schema)[readable.type_name(graph, node)].colour
        return Markup(
            '<text class="letter" y="3.6" text-anchor="middle" font-size="10" font-weight="600" fill="{}">{}</text>'
        ).format("#ffffff" if dark(colour) else INK, readable.type_name(graph, node))
    name = shortened(readable.member_name(graph, node), LONGEST_LABEL)
    if not name:
        return Markup("")
    x, y = place[node]
    around = [place[b if a == node else a][1] for a, b, _ in edges if node in (a, b)]
    above = not around or sum(around) / len(around) >= y
    above = (above and y - radius - 18 > 0) or y + radius + 18 > frame.height
    half = len(name) * LETTER / 2 + 3
    shift = min(max(x, half), frame.width - half) - x
    return Markup(
        '<text class="label" x="{:.1f}" y="{:.1f}" text-anchor="middle" font-size="11.5" fill="{}" stroke="#ffffff" '
        'stroke-width="3" paint-order="stroke" stroke-linejoin="round">{}</text>'
    ).format(shift, -radius - 6 if above else radius + 15, INK, name)


def _short_title(graph: GraphBatch, node: int, target: int | None) -> str:
    member = readable.member_name(graph, node)
    return (
        f"{readable.type_name(graph, node)} {node + 1}"
        + (f", {member}" if member else "")
        + (", the classified node" if node == target else "")
    )
