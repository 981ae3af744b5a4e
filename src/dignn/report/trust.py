"""How far to trust explanations: the figures of a run beside floors and controls, as pictures, words and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import mean
from typing import Any

from markupsafe import Markup

from dignn.backdrop import SHOWN
from dignn.batch import GraphBatch
from dignn.explanation import Explanations
from dignn.report.charts import Control, DotRow, dots
from dignn.report.charts.dots import mark
from dignn.report.graphview import legend
from dignn.report.lookup import number_at
from dignn.report.measures import (
    BEST,
    CONTROLS,
    FAITHFUL,
    FEATURES,
    PAPER,
    STRUCTURE,
    TRUTH,
    Measure,
    controls_of,
)
from dignn.report.summed import summed_up
from dignn.report.svg import small_svg
from dignn.report.trust_tables import cell, chemistry, features_by_type, rules
from dignn.report.verdicts import Judged, contrasted, distance

# Classes whose contrast is drawn; a table has all of them.
MOST_CLASSES = 12
# What the large dot of a chart is of.
_MADE = {"realism": "generated graphs", "faithfulness": "explanations"}
_FLOOR = {"realism": "other real graphs (as good as it gets)", "faithfulness": "real graphs of the class, at random"}


def content(explanations: Explanations) -> dict[str, Any]:
    """What ``trust.html`` shows; parts that a run lacks are None."""
    metrics = explanations.about.get("metrics")
    graphs = _graphs(explanations)
    if not isinstance(metrics, Mapping):
        return {"measured": False, "summary": [], "realism": None, "faithfulness": None, "graphs": graphs}
    reader = _Reader(metrics)
    structure, features = reader.rows(STRUCTURE, "realism"), reader.rows(FEATURES, "realism")
    faithful, truth = reader.rows(FAITHFUL, "faithfulness"), reader.rows(TRUTH, "faithfulness")
    contrast = reader.rows(_contrast(metrics), "faithfulness")
    judged = {
        row["path"]: Judged(row["value"], row["floor"], row["verdict"])
        for row in structure + features + faithful + contrast + truth
    }
    return {
        "measured": True,
        "summary": summed_up(judged, _shown_first(explanations)),
        "realism": {
            "legend": reader.legend("realism"),
            "groups": _groups({"Structure": structure, "Features": features}),
            "table": reader.table([*STRUCTURE, *FEATURES], PAPER, "generated"),
            "types": features_by_type(metrics),
        },
        "faithfulness": {
            "legend": reader.legend("faithfulness"),
            "groups": _groups(
                {
                    "What the model says, and what the class is made of": faithful,
                    "Contrast: typical parts of the own class minus those of other classes": _lowest(contrast),
                    "Planted truth: what is known to make a member": truth,
                }
            ),
            "left_out": max(0, len(contrast) - MOST_CLASSES),
            "table": reader.table([*FAITHFUL, *_contrast(metrics, "Contrast of "), *TRUTH], {}, "explanations"),
            "rules": rules(metrics),
            "chemistry": chemistry(metrics),
        },
        "graphs": graphs,
    }


class _Reader:
    """Reads the layers of ``metrics.json``: the run's own values, floors, and controls."""

    def __init__(self, metrics: Mapping[str, Any]) -> None:
        self.metrics = metrics
        self.floor = metrics.get("floor")
        self.controls = controls_of(metrics)

    def rows(self, measures: Sequence[Measure], part: str) -> list[dict[str, Any]]:
        """Name, meaning, picture and verdict of every measure that a run has."""
        found = [self._row(measure, part) for measure in measures]
        return [row for row in found if row is not None]

    def _row(self, measure: Measure, part: str) -> dict[str, Any] | None:
        value, floor = number_at(self.metrics, measure.path), number_at(self.floor, measure.path)
        controls = {name: number_at(layer, measure.path) for name, layer in self.controls.items()}
        known = {name: score for name, score in controls.items() if score is not None}
        if value is None:
            return None
        if measure.judge is distance and not any([value, floor, *known.values()]):
            return None  # all graphs are alike in this: one node type, or no triangles anywhere
        marks = [Control(CONTROLS[name][0], score, CONTROLS[name][1]) for name, score in known.items()]
        drawn = DotRow(value, floor, marks, measure.better, measure.low, measure.high, measure.made or _MADE[part])
        return {
            "path": measure.path,
            "name": measure.name,
            "what": measure.what,
            "value": value,
            "floor": floor,
            "chart": dots(drawn, title=measure.name),
            "verdict": measure.judge(value, floor, known),
        }

    def legend(self, part: str) -> list[tuple[Markup, str]]:
        """Marks and what they stand for."""
        own = f" (of probability: {BEST})" if part == "faithfulness" else ""
        kinds = {"made": _MADE[part] + own, "floor": _FLOOR[part]}
        kinds |= {CONTROLS[name][1]: CONTROLS[name][0] for name in self.controls}
        frame = '<svg viewBox="0 0 20 20" width="18" height="18" class="chart-mark" aria-hidden="true">{}</svg>'
        return [(Markup(frame.format(mark(kind, 10, 10))), words) for kind, words in kinds.items()]

    def table(self, measures: Sequence[Measure], more: Mapping[str, str], made: str) -> dict[str, Any]:
        """The same numbers as text."""
        names = {measure.name: measure.path for measure in measures} | dict(more)
        layers = [self.metrics, self.floor, *self.controls.values()]
        rows = [(name, [number_at(layer, path) for layer in layers]) for name, path in names.items()]
        return {
            "head": [made, "real graphs", *(CONTROLS[name][0] for name in self.controls)],
            "rows": [(name, [cell(value) for value in values]) for name, values in rows if values[0] is not None],
        }


def _shown_first(explanations: Explanations) -> float | None:
    """Mean probability of the first explanation of each class that has any."""
    found = [several[0].score for several in explanations.values() if several]
    return mean(found) if found else None


def _contrast(metrics: Mapping[str, Any], prefix: str = "") -> list[Measure]:
    """A measure for each class; none where motifs are common to all classes."""
    sound = metrics.get("sound")
    found = sound.get("contrast") if isinstance(sound, Mapping) else None
    names = [str(name) for name in found] if isinstance(found, Mapping) else []
    base = Measure("", "", "", "higher", contrasted, low=-0.2, high=1.0)
    return [replace(base, name=f"{prefix}{name}", path=("sound", "contrast", name)) for name in names]


def _lowest(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The classes that matter most, in their order."""
    least = sorted(rows, key=lambda row: row["value"])[:MOST_CLASSES]
    return [row for row in rows if row in least]


def _groups(groups: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [{"title": title, "rows": rows} for title, rows in groups.items() if rows]


def _graphs(explanations: Explanations) -> dict[str, Any] | None:
    """Thumbnails of real and of generated graphs, and what their marks mean."""
    if explanations.backdrop is None:
        return None
    generated, real = _single(explanations.backdrop.generated), _single(explanations.backdrop.real)
    return {
        "generated": [small_svg(graph) for graph in generated],
        "real": [small_svg(graph) for graph in real],
        "legend": legend(*generated, *real) if generated or real else [],
    }


def _single(graphs: GraphBatch) -> list[GraphBatch]:
    return [graphs[place] for place in range(min(len(graphs), SHOWN))]
