"""Explanations as SVG."""

from __future__ import annotations

import math
from html import escape

from dignn.explanation import Explanation
from dignn.readable import member_name, type_name
from dignn.report.layout import layout
from dignn.report.looks import Look, looks

_CORNERS = {
    "square": (4, 45),
    "triangle": (3, -90),
    "diamond": (4, 0),
    "pentagon": (5, -90),
    "hexagon": (6, 0),
    "down": (3, 90),
}


def node_title(explanation: Explanation, node: int) -> str:
    """What a reader sees on hovering: the type, and the largest features by name."""
    lines = [
        f"{type_name(explanation.graph, node)} {node}" + (" (the classified node)" if node == explanation.node else "")
    ]
    for column, value in explanation.top_features(node, 12):
        lines.append(column if value == 1 else f"{column}: {value:.3g}")
    return "\n".join(lines)


def svg(explanation: Explanation, width: int = 340, height: int = 300) -> str:
    """Draws as an SVG element; hovering a node shows its features."""
    margin = 30
    place = {
        node: (margin + x * (width - 2 * margin), margin + y * (height - 2 * margin))
        for node, (x, y) in layout(explanation.graph).items()
    }
    schema = explanation.graph.schema
    look = looks(schema)
    parts = []
    for u, v, relation in explanation.edges():
        (x1, y1), (x2, y2) = place[u], place[v]
        if relation.directed:  # the arrow's tip stops at the node's rim
            length = math.hypot(x2 - x1, y2 - y1) or 1.0
            x2, y2 = x2 - (x2 - x1) / length * 12, y2 - (y2 - y1) / length * 12
        tip = ' marker-end="url(#tip)"' if relation.directed else ""
        parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="edge"{tip}/>')
    for node, (x, y) in place.items():
        kind = schema.node_types[int(explanation.graph.node_type[0, node])]
        ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="15" class="target"/>' if node == explanation.node else ""
        title = escape(node_title(explanation, node))
        text = escape(member_name(explanation.graph, node))
        label = f'<text x="{x:.1f}" y="{y - 13:.1f}" class="label">{text}</text>' if text else ""
        parts.append(f"<g><title>{title}</title>{ring}{shape_svg(look[kind], x, y)}{label}</g>")
    name = escape(f"Explanation of {explanation.class_name}, probability {explanation.score:.3f}, {len(place)} nodes")
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{name}">{"".join(parts)}</svg>'


def shape_svg(look: Look, x: float, y: float, radius: float = 8.5) -> str:
    """The mark of a node type, centred at (x, y)."""
    if look.shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{look.colour}"/>'
    if look.shape == "star":
        angles = [(-90.0 + 36 * k, radius * (1.25 if k % 2 == 0 else 0.55)) for k in range(10)]
    else:
        count, turn = _CORNERS[look.shape]
        angles = [(turn + 360 / count * k, radius * 1.2) for k in range(count)]
    points = " ".join(
        f"{x + r * math.cos(math.radians(a)):.1f},{y + r * math.sin(math.radians(a)):.1f}" for a, r in angles
    )
    return f'<polygon points="{points}" fill="{look.colour}"/>'
