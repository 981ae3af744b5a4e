"""Drawings of explanation graphs: one layout and one set of colours and shapes, as matplotlib axes or as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from dignn.explanation import Explanation
from dignn.schema import FeatureKind, Schema

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, which colour-blind readers can tell apart; shapes say the same a second time.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#B8A800", "#777777")
SHAPES = ("circle", "square", "triangle", "diamond", "pentagon", "hexagon", "down", "star")
MARKERS = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "diamond": "D",
    "pentagon": "p",
    "hexagon": "h",
    "down": "v",
    "star": "*",
}
_CORNERS = {
    "square": (4, 45),
    "triangle": (3, -90),
    "diamond": (4, 0),
    "pentagon": (5, -90),
    "hexagon": (6, 0),
    "down": (3, 90),
}


@dataclass(frozen=True)
class Look:
    """How a node type is drawn."""

    colour: str
    shape: str


def looks(schema: Schema) -> dict[str, Look]:
    """A colour and a shape for each node type, by its place in the schema."""
    return {
        name: Look(COLOURS[place % len(COLOURS)], SHAPES[(place + place // len(COLOURS)) % len(SHAPES)])
        for place, name in enumerate(schema.node_types)
    }


def layout(explanation: Explanation) -> dict[int, tuple[float, float]]:
    """Positions in the unit square such that drawn distances are near path lengths; the same every time."""
    graph = nx.Graph(explanation.to_networkx())
    nodes = list(graph)
    if len(nodes) == 1:
        return {nodes[0]: (0.5, 0.5)}
    far = float(len(nodes))  # between components
    length = dict(nx.all_pairs_shortest_path_length(graph))
    distance = np.array([[float(length[u].get(v, far)) for v in nodes] for u in nodes])
    point = _stress_layout(distance)
    point -= point.min(0)
    point /= np.where(point.max(0) > 0, point.max(0), 1.0)
    return {node: (float(x), float(y)) for node, (x, y) in zip(nodes, point, strict=True)}


def _stress_layout(distance: np.ndarray, rounds: int = 200) -> np.ndarray:
    """Stress majorisation with weights 1 / distance^2, from points on a circle.  (n, 2)"""
    size = len(distance)
    angle = 2 * np.pi * np.arange(size) / size
    point = np.stack([np.cos(angle), np.sin(angle)], axis=1) * distance.max() / 2
    weight = np.divide(1.0, distance**2, out=np.zeros_like(distance), where=distance > 0)
    inverse = np.linalg.pinv(np.diag(weight.sum(1)) - weight)
    for _ in range(rounds):
        drawn = np.linalg.norm(point[:, None] - point[None], axis=2)
        pull = np.divide(weight * distance, drawn, out=np.zeros_like(drawn), where=drawn > 1e-9)
        point = inverse @ ((np.diag(pull.sum(1)) - pull) @ point)
    return point


def node_label(explanation: Explanation, node: int) -> str:
    """What stands beside a node: its member name for an identity type, else nothing."""
    schema = explanation.graph.schema
    name = schema.node_types[int(explanation.graph.node_type[0, node])]
    if schema.spec(name).kind is FeatureKind.IDENTITY:
        features = explanation.top_features(node, 1)
        return features[0][0] if features else ""
    return ""


def node_title(explanation: Explanation, node: int) -> str:
    """What a reader sees on hovering: the type, and the largest features by name."""
    schema = explanation.graph.schema
    name = schema.node_types[int(explanation.graph.node_type[0, node])]
    lines = [f"{name} {node}" + (" (the classified node)" if node == explanation.node else "")]
    for column, value in explanation.top_features(node, 12):
        lines.append(column if value == 1 else f"{column}: {value:.3g}")
    return "\n".join(lines)


def draw(explanation: Explanation, ax: Axes | None = None) -> Axes:
    """Draws with matplotlib, in the manner of the paper's case study."""
    import matplotlib.pyplot as plt

    if ax is None:
        ax = plt.subplots(figsize=(4.2, 4.2))[1]
    place = layout(explanation)
    for u, v, relation in explanation.edges():
        style = "-|>" if relation.directed else "-"
        arrow = {"arrowstyle": style, "color": "#999999", "linewidth": 1.2, "shrinkA": 7, "shrinkB": 7}
        ax.annotate("", xy=place[v], xytext=place[u], arrowprops=arrow, zorder=1)
    schema = explanation.graph.schema
    kinds = [schema.node_types[int(code)] for code in explanation.graph.node_type[0].tolist()]
    for name, look in looks(schema).items():
        nodes = [node for node in place if kinds[node] == name]
        if nodes:
            xs, ys = zip(*(place[node] for node in nodes), strict=True)
            ax.scatter(xs, ys, s=150, c=look.colour, marker=MARKERS[look.shape], label=name, zorder=2)
    for node, point in place.items():
        if node == explanation.node:
            ax.scatter(*point, s=420, facecolors="none", edgecolors="black", linewidths=1.6, zorder=3)
        ax.annotate(
            node_label(explanation, node), point, xytext=(0, 9), textcoords="offset points", ha="center", fontsize=8
        )
    ax.set_title(f"{explanation.class_name}  p = {explanation.score:.4f}", fontsize=10)
    ax.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=4, frameon=False)
    ax.margins(0.12)
    ax.set_axis_off()
    return ax


def svg(explanation: Explanation, width: int = 340, height: int = 300) -> str:
    """Draws as an SVG element; hovering a node shows its features."""
    margin = 30
    place = {
        node: (margin + x * (width - 2 * margin), margin + y * (height - 2 * margin))
        for node, (x, y) in layout(explanation).items()
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
        text = escape(node_label(explanation, node))
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
