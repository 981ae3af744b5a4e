"""Explanation graphs drawn with matplotlib; :mod:`dignn.report.case_study` sets a whole run beside its features.

Figures are made without pyplot, so that they need no display and show themselves once in a notebook.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Text

from dignn.report.emphasis import emphasis
from dignn.report.graph_drawing import INK, SHAPES, DrawnEdge, DrawnNode, drawing
from dignn.report.legend import CLASSIFIED, drawn_lines, drawn_types
from dignn.report.safe_text import clean, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dignn.explanations.explanation import Explanation

MARKERS = dict(zip(SHAPES, "os^Dphv*", strict=True))
# Markers of one size fill different areas; these look alike.
_AREA = {"diamond": 0.75, "star": 1.7, "pentagon": 1.15, "hexagon": 1.15}
NODE_AREA = 130.0  # of a node, points squared
# Letters of a class's name above a graph, and of a name in a legend.
TITLE_LETTERS, LEGEND_LETTERS = 34, 28


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
    as_is(ax.set_title(shortened(explanation.class_name, TITLE_LETTERS), fontsize=11, fontweight="bold", color=INK))
    ax.text(0.5, -0.02, size_and_score(explanation), transform=ax.transAxes, ha="center", va="top", fontsize=9)


def size_and_score(explanation: Explanation) -> str:
    """For example ``Nodes 12, Prob. 0.998``; a probability is not rounded up to 1."""
    score = "> 0.999" if 0.9995 <= explanation.score < 1 else f"{explanation.score:.3f}"
    return f"Nodes {int(explanation.graph.sizes[0])}, Prob. {score}"


def draw(explanation: Explanation, ax: Axes) -> None:
    """Draws the graph alone: types as shapes and colours, what the model would miss stronger, the target ringed."""
    nodes, edges = drawing(explanation.graph, explanation.node, emphasis(explanation.evidence))
    of = {node.number: node for node in nodes}
    for edge in edges:
        _draw_edge(edge, of[edge.source], of[edge.target], ax)
    for node in nodes:
        shape, area = node.style.shape, _area(node)
        if node.ringed:
            ax.scatter(node.x, node.y, s=area * 2.9, facecolors="none", edgecolors=INK, linewidths=1.8, zorder=3)
        filled: dict[str, Any] = {"c": node.style.colour, "marker": MARKERS[shape], "s": area * _AREA.get(shape, 1.0)}
        ax.scatter(node.x, node.y, **filled, edgecolors=INK, linewidths=1.0, zorder=4)
        _draw_name(node, ax)
    ax.margins(0.12)
    if not ax.yaxis_inverted():  # as on the page, where y runs down
        ax.invert_yaxis()
    ax.set_axis_off()


def _area(node: DrawnNode) -> float:
    """Of a node's marker, points squared."""
    return NODE_AREA * (1 + 0.5 * node.strength) ** 2


def _draw_edge(edge: DrawnEdge, start: DrawnNode, end: DrawnNode, ax: Axes) -> None:
    arrow = {
        "arrowstyle": "-|>,head_width=0.25,head_length=0.5" if edge.directed else "-",
        "color": edge.colour,
        "linewidth": 1.1 + 2.6 * edge.strength,
        "linestyle": _line_style(edge.dash),
        "shrinkA": 0,
        "shrinkB": _area(end) ** 0.5 / 2 + 2 if edge.directed else 0,
    }
    ax.annotate("", xy=(end.x, end.y), xytext=(start.x, start.y), arrowprops=arrow, zorder=1)


def _line_style(dash: str) -> Any:
    return (0, [float(step) for step in dash.split()]) if dash else "-"


def _draw_name(node: DrawnNode, ax: Axes) -> None:
    """The letter inside a node, or the member's name above or below it, away from its neighbours."""
    text: dict[str, Any] = {"xy": (node.x, node.y), "ha": "center", "fontsize": 8, "zorder": 5}
    if node.letter:
        as_is(ax.annotate(node.letter, **text, va="center", fontweight="bold", color=node.letter_colour))
        return
    text |= {"xytext": (0, 10 if node.above else -10), "textcoords": "offset points"}
    name = as_is(ax.annotate(node.label, **text, va="bottom" if node.above else "top"))
    name.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


def as_is(text: Text) -> Text:
    """Shows a text as it is: in names of users a dollar sign is no mathematics, and some characters have no shape."""
    text.set_text(clean(text.get_text()))
    text.set_parse_math(False)
    return text


def legend_marks(explanations: Sequence[Explanation]) -> tuple[list[Artist], list[str]]:
    """Marks and names of what is drawn: node types, lines of relations where these differ, the ring."""
    graphs = [item.graph for item in explanations]
    marks: list[dict[str, Any]] = []
    types, (lines, _) = drawn_types(graphs), drawn_lines(graphs)
    for look in types.values():
        size = 9 * _AREA.get(look.shape, 1.0) ** 0.5
        marks.append({"marker": MARKERS[look.shape], "markersize": size, "color": look.colour, "markeredgecolor": INK})
    marks += [{"linestyle": _line_style(dash), "color": INK, "linewidth": 1.4} for dash in lines.values()]
    names = [*types, *lines]
    if any(item.node is not None for item in explanations):
        ring = {"marker": "o", "markersize": 12, "markerfacecolor": "none", "markeredgewidth": 1.6}
        marks.append({**ring, "color": INK})
        names.append(CLASSIFIED)
    return [Line2D([], [], **{"linestyle": "", **mark}) for mark in marks], names


def add_legend(to: Axes | Figure, marks: Sequence[Artist], names: Sequence[str], **options: Any) -> None:
    """A legend whose names are shown as they are: matplotlib leaves out those that begin with an underscore."""
    legend = to.legend(marks, [f"entry {place}" for place in range(len(names))], frameon=False, **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(shortened(name, LEGEND_LETTERS))
        as_is(text)
