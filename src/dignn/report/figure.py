"""Explanations as matplotlib figures, in the manner of the paper's case study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dignn.explanation import Explanation
from dignn.readable import member_name
from dignn.report.layout import layout
from dignn.report.looks import looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def draw(explanation: Explanation, ax: Axes | None = None) -> Axes:
    """Draws with matplotlib, in the manner of the paper's case study."""
    import matplotlib.pyplot as plt

    if ax is None:
        ax = plt.subplots(figsize=(4.2, 4.2))[1]
    place = layout(explanation.graph)
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
            member_name(explanation.graph, node),
            point,
            xytext=(0, 9),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    ax.set_title(f"{explanation.class_name}  p = {explanation.score:.4f}", fontsize=10)
    ax.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=4, frameon=False)
    ax.margins(0.12)
    ax.set_axis_off()
    return ax
