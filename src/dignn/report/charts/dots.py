"""Metrics beside what real graphs score and what controls score, each on its own scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from dignn.report.charts.parts import WIDTH, chart, finite, line, number, text

Better = Literal["lower", "higher", "near", ""]
_LEFT = 14.0
_ARROWS = {"lower": "← better", "higher": "better →"}


@dataclass(frozen=True)
class Control:
    """What a control scores; ``shape`` is one of ``SHAPES``."""

    name: str
    value: float | None
    shape: str


@dataclass(frozen=True)
class DotRow:
    """A metric.

    Args:
        value: of the generated graphs or explanations.
        floor: of real graphs.
        controls: of what is no good.
        better: whether lower or higher values are better, or those near the floor.
        low, high: ends of the scale; by default as the values need.
        made: what the value is of, for those who cannot see.
    """

    value: float
    floor: float | None = None
    controls: Sequence[Control] = ()
    better: Better = ""
    low: float | None = 0.0
    high: float | None = None
    made: str = "explanations"


SHAPES = ("cross", "plus", "triangle", "square")


def dots(row: DotRow, *, title: str) -> Markup:
    """A metric on its scale: a dot for ours, a diamond for real graphs, small grey marks for controls."""
    return chart(_row(row), 46, _words(row, title))


def mark(kind: str, x: float, y: float) -> str:
    """A mark as the chart draws it: ``made``, ``floor``, or the shape of a control."""
    if kind == "made":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" class="chart-made"/>'
    if kind == "floor":
        return f'<path d="M{x:.1f} {y - 9:.1f}l5.5 9l-5.5 9l-5.5 -9Z" class="chart-floor"/>'
    drawn = {
        "cross": f"M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8",
        "plus": f"M{x - 5:.1f} {y:.1f}h10m-5 -5v10",
        "triangle": f"M{x:.1f} {y - 5:.1f}l4.8 8.4h-9.6Z",
        "square": f"M{x - 4:.1f} {y - 4:.1f}h8v8h-8Z",
    }[kind]
    return f'<path d="{drawn}" class="chart-control"/>'


def _row(row: DotRow) -> list[str]:
    low, high = _scale(row)
    y = 24.0

    def across(value: float) -> float:
        return _LEFT + (value - low) / (high - low) * (WIDTH - 2 * _LEFT)

    parts = [line(_LEFT, y, WIDTH - _LEFT, y)]
    parts += [line(x, y - 4, x, y + 4) for x in (_LEFT, WIDTH - _LEFT)]
    parts += [mark(item.shape, across(item.value), y) for item in row.controls if item.value is not None]
    if row.floor is not None:
        parts.append(mark("floor", across(row.floor), y))
    parts.append(mark("made", across(row.value), y))
    parts.append(
        text(
            min(max(across(row.value), 20), WIDTH - 20), y - 12, number(row.value), kind="chart-value", anchor="middle"
        )
    )
    parts.append(text(2, y + 20, number(low), kind="chart-small"))
    parts.append(text(WIDTH - 2, y + 20, number(high), kind="chart-small", anchor="end"))
    if row.better in _ARROWS:
        parts.append(text(WIDTH / 2, y + 20, _ARROWS[row.better], kind="chart-small", anchor="middle"))
    return parts


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
