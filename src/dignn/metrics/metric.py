"""A metric, declared once: where it stands in ``metrics.json``, what it needs, how it is computed, what it means.

Every module of :mod:`dignn.metrics.measures` declares one metric or a family of them. ``metrics.json``, the page, the
summary in the terminal, ``dignn metrics`` and the table in the documentation follow from the declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from dignn.core.progress import Tick, silent
from dignn.core.registry import Registry, import_modules
from dignn.metrics import measures
from dignn.metrics.judging import Judge
from dignn.metrics.measured import MeasuredGraphs, Need, Reality

Better = Literal["lower", "higher", "near"]
# Groups in the order in which people meet them, with their titles.
GROUPS = {
    "faithfulness": "What the model says, and what the class is made of",
    "contrast": "Contrast: typical parts of the own class minus those of other classes",
    "truth": "Planted truth: what is known to make a member",
    "goes_by": "What the model goes by: words, tested on real graphs",
    "structure": "Structure",
    "features": "Features",
}


@dataclass(frozen=True)
class Figure:
    """A number of a metric, as people see it.

    Args:
        title: as the page calls it.
        what: a sentence on what it is; empty where titles say it.
        path: where it is in the metric's value: names joined by dots, empty for the value itself, ``*`` for one figure
            under each name.
        better: which side is good: lower, higher, or near to the floor.
        judge: says what a value means; None for a figure that only tables show.
        good: which values the judge calls good, in words.
        low, high: ends of its scale; None for as the values need.
        terminal: its title in the terminal; None to leave it out there. Figures that share a title are one row, the
            mean of what each is as a multiple of its floor.
        zero_shows: False where nothing is to be seen if all graphs score 0.
    """

    title: str
    what: str = ""
    path: str = ""
    better: Better = "higher"
    judge: Judge | None = None
    good: str = ""
    low: float | None = 0.0
    high: float | None = 1.0
    terminal: str | None = None
    zero_shows: bool = True


@dataclass(frozen=True)
class Metric:
    """What is computed of a set of graphs.

    Args:
        path: where its value is in a column of ``metrics.json``, names joined by dots. The first is its layer:
            ``paper`` for the paper's formulas, ``sound`` for what mends them.
        group: one of :data:`GROUPS`.
        order: its place in the group.
        needs: without all of these the value is None.
        compute: the value, a number or a mapping as JSON takes it, None where it does not apply.
        about: ``graphs`` where generated graphs are judged beside real ones and controls, as many of each;
            ``explanations`` where it is about which graphs stand for a class, so that those shown are judged.
        against: the real graphs that it compares with. Its floor is what the others score: training graphs against
            held-out ones, or held-out graphs against training ones.
        told: whether it asks classifiers (``Reality.told``), which learn beside everything else.
        figures: what people see of it.
    """

    path: str
    group: str
    order: int
    needs: Collection[Need]
    compute: Callable[[MeasuredGraphs, Reality], Any]
    about: Literal["graphs", "explanations"] = "graphs"
    against: Literal["held-out", "training"] = "held-out"
    told: bool = False
    figures: tuple[Figure, ...] = ()

    def of(self, measured: MeasuredGraphs, reality: Reality) -> Any:
        """Its value for some graphs; None where something is missing."""
        return self.compute(measured, reality) if measured.has | reality.has >= set(self.needs) else None

    def figure_path(self, figure: Figure) -> str:
        """Where a figure is; for ``*`` where its names are."""
        return f"{self.path}.{figure.path}" if figure.path not in ("", "*") else self.path


METRICS: Registry[Metric] = Registry("metric")


def declare(metric: Metric, *figures: Figure) -> None:
    """Makes a metric known; called by the modules of :mod:`dignn.metrics.measures` when they are imported."""
    METRICS.add(metric.path, replace(metric, figures=figures))


def all_metrics() -> list[Metric]:
    """Every metric, group by group."""
    import_modules(measures)
    return sorted(METRICS.values(), key=lambda metric: (list(GROUPS).index(metric.group), metric.order))


def layers(value: Callable[[Metric], Any]) -> dict[str, Any]:
    """``paper`` and ``sound``, with the value of every metric at its place."""
    found: dict[str, Any] = {}
    for metric in all_metrics():
        *above, name = metric.path.split(".")
        place = found
        for part in above:
            place = place.setdefault(part, {})
        place[name] = value(metric)
    return found


def columns(sets: Mapping[str, Callable[[Metric], Any]], tick: Tick = silent) -> dict[str, dict[str, Any]]:
    """Both layers of several sets of graphs; what asks classifiers is computed last, since they learn meanwhile.

    Args:
        sets: by name, the value of a metric of the set.
        tick: progress, by sets; first without classifiers, then with them.
    """
    values: dict[tuple[str, str], Any] = {}
    for told in (False, True):
        for done, (name, value) in enumerate(sets.items(), start=1 + told * len(sets)):
            values |= {(name, metric.path): value(metric) for metric in all_metrics() if metric.told is told}
            tick(done, 2 * len(sets))
    return {name: layers(lambda metric, name=name: values[name, metric.path]) for name in sets}  # type: ignore[misc]
