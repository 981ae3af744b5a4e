"""Explanation graphs drawn with matplotlib; :mod:`dignn.report.case_study` sets a whole run beside its features.

Figures are made without pyplot, so that they need no display and show themselves once in a notebook.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Text

from dignn.explanation import Explanation
from dignn.readable import edges, member_name, type_name
from dignn.report.characters import clean, shortened
from dignn.report.emphasis import Emphasis, emphasis
from dignn.report.layout import layout
from dignn.report.legend import CLASSIFIED, drawn_lines, drawn_types
from dignn.report.looks import Look, looks
from dignn.report.svg import INK, LINE, LONGEST_LABEL, dark, dashes, lettered

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
# Markers of one size fill different areas; these look alike.
_AREA = {"diamond": 0.75, "star": 1.7, "pentagon": 1.15, "hexagon": 1.15}
SIZE = 130.0  # of a node, points squared
# Letters of a class's name above a graph, and of a name in a legend.
LONGEST_TITLE, LONGEST_NAME = 34, 28


class Picture(Figure):
    """A figure that shows itself in a notebook, also where nothing has set matplotlib up for notebooks."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=110)
        return file.getvalue()


def explanation_figure(explanation: Explanation, ax: Axes | None = None) -> Figure:
    """One explanation with its class, size and probability, and a legend.

    Args:
        explanation: what to draw.
        ax: where to draw it; a figure of its own by default.
    """
    if ax is None:
        ax = Picture(figsize=(4.4, 4.8), layout="constrained").subplots()
    draw(explanation, ax)
    title(explanation, ax)
    marks, names = legend_marks([explanation])
    add_legend(ax, marks, names, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=min(len(marks), 3))
    return ax.figure.figure  # the whole, also where the axes lie in a part of one


def title(explanation: Explanation, ax: Axes) -> None:
    """The class above a graph, size and probability below it, as in the paper."""
    plain(ax.set_title(shortened(explanation.class_name, LONGEST_TITLE), fontsize=11, fontweight="bold", color=INK))
    ax.text(0.5, -0.02, size_and_score(explanation), transform=ax.transAxes, ha="center", va="top", fontsize=9)


def size_and_score(explanation: Explanation) -> str:
    """For example ``Nodes 12, Prob. 0.998``; a probability is not rounded up to 1."""
    score = "> 0.999" if 0.9995 <= explanation.score < 1 else f"{explanation.score:.3f}"
    return f"Nodes {int(explanation.graph.sizes[0])}, Prob. {score}"


def draw(explanation: Explanation, ax: Axes) -> None:
    """Draws the graph alone: types as shapes and colours, what the model would miss stronger, the target ringed."""
    place = layout(explanation.graph)
    look = looks(explanation.graph.schema)
    weight = emphasis(explanation)
    kind = {node: look[type_name(explanation.graph, node)] for node in place}
    area = {node: SIZE * (1 + 0.5 * weight.node.get(node, 0.0)) ** 2 for node in place}
    _draw_edges(explanation, ax, place, area, weight)
    for node, (x, y) in place.items():
        shape = kind[node].shape
        if node == explanation.node:
            ax.scatter(x, y, s=area[node] * 2.9, facecolors="none", edgecolors=INK, linewidths=1.8, zorder=3)
        ax.scatter(
            x,
            y,
            s=area[node] * _AREA.get(shape, 1.0),
            c=kind[node].colour,
            marker=MARKERS[shape],
            edgecolors=INK,
            linewidths=1.0,
            zorder=4,
        )
        _draw_name(explanation, node, kind[node], ax, place)
    ax.margins(0.12)
    if not ax.yaxis_inverted():  # as on the page, where y runs down
        ax.invert_yaxis()
    ax.set_axis_off()


def _draw_edges(
    explanation: Explanation,
    ax: Axes,
    place: Mapping[int, tuple[float, float]],
    area: Mapping[int, float],
    weight: Emphasis,
) -> None:
    dash = dashes(explanation.graph.schema)
    for u, v, relation in edges(explanation.graph):
        strength = weight.edge.get((u, v), 0.0)
        pattern = dash.get(relation.name, "")
        arrow = {
            "arrowstyle": "-|>,head_width=0.25,head_length=0.5" if relation.directed else "-",
            "color": INK if strength > 0.5 else LINE,
            "linewidth": 1.1 + 2.6 * strength,
            "linestyle": (0, [float(step) for step in pattern.split()]) if pattern else "-",
            "shrinkA": 0,
            "shrinkB": area[v] ** 0.5 / 2 + 2 if relation.directed else 0,
        }
        ax.annotate("", xy=place[v], xytext=place[u], arrowprops=arrow, zorder=1)


def _draw_name(
    explanation: Explanation, node: int, look: Look, ax: Axes, place: Mapping[int, tuple[float, float]]
) -> None:
    """The member's name above or below its node, away from its neighbours.

    Where all types have short names, as atoms do, these stand inside the nodes.
    """
    graph = explanation.graph
    name = type_name(graph, node)
    if lettered(graph.schema):
        colour = "white" if dark(look.colour) else INK
        inside: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "fontweight": "bold", "color": colour}
        plain(ax.annotate(name, place[node], **inside, zorder=5))
        return
    heights = [place[v if u == node else u][1] for u, v, _ in edges(graph) if node in (u, v)]
    above = not heights or sum(heights) / len(heights) >= place[node][1]  # y runs down
    offset = {"xytext": (0, 10 if above else -10), "textcoords": "offset points"}
    beside: dict[str, Any] = {**offset, "va": "bottom" if above else "top", "ha": "center"}
    name = shortened(member_name(graph, node), LONGEST_LABEL)
    text = plain(ax.annotate(name, place[node], **beside, fontsize=8, zorder=5))
    text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


def plain(text: Text) -> Text:
    """Shows a text as it is: in names of users a dollar sign is no mathematics, and some characters have no shape."""
    text.set_text(clean(text.get_text()))
    text.set_parse_math(False)
    return text


def legend_marks(explanations: Sequence[Explanation]) -> tuple[list[Artist], list[str]]:
    """Marks and names of what is drawn: node types, lines of relations where these differ, the ring."""
    graphs = [item.graph for item in explanations]
    marks: list[Artist] = []
    names: list[str] = []
    for name, look in drawn_types(graphs).items():
        shape: dict[str, Any] = {"marker": MARKERS[look.shape], "markersize": 9 * _AREA.get(look.shape, 1.0) ** 0.5}
        marks.append(Line2D([], [], linestyle="", color=look.colour, markeredgecolor=INK, **shape))
        names.append(name)
    for name, pattern in drawn_lines(graphs)[0].items():
        style: Any = (0, [float(step) for step in pattern.split()]) if pattern else "-"
        marks.append(Line2D([], [], linestyle=style, color=INK, linewidth=1.4))
        names.append(name)
    if any(item.node is not None for item in explanations):
        ring: dict[str, Any] = {
            "marker": "o",
            "color": INK,
            "markerfacecolor": "none",
            "markersize": 12,
            "markeredgewidth": 1.6,
        }
        marks.append(Line2D([], [], linestyle="", **ring))
        names.append(CLASSIFIED)
    return marks, names


def add_legend(to: Axes | Figure, marks: Sequence[Artist], names: Sequence[str], **options: Any) -> None:
    """A legend whose names are shown as they are: matplotlib leaves out those that begin with an underscore."""
    legend = to.legend(marks, [f"entry {place}" for place in range(len(names))], frameon=False, **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(shortened(name, LONGEST_NAME))
        plain(text)
