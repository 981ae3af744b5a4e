"""The paper's case study as one figure: for each class a graph, its target node's features, its continuous values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from dignn.core.errors import DignnError
from dignn.graphs.column_words import carried, in_words
from dignn.graphs.description import type_name
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.report.charts.densities import ENOUGH, density_of
from dignn.report.graph_drawing import INK, LINE
from dignn.report.graph_figure import Picture, add_legend, as_is, draw, legend_marks, title
from dignn.report.reference import Profile
from dignn.report.safe_text import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dignn.explanations.explanation import Explanation, Explanations

# Classes that are drawn at most: a figure of hundreds would be metres high.
DRAWN_CLASSES = 24
# Graphs side by side, and inches of a graph, of features and of a density.
SIDE_BY_SIDE = 4
GRAPH_WIDTH, GRAPH_HEIGHT, FEATURES_HEIGHT, DENSITY_HEIGHT, LEGEND_HEIGHT = 3.1, 2.9, 1.75, 1.35, 0.6
# Named columns of a node, and letters of a name.
MOST_NAMES, COLUMN_LETTERS = 4, 14
EXPLAINED, REAL, PALE = "#1f4e9c", "#9aa3af", "#9db4d8"
# Where one bin has this share of the real values, only a logarithmic density shows the others.
SPIKE = 0.8


@dataclass(frozen=True)
class Study:
    """What there is to draw.

    Args:
        profiles: by node type, features of real nodes.
        own: whether classified nodes have features to draw.
        continuous: types whose values are drawn.
    """

    profiles: Mapping[str, Profile]
    own: bool
    continuous: list[str]

    @property
    def heights(self) -> list[float]:
        """Inches of the rows of one band of classes."""
        return [GRAPH_HEIGHT, *([FEATURES_HEIGHT] if self.own else []), *(DENSITY_HEIGHT for _ in self.continuous)]


def explanations_figure(explanations: Explanations, rank: int = 0) -> Figure:
    """A column per class: the explanation, the features of its classified node, densities of its continuous values.

    Features and densities stand beside those of the real class, where the explanations know these. Many classes wrap;
    of more than 24 the first that have such an explanation are shown, and the title says how many there are.

    Args:
        explanations: of all classes.
        rank: which one of each class, 0 is the best.

    Raises:
        DignnError: no class has an explanation of this rank.
    """
    shown: Sequence[tuple[str, Explanation | None]]
    shown = [(name, several[rank] if 0 <= rank < len(several) else None) for name, several in explanations.items()]
    if len(shown) > DRAWN_CLASSES:
        shown = [(name, item) for name, item in shown if item is not None][:DRAWN_CLASSES]
    drawn = [item for _, item in shown if item is not None]
    if not drawn:
        most = max((len(several) for several in explanations.values()), default=0)
        told = f"ranks run from 0 to {most - 1}" if most else "no class has any"
        raise DignnError(f"No class has an explanation of rank {rank}; {told}")
    study = _study(drawn, {} if explanations.reference is None else explanations.reference.profiles)
    figure = _draw_classes(shown, drawn, study)
    if len(explanations) > DRAWN_CLASSES:
        figure.suptitle(f"{len(shown)} of {len(explanations):,} classes", fontsize=10, color=INK)
    return figure


def _draw_classes(shown: Sequence[tuple[str, Explanation | None]], drawn: list[Explanation], study: Study) -> Figure:
    bands = math.ceil(len(shown) / SIDE_BY_SIDE)
    columns = math.ceil(len(shown) / bands)
    heights = study.heights * bands
    width = GRAPH_WIDTH * max(columns, 1.6)  # room for the legend
    figure = Picture(figsize=(width, sum(heights) + LEGEND_HEIGHT), layout="constrained")
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    labelled = -1  # the band that has its labels, beside its first graph
    for place, (name, explanation) in enumerate(shown):
        band, column = divmod(place, columns)
        top = band * len(study.heights)
        axes = [figure.add_subplot(grid[top + row, column]) for row in range(len(study.heights))]
        _draw_class(name, explanation, study, axes, first=band != labelled)
        labelled = labelled if explanation is None else band
    marks, names = legend_marks(drawn)
    if len(study.heights) > 1:
        marks, names = [*marks, Patch(color=EXPLAINED)], [*names, "the explanation"]
        if study.profiles:
            marks, names = [*marks, Patch(color=REAL)], [*names, "real nodes of the class"]
    ncols = min(len(marks), max(2, round(width / 1.7)))
    add_legend(figure, marks, names, loc="outside lower center", ncols=ncols, fontsize=9)
    return figure


def _study(drawn: list[Explanation], profiles: Mapping[str, Profile]) -> Study:
    schema = drawn[0].graph.schema
    there = {type_name(item.graph, node) for item in drawn for node in range(int(item.graph.sizes[0]))}
    known = {name for name in schema.node_types if all(name in item.graph.tables for item in drawn)}
    kinds = {name: spec.kind for name, spec in zip(schema.node_types, schema.features, strict=True) if name in known}
    return Study(
        profiles,
        own=kinds.get(schema.target or "") not in (None, FeatureKind.NONE, FeatureKind.IDENTITY),
        continuous=[name for name, kind in kinds.items() if kind is FeatureKind.CONTINUOUS and name in there],
    )


def _draw_class(name: str, explanation: Explanation | None, study: Study, axes: list[Axes], first: bool) -> None:
    if explanation is None:
        for ax in axes:
            ax.set_axis_off()
        as_is(axes[0].set_title(shortened(name, 34), fontsize=11, fontweight="bold", color=INK))
        axes[0].text(0.5, 0.5, "no explanation", ha="center", va="center", color=INK, fontsize=9)
        return
    draw(explanation, axes[0])
    title(explanation, axes[0])
    below = iter(axes[1:])
    if study.own:
        ax = next(below)
        target = str(explanation.graph.schema.target)
        _draw_features(explanation, study.profiles.get(target), ax)
        _label(ax, f"features of the\n{shortened(target, 16)}" if first else "")
    for kind in study.continuous:
        ax = next(below)
        _draw_density(explanation, kind, study.profiles.get(kind), ax)
        _label(ax, f"density of\n{shortened(kind, 16)} values" if first else "")


def _label(ax: Axes, text: str) -> None:
    as_is(ax.set_ylabel(text, fontsize=8, color=INK))
    ax.tick_params(labelsize=7, colors=INK, length=2)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def _draw_features(explanation: Explanation, profile: Profile | None, ax: Axes) -> None:
    """Upwards the columns that the classified node has, downwards the mean of real nodes of the class.

    Codes of categories have no height, and columns that differ no common one, so these are told and not drawn.
    """
    graph, node = explanation.graph, explanation.node
    assert node is not None  # there is a target type
    name = type_name(graph, node)
    spec = graph.schema.spec(name)
    row = graph.tables[name][int(graph.row[0, node])].numpy().astype(float)
    missed = [] if explanation.evidence is None else [effect.column for effect in explanation.evidence.own_columns]
    if spec.kind is FeatureKind.CATEGORICAL or spec.columns is not None:
        _tell_values(spec, name, missed, row, ax)
        return
    mean = None
    if profile is not None and float(profile.weight[explanation.class_index]) > 0:
        mean = profile.mean[explanation.class_index].numpy().astype(float)
    # What the model would miss most, else the largest; from left to right.
    there = [column for column in missed if row[column] != 0]
    there = there or [int(column) for column in np.argsort(-np.abs(row), kind="stable") if row[column] != 0]
    named = sorted(there[:MOST_NAMES])
    stem = min(3.0, max(0.6, 150 / spec.width))  # such that columns stand apart
    if spec.kind is FeatureKind.CONTINUOUS:
        tops = np.maximum(row, 0.0)
        ax.axhline(0, color=LINE, linewidth=0.8)
        if mean is not None:
            ax.plot(np.arange(spec.width), mean, color=REAL, linewidth=1.2, drawstyle="steps-mid")
        ax.vlines(np.arange(spec.width), 0, row, color=EXPLAINED, linewidth=stem)
        ax.set_yticks(sorted({0.0, *(float(f"{value:.1g}") for value in (row.min(), row.max()))}))
    else:
        tops = np.ones(spec.width)
        scale = max(row.max(), 1.0)
        has = row.nonzero()[0]
        ax.vlines(has, 0, row[has] / scale, color=PALE, linewidth=stem)
        ax.vlines(named, 0, row[named] / scale, color=EXPLAINED, linewidth=max(1.6, stem))
        ticks, texts = [0.0, 1.0], ["0", f"{scale:g}"]
        if mean is not None and mean.max() > 0:
            columns = mean.nonzero()[0]
            ax.vlines(columns, 0, -mean[columns] / mean.max(), color=REAL, linewidth=stem)
            ticks, texts = [-1.0, *ticks], [f"{mean.max():.2g}", *texts]
        ax.set_yticks(ticks, texts)
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.spines["bottom"].set_visible(False)
        ax.set_xticks([])
    ax.set_xlim(-0.02 * spec.width - 0.5, 1.02 * spec.width - 0.5)
    _write_names(spec, named, tops, ax)


def _tell_values(spec: FeatureSpec, name: str, missed: list[int], row: np.ndarray, ax: Axes) -> None:
    """Values of the columns that the model would miss most, else of the first ones."""
    every = list(range(spec.width)) if spec.columns is None else carried(torch.from_numpy(row), spec)
    columns = [*missed, *(column for column in every if column not in missed)][:MOST_NAMES]
    names = [shortened(spec.column_name(column), 2 * COLUMN_LETTERS) for column in columns]
    values = [in_words(float(row[column]), spec.column(column)) for column in columns]
    told = [f"{title}: {value}" for title, value in zip(names, values, strict=True)]
    rest = [f"and {len(every) - len(columns):,} more"] if len(every) > len(columns) else []
    what = "categories" if spec.columns is None else "values"
    lines = [f"{what} of the {shortened(name, 16)} (not compared)", *told, *rest]
    ax.set_axis_off()
    as_is(ax.text(0.5, 0.5, "\n".join(lines), transform=ax.transAxes, ha="center", va="center", fontsize=7, color=INK))


def _write_names(spec: FeatureSpec, named: list[int], tops: np.ndarray, ax: Axes) -> None:
    """Names of columns above their tops, pushed apart where they are near, and back where they would leave the axes."""
    steps = 0.16 * spec.width * np.arange(len(named))
    spots = np.maximum.accumulate(np.array(named) - steps)
    spots[-1:] -= np.maximum(spots[-1:] + steps[-1:] - 0.86 * spec.width, 0.0)
    spots = np.minimum.accumulate(spots[::-1])[::-1] + steps
    link: dict[str, Any] = {"arrowstyle": "-", "color": EXPLAINED, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
    text: dict[str, Any] = {"rotation": 28, "rotation_mode": "anchor", "ha": "left", "fontsize": 7, "color": EXPLAINED}
    for column, spot in zip(named, spots.tolist(), strict=True):
        where: dict[str, Any] = {"xytext": (spot, 1.06), "textcoords": ("data", "axes fraction"), "arrowprops": link}
        name = shortened(spec.column_name(column), COLUMN_LETTERS)
        as_is(ax.annotate(name, (column, float(tops[column])), **where, **text))


def _draw_density(explanation: Explanation, kind: str, profile: Profile | None, ax: Axes) -> None:
    """Values of the explanation's nodes of one type, all columns together, before those of the real class."""
    values = explanation.graph.features(kind).numpy().astype(float).ravel()
    real = None if profile is None else profile.density(explanation.class_index)
    ax.set_yticks([])
    if real is not None and not real.seen:
        real = None
        ax.text(0.5, 0.7, "no real value of the class in view", transform=ax.transAxes, ha="center", fontsize=7)
    ends = [*(() if real is None else real.span()), *((values.min(), values.max()) if len(values) else ())]
    if not len(values):
        ax.text(0.5, 0.85, f"no {shortened(kind, 20)} here", transform=ax.transAxes, ha="center", fontsize=7)
    if not ends:
        return
    room = 0.05 * (max(ends) - min(ends)) or 0.5
    at = np.linspace(min(ends) - room, max(ends) + room, 241)
    least = float(at[-1] - at[0]) / 100
    if real is not None:
        ax.fill_between(at, real.at(at, least), color=REAL, alpha=0.55, linewidth=0)
    if len(values) >= ENOUGH:
        ax.plot(at, density_of(values, at, least), color=EXPLAINED, linewidth=1.4)
    elif len(values):
        top = ax.get_ylim()[1] if real is not None else 1.0
        ax.vlines(values, 0, 0.2 * top, color=EXPLAINED, linewidth=1.2)
    ax.set_ylim(bottom=0)
    if real is not None and max(real.share) > SPIKE:
        ax.set_yscale("log")
        ax.set_ylim(bottom=ax.get_ylim()[1] / 1e4)
        ax.set_yticks([])
        ax.minorticks_off()
        ax.text(1, 0.9, "logarithmic", transform=ax.transAxes, ha="right", fontsize=7, color=INK)
