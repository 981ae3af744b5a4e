"""A picture of a run: the best explanation of each class, side by side."""

from __future__ import annotations

import textwrap
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from dignn.explanations.explanation import Explanation, Explanations
from dignn.graphs.feature_spec import FeatureKind
from dignn.report.graph_figure import add_legend, draw, legend_marks

WIDTH, HEIGHT = 3.6, 4.4  # of a graph with its texts, inches
# Names of columns of a type beneath a graph, types, and characters of a line.
MOST_NAMES, MOST_LINES, LINE = 4, 2, 56


def draw_explanations(explanations: Explanations, path: Path) -> None:
    """Draws the first explanation of each class that has one, with one legend for all."""
    best = [several[0] for several in explanations.values() if several]
    with mpl.rc_context({"font.size": 9}):
        figure, axes = plt.subplots(
            1, len(best), figsize=(WIDTH * len(best), HEIGHT), squeeze=False, layout="constrained"
        )
        for ax, explanation in zip(axes.flat, best, strict=True):
            draw(explanation, ax)
            ax.set_title(explanation.class_name, fontsize=12, fontweight="bold", pad=20)
            ax.text(
                0.5, 1.025, certainty(explanation), transform=ax.transAxes, ha="center", fontsize=9, color="#444444"
            )
            ax.text(0.5, -0.02, caption(explanation), transform=ax.transAxes, ha="center", va="top", fontsize=8)
        figure.get_layout_engine().set(h_pad=0.08)
        marks, names = legend_marks(best)
        add_legend(figure, marks, names, loc="outside lower center", ncols=len(marks))
        figure.savefig(path, dpi=95, pil_kwargs={"optimize": True})
        plt.close(figure)


def certainty(explanation: Explanation) -> str:
    """What the model gives the class, and whether that is like what it gives real members."""
    place = explanation.standing
    where = "" if place is None else (", inside the real range" if place.inside else ", outside the real range")
    sure = "> 0.999" if explanation.score > 0.9995 else f"= {explanation.score:.3f}"
    return f"p {sure}{where}"


def caption(explanation: Explanation) -> str:
    """The named columns that the answer rests on most, by node type; members stand beside their nodes already."""
    evidence = explanation.evidence
    if evidence is None:
        return ""
    schema = explanation.graph.schema
    groups: dict[str, list[str]] = {}
    for own, columns in ((True, evidence.own_columns), (False, evidence.columns_around)):
        for column in columns:
            spec = schema.spec(column.node_type)
            if column.drop > 0 and spec.names is not None and spec.kind is not FeatureKind.IDENTITY:
                groups.setdefault(f"{column.node_type}{'' if own else 's around'}", []).append(column.name)
    lines = [f"{of}: {', '.join(names[:MOST_NAMES])}" for of, names in groups.items()]
    return "\n".join(textwrap.fill(line, LINE) for line in lines[:MOST_LINES])
