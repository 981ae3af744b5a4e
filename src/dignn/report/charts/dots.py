"""Metrics beside what real graphs score and what controls score, each on its own scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from dignn.core.numerals import number
from dignn.report.charts.parts import WIDTH, finite
from dignn.report.templating import chart

_LEFT, _LINE = 14.0, 24.0
_ARROWS = {"lower": "← better", "higher": "better →"}


@dataclass(frozen=True)
class Control:
    """What something else scores that the value is seen beside; ``shape`` as :func:`mark` takes it."""

    name: str
    value: float | None
    shape: str


@dataclass(frozen=True)
class DotRow:
    """A metric.

    Args:
        value: of the generated graphs or explanations.
        floor: of real graphs.
        controls: of what else it is seen beside.
        better: whether lower or higher values are better, or those near the floor.
        low, high: ends of the scale; by default as the values need.
        made: what the value is of, for those who cannot see.
        kind: its mark, ``made`` or ``shown``.
    """

    value: float
    floor: float | None = None
    controls: Sequence[Control] = ()
    better: str = ""
    low: float | None = 0.0
    high: float | None = None
    made: str = "explanations"
    kind: str = "made"


# Shapes of controls.
CONTROL_SHAPES = ("square", "triangle", "cross", "plus")


def dots(row: DotRow, *, title: str) -> Markup:
    """A metric on its scale: a dot or a ring for ours, a diamond for real graphs, small grey marks for controls."""
    low, high = _scale(row)

    def across(value: float) -> float:
        return _LEFT + (value - low) / (high - low) * (WIDTH - 2 * _LEFT)

    marks = [*((item.shape, item.value) for item in row.controls), ("floor", row.floor), (row.kind, row.value)]
    return chart(
        "dots",
        46,
        _words(row, title),
        left=_LEFT,
        y=_LINE,
        marks=[Markup(mark(shape, across(value), _LINE)) for shape, value in marks if value is not None],
        middle=min(max(across(row.value), 20), WIDTH - 20),
        value=number(row.value),
        low=number(low),
        high=number(high),
        arrow=_ARROWS.get(row.better),
    )


def mark(kind: str, x: float, y: float) -> str:
    """A mark as the chart draws it: ``made``, ``shown``, ``floor``, or the shape of a control."""
    if kind in ("made", "shown"):
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{6 if kind == "made" else 5}" class="chart-{kind}"/>'
    drawn = {
        "floor": f"M{x:.1f} {y - 9:.1f}l5.5 9l-5.5 9l-5.5 -9Z",
        "cross": f"M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8",
        "plus": f"M{x - 5:.1f} {y:.1f}h10m-5 -5v10",
        "triangle": f"M{x:.1f} {y - 5:.1f}l4.8 8.4h-9.6Z",
        "square": f"M{x - 4:.1f} {y - 4:.1f}h8v8h-8Z",
    }[kind]
    return f'<path d="{drawn}" class="chart-{"floor" if kind == "floor" else "control"}"/>'


def _scale(row: DotRow) -> tuple[float, float]:
    """Ends of the scale, with every value inside."""
    values = finite([row.value, row.floor, *(item.value for item in row.controls)]) or [0.0]
    low = min(values) if row.low is None else min(row.low, *values, row.low)
    high = max(values) if row.high is None else max(row.high, *values, row.high)
    return (low, high) if high > low else (low, low + 1.0)


def _words(row: DotRow, title: str) -> str:
    said = [f"{row.made} {number(row.value)}"]
    if row.floor is not None:
        said.append(f"real graphs {number(row.floor)}")
    said += [f"{item.name} {number(item.value)}" for item in row.controls if item.value is not None]
    side = {"lower": " (lower is better)", "higher": " (higher is better)"}.get(row.better, "")
    return f"{title}{side}: {', '.join(said)}."
