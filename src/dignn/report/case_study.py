"""The paper's case study as one figure: for each class a graph, its target node's features, its continuous values."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from dignn.backdrop import Profile
from dignn.errors import DignnError
from dignn.explanation import Explanation, Explanations
from dignn.readable import type_name
from dignn.report.characters import shortened
from dignn.report.charts.densities import ENOUGH, Density, density_of
from dignn.report.figure import Picture, add_legend, draw, legend_marks, plain, title
from dignn.report.svg import INK, LINE
from dignn.schema import FeatureKind, Schema

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Classes that are drawn at most: a figure of hundreds would be metres high.
CLASSES = 24
# Graphs side by side, and inches of a graph, of features and of a density.
MOST_COLUMNS = 4
WIDTH, GRAPH, FEATURES, DENSITY, LEGEND = 3.1, 2.9, 1.75, 1.35, 0.6
# Named columns of a node, and letters of a name.
MOST_NAMES, LONGEST = 4, 14
EXPLAINED, REAL, PALE = "#1f4e9c", "#9aa3af", "#9db4d8"
# Where one bin has this share of the real values, only a logarithmic density shows the others.
SPIKE = 0.8


@dataclass(frozen=True)
class Study:
    """What there is to draw.

    Args:
        shown: class names with their explanation of the wanted rank, None where there is none.
        profiles: by node type, features of real nodes.
        own: whether classified nodes have features to draw.
        continuous: types whose values are drawn.
    """

    shown: list[tuple[str, Explanation | None]]
    profiles: dict[str, Profile]
    own: bool
    continuous: list[str]

    @property
    def heights(self) -> list[float]:
        """Inches of the rows of one band of classes."""
        return [GRAPH, *([FEATURES] if self.own else []), *(DENSITY for _ in self.continuous)]


def explanations_figure(explanations: Explanations, rank: int = 0) -> Figure:
    """A column per class: the explanation, the features of its classified node, densities of its continuous values.

    Features and densities stand beside those of the real class, where the explanations know these. Many classes wrap;
    of more than ``CLASSES`` the first that have such an explanation are shown, and the title says how many there are.

    Args:
        explanations: of all classes.
        rank: which one of each class, 0 is the best.

    Raises:
        DignnError: no class has an explanation of this rank.
    """
    if len(explanations) <= CLASSES:
        return _case_study(explanations, rank)
    there = {name: several for name, several in explanations.items() if 0 <= rank < len(several)} or explanations
    shown = dict(list(there.items())[:CLASSES])
    figure = _case_study(replace(explanations, by_class=shown), rank)
    figure.suptitle(f"{len(shown)} of {len(explanations):,} classes", fontsize=10, color=INK)
    return figure


def _case_study(explanations: Explanations, rank: int) -> Figure:
    study = _study(explanations, rank)
    drawn = [item for _, item in study.shown if item is not None]
    bands = math.ceil(len(study.shown) / MOST_COLUMNS)
    columns = math.ceil(len(study.shown) / bands)
    heights = study.heights * bands
    width = WIDTH * max(columns, 1.6)  # room for the legend
    figure = Picture(figsize=(width, sum(heights) + LEGEND), layout="constrained")
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    labelled = -1  # the band that has its labels, beside its first graph
    for place, (name, explanation) in enumerate(study.shown):
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


def _study(explanations: Explanations, rank: int) -> Study:
    shown = [(name, several[rank] if 0 <= rank < len(several) else None) for name, several in explanations.items()]
    drawn = [item for _, item in shown if item is not None]
    if not drawn:
        most = max((len(several) for several in explanations.values()), default=0)
        told = f"ranks run from 0 to {most - 1}" if most else "no class has any"
        raise DignnError(f"No class has an explanation of rank {rank}; {told}")
    schema: Schema = drawn[0].graph.schema
    there = {type_name(item.graph, node) for item in drawn for node in range(int(item.graph.sizes[0]))}
    continuous = [
        name
        for name, spec in zip(schema.node_types, schema.features, strict=True)
        if spec.kind is FeatureKind.CONTINUOUS and name in there and all(name in item.graph.tables for item in drawn)
    ]
    target = schema.target
    own = (
        target is not None
        and schema.spec(target).kind not in (FeatureKind.NONE, FeatureKind.IDENTITY)
        and all(target in item.graph.tables for item in drawn)
    )
    backdrop = explanations.backdrop
    profiles = {} if backdrop is None else backdrop.profiles
    return Study(shown, profiles, own, continuous)


def _draw_class(name: str, explanation: Explanation | None, study: Study, axes: list[Axes], first: bool) -> None:
    if explanation is None:
        for ax in axes:
            ax.set_axis_off()
        plain(axes[0].set_title(shortened(name, 34), fontsize=11, fontweight="bold", color=INK))
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
    plain(ax.set_ylabel(text, fontsize=8, color=INK))
    ax.tick_params(labelsize=7, colors=INK, length=2)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def _draw_features(explanation: Explanation, profile: Profile | None, ax: Axes) -> None:
    """Upwards the columns that the classified node has, downwards the mean of real nodes of the class.

    Codes of categories have no height, so these are told and not drawn.
    """
    graph, node = explanation.graph, explanation.node
    assert node is not None  # there is a target type
    name = type_name(graph, node)
    spec = graph.schema.spec(name)
    row = graph.tables[name][int(graph.row[0, node])].numpy().astype(float)
    if spec.kind is FeatureKind.CATEGORICAL:
        _tell_categories(explanation, name, row, ax)
        return
    mean = None
    if profile is not None and float(profile.weight[explanation.class_index]) > 0:
        mean = profile.mean[explanation.class_index].numpy().astype(float)
    named = _strongest(explanation, row)
    continuous = spec.kind is FeatureKind.CONTINUOUS
    if continuous:
        ax.axhline(0, color=LINE, linewidth=0.8)
        if mean is not None:
            ax.plot(np.arange(spec.width), mean, color=REAL, linewidth=1.2, drawstyle="steps-mid")
        ax.vlines(np.arange(spec.width), 0, row, color=EXPLAINED, linewidth=_stem(spec.width))
        ax.set_yticks(_rounded(row))
    else:
        scale = max(row.max(), 1.0)
        has = row.nonzero()[0]
        ax.vlines(has, 0, row[has] / scale, color=PALE, linewidth=_stem(spec.width))
        strong = np.array([column for column, _ in named], dtype=int)
        ax.vlines(strong, 0, row[strong] / scale, color=EXPLAINED, linewidth=max(1.6, _stem(spec.width)))
        ticks, texts = [0.0, 1.0], ["0", f"{scale:g}"]
        if mean is not None and mean.max() > 0:
            columns = mean.nonzero()[0]
            ax.vlines(columns, 0, -mean[columns] / mean.max(), color=REAL, linewidth=_stem(spec.width))
            ticks, texts = [-1.0, *ticks], [f"{mean.max():.2g}", *texts]
        ax.set_yticks(ticks, texts)
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.spines["bottom"].set_visible(False)
        ax.set_xticks([])
    ax.set_xlim(-0.02 * spec.width - 0.5, 1.02 * spec.width - 0.5)
    _write_names(named, np.maximum(row, 0.0) if continuous else np.ones(spec.width), spec.width, ax)


def _tell_categories(explanation: Explanation, name: str, row: np.ndarray, ax: Axes) -> None:
    """Codes of the columns that the model would miss most, else of the first ones."""
    spec = explanation.graph.schema.spec(name)
    own = [] if explanation.evidence is None else [effect.column for effect in explanation.evidence.own_columns]
    columns = [*own, *(column for column in range(spec.width) if column not in own)][:MOST_NAMES]
    told = [f"{shortened(spec.column_name(column), 2 * LONGEST)}: {row[column]:g}" for column in columns]
    rest = [f"and {spec.width - len(columns):,} more"] if spec.width > len(columns) else []
    lines = [f"categories of the {shortened(name, 16)} (not compared)", *told, *rest]
    ax.set_axis_off()
    plain(ax.text(0.5, 0.5, "\n".join(lines), transform=ax.transAxes, ha="center", va="center", fontsize=7, color=INK))


def _stem(width: int) -> float:
    """Width of a line, such that the columns of a type stand apart."""
    return min(3.0, max(0.6, 150 / max(width, 1)))


def _rounded(row: np.ndarray) -> list[float]:
    """Ticks of signed values."""
    return sorted({0.0, *(float(f"{value:.1g}") for value in (row.min(), row.max()))})


def _strongest(explanation: Explanation, row: np.ndarray) -> list[tuple[int, str]]:
    """Columns to name: those that the model would miss most, else the largest; from left to right."""
    evidence = explanation.evidence
    own = [] if evidence is None else [column.column for column in evidence.own_columns if row[column.column] != 0]
    if not own:
        own = [int(column) for column in np.argsort(-np.abs(row), kind="stable") if row[column] != 0]
    spec = explanation.graph.schema.spec(type_name(explanation.graph, explanation.node or 0))
    return [(column, shortened(spec.column_name(column), LONGEST)) for column in sorted(own[:MOST_NAMES])]


def _write_names(named: list[tuple[int, str]], tops: np.ndarray, width: int, ax: Axes) -> None:
    """Names above their columns, whose tops these are, pushed apart where they are near."""
    gap = 0.16 * width
    spots = [float(column) for column, _ in named]
    for place in range(1, len(spots)):
        spots[place] = max(spots[place], spots[place - 1] + gap)
    over = max(0.0, (spots[-1] if spots else 0.0) - 0.86 * width)
    for place in range(len(spots) - 1, -1, -1):
        limit = spots[place] - over if place == len(spots) - 1 else min(spots[place], spots[place + 1] - gap)
        spots[place] = limit
    for (column, name), spot in zip(named, spots, strict=True):
        link = {"arrowstyle": "-", "color": EXPLAINED, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
        where: dict[str, Any] = {"xytext": (spot, 1.06), "textcoords": ("data", "axes fraction"), "arrowprops": link}
        style: dict[str, Any] = {
            "rotation": 28,
            "rotation_mode": "anchor",
            "ha": "left",
            "fontsize": 7,
            "color": EXPLAINED,
        }
        plain(ax.annotate(name, (column, float(tops[column])), **where, **style))


def _draw_density(explanation: Explanation, kind: str, profile: Profile | None, ax: Axes) -> None:
    """Values of the explanation's nodes of one type, all columns together, before those of the real class."""
    values = explanation.graph.features(kind).numpy().astype(float).ravel()
    real = None
    if profile is not None and profile.bounds is not None and profile.share is not None:
        line = explanation.class_index
        real = Density(profile.bounds[0].tolist(), profile.share[line, 0].tolist(), float(profile.mean[line].mean()))
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
