"""How far to trust explanations: the figures of a run beside floors and controls, as pictures, words and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dignn.core.numerals import tight_percent
from dignn.metrics.controls import CONTROLS
from dignn.metrics.counting import mean
from dignn.metrics.metric import GROUPS, Figure, Metric, all_metrics
from dignn.report import fidelity_section
from dignn.report.charts.dots import CONTROL_SHAPES, Control, DotRow, dots, mark
from dignn.report.graph_panel import legend
from dignn.report.graph_svg import small_svg
from dignn.report.lookup import entry, number_at, part, shows_real
from dignn.report.reference import SHOWN
from dignn.report.trust_summary import FigurePath, Judged, summed_up
from dignn.report.trust_tables import cell, chemistry, features_by_type, rules

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanations

# Classes whose contrast is drawn; a table has all of them.
CONTRASTED_CLASSES = 12
# Groups of figures on each part of the page, and what real graphs are there.
_PARTS = {
    "realism": (("structure", "features"), "other real graphs (as good as it gets)"),
    "faithfulness": (("faithfulness", "contrast", "truth", "goes_by"), "real graphs of the class, at random"),
}
_SHAPES = dict(zip(CONTROLS, CONTROL_SHAPES, strict=True))
# The two columns of a run's own graphs.
_MADE, _SHOWN = "random candidates, not refined", "all candidates, refined where need be"
_CHOSEN = "the explanations shown are chosen from these"


def content(explanations: Explanations) -> dict[str, Any]:
    """What ``trust.html`` shows; parts that a run lacks are None."""
    metrics = explanations.about.get("metrics")
    real = shows_real(explanations.about)
    always = {
        "difference": entry(explanations.about, str, "difference"),
        "graphs": _graphs(explanations),
        "real": real,
        "fidelity": fidelity_section.content(explanations),
    }
    if not isinstance(metrics, Mapping):
        return {"measured": False, "summary": [], "realism": None, "faithfulness": None, **always}
    reader = _Reader(metrics)
    parts = {name: reader.part(*groups) for name, groups in _PARTS.items()}
    judged = {row.item.path: row.judged for shown in parts.values() for row in shown["rows"]}
    parts["realism"] |= {"types": features_by_type(metrics), "overlap": _overlap(metrics), "fresh": reader.fresh()}
    first = mean([several[0].score for several in explanations.values() if several])
    parts["faithfulness"] |= {"rules": rules(metrics), "chemistry": chemistry(metrics)}
    return {"measured": True, "summary": summed_up(judged, first, real=real), **parts, **always}


@dataclass(frozen=True)
class _Item:
    """A figure of a run: under which name, and where in ``metrics.json``."""

    metric: Metric
    figure: Figure
    name: str
    path: FigurePath


@dataclass(frozen=True)
class _Row:
    """A figure with its picture and what is said of it."""

    item: _Item
    chart: Markup
    judged: Judged


class _Reader:
    """Reads the columns of ``metrics.json``: the run's own graphs, twice, floors, and controls."""

    def __init__(self, metrics: Mapping[str, Any]) -> None:
        self.metrics, self.floor = metrics, metrics.get("floor")
        # Runs of an earlier version have one column of their own.
        self.shown = part(metrics, "candidates") or None
        there = part(metrics, "control")
        featureless = number_at(metrics, "sound.features.column_error") is None
        # Without features, controls that change features are the candidates themselves.
        self.controls = {
            name: there[name]
            for name, control in CONTROLS.items()
            if isinstance(there.get(name), Mapping) and not (featureless and control.features)
        }
        number = number_at(metrics, "details.compared")
        self.made = _MADE if number is None else f"{number:.0f} {_MADE}"

    def part(self, groups: tuple[str, ...], real: str) -> dict[str, Any]:
        """Legend, pictures by group, and table of some groups; ``real`` says what real graphs are there."""
        items = [item for metric in all_metrics() if metric.group in groups for item in self._items(metric)]
        rows = [row for row in map(self._row, items) if row is not None]
        columns = {self.made: self.metrics} | ({_SHOWN: self.shown} if self.shown else {})
        columns |= {"real graphs": self.floor} | {CONTROLS[name].words: layer for name, layer in self.controls.items()}
        drawn = {group: [row for row in rows if row.item.metric.group == group] for group in groups}
        return {
            "legend": self._legend(real),
            "rows": rows,
            "groups": [{"title": GROUPS[group], "rows": _lowest(some)} for group, some in drawn.items() if some],
            "left_out": max(0, len(drawn.get("contrast", ())) - CONTRASTED_CLASSES),
            "table": _table(items, columns),
        }

    def fresh(self) -> dict[str, Any] | None:
        """Figures against graphs of fresh data; None for a run without such data."""
        columns = {self.made: part(self.metrics, "fresh"), "real graphs": part(self.floor, "fresh")}
        layers = {name: {"sound": sound} for name, sound in columns.items()}
        table = _table([item for metric in all_metrics() for item in self._items(metric)], layers)
        return table if table["rows"] else None

    def _items(self, metric: Metric) -> list[_Item]:
        """The figures of a metric; ``*`` stands for each name that the run has."""
        found = []
        for figure in metric.figures:
            path = metric.figure_path(figure)
            if figure.path == "*":
                above = tuple(path.split("."))
                names = part(self.metrics, *above)
                found += [_Item(metric, figure, str(name), (*above, name)) for name in names]
            else:
                found.append(_Item(metric, figure, figure.title, path))
        return found

    def _row(self, item: _Item) -> _Row | None:
        """None where a run does not have the figure, or where it shows nothing."""
        figure, path = item.figure, item.path
        ours, shown, floor = (number_at(layer, path) for layer in (self.metrics, self.shown, self.floor))
        scores = {name: number_at(layer, path) for name, layer in self.controls.items()}
        controls = {name: score for name, score in scores.items() if score is not None}
        own = [Control(self.made, ours, "made"), Control(_SHOWN, shown, "shown")]
        if item.metric.about == "explanations" and shown is not None:
            own.reverse()
        judged, other = own
        if judged.value is None or figure.judge is None:
            return None
        if not figure.zero_shows and not any([judged.value, floor, *controls.values()]):
            return None  # all graphs are alike in this: one node type, or no triangles anywhere
        marks = [other, *(Control(CONTROLS[name].words, score, _SHAPES[name]) for name, score in controls.items())]
        scale = figure.better, figure.low, figure.high
        drawn = DotRow(judged.value, floor, marks, *scale, judged.name, judged.shape)
        verdict = figure.judge(judged.value, floor, controls)
        return _Row(item, dots(drawn, title=item.name), Judged(judged.value, floor, verdict, shown))

    def _legend(self, real: str) -> list[tuple[Markup, str]]:
        """Marks and what they stand for."""
        kinds = {"made": self.made} | ({"shown": f"{_SHOWN}: {_CHOSEN}"} if self.shown else {})
        kinds |= {"floor": real} | {_SHAPES[name]: CONTROLS[name].words for name in self.controls}
        frame = '<svg viewBox="0 0 20 20" width="18" height="18" class="chart-mark" aria-hidden="true">{}</svg>'
        return [(Markup(frame.format(mark(kind, 10, 10))), words) for kind, words in kinds.items()]


def _table(items: Sequence[_Item], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Figures as text, those that the first column has."""
    rows = []
    for item in items:
        values = [number_at(layer, item.path) for layer in columns.values()]
        if values[0] is not None:
            title = f"{item.figure.title} of {item.name}" if item.figure.path == "*" else item.name
            rows.append((title, [cell(value) for value in values]))
    return {"head": list(columns), "rows": rows}


def _overlap(metrics: Mapping[str, Any]) -> str | None:
    """How far held-out graphs are known from those that were learned from, in a sentence."""
    nodes, graphs = (number_at(metrics, f"details.overlap.{name}") for name in ("targets", "graphs"))
    if nodes is None or graphs is None:
        return None
    same = f"{tight_percent(graphs)} of held-out graphs have a twin among those that were learned from."
    if not nodes:
        return f"Nothing was learned from held-out graphs; {same}"
    near = f"{tight_percent(nodes)} of these stand in graphs that were learned from, as neighbours"
    return f"Held-out graphs start at nodes whose features were never learned from; {near}, and {same}"


def _lowest(rows: list[_Row]) -> list[_Row]:
    """Of many figures under one title those that matter most, in their order."""
    several = [row for row in rows if row.item.figure.path == "*"]
    least = sorted(several, key=lambda row: row.judged.value)[:CONTRASTED_CLASSES]
    return [row for row in rows if row in least or row not in several]


def _graphs(explanations: Explanations) -> dict[str, Any] | None:
    """Thumbnails of real and of generated graphs, and what their marks mean."""
    if explanations.reference is None:
        return None
    sets = (explanations.reference.generated, explanations.reference.real)
    generated, real = ([graphs[place] for place in range(min(len(graphs), SHOWN))] for graphs in sets)
    return {
        "generated": [small_svg(graph) for graph in generated],
        "real": [small_svg(graph) for graph in real],
        "legend": legend(*generated, *real) if generated or real else [],
    }
