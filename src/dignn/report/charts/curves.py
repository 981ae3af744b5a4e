"""Loss curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from dignn.report.charts.parts import WIDTH, chart, finite, line, number, path, text, ticks

_LEFT, _RIGHT, _TOP, _BASE = 44.0, 8.0, 8.0, 120.0


@dataclass(frozen=True)
class Curve:
    """A loss, step by step.

    Args:
        name: train or validation.
        points: (step, loss), steps rising.
        smoothed: whether it is so noisy that a running mean is drawn over it.
    """

    name: str
    points: Sequence[tuple[float, float]]
    smoothed: bool = False


def curves(series: Sequence[Curve], *, title: str) -> Markup:
    """Loss curves, the first a full line, the second dashed; raw values of a smoothed one lie faintly behind it."""
    clean = [Curve(item.name, _clean(item.points), item.smoothed) for item in series]
    clean = [item for item in clean if item.points]
    low, high = _scale(clean)
    last = max((item.points[-1][0] for item in clean), default=1.0) or 1.0

    def placed(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        across, up = (WIDTH - _LEFT - _RIGHT) / last, (_BASE - _TOP) / (high - low)
        return [(_LEFT + step * across, _BASE - (loss - low) * up) for step, loss in points if loss <= high]

    parts = _axes(low, high, last)
    for position, item in enumerate(clean):
        kind = "chart-made" if position == 0 else "chart-real"
        points = placed(item.points)
        if item.smoothed:
            parts.append(path(points, f"{kind} chart-line chart-faint"))
            points = placed(_smooth(item.points))
        parts.append(path(points, f"{kind} chart-line{'' if position == 0 else ' chart-dashed'}"))
        parts += _legend(item.name, position, kind)
    said = "; ".join(
        f"{item.name} loss from {number(item.points[0][1])} to {number(item.points[-1][1])}" for item in clean
    )
    return chart(parts, 154, f"{title}. {said or 'no values'}")


def _clean(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(float(step), float(loss)) for step, loss in points if len(finite([step, loss])) == 2]


def _smooth(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Mean over a twelfth of the curve around each point, and over what there is of it at the ends."""
    loss = np.array([value for _, value in points])
    reach = max(len(points) // 24, 1)
    total = np.concatenate([[0.0], loss.cumsum()])
    place = np.arange(len(points))
    first, last = np.maximum(place - reach, 0), np.minimum(place + reach + 1, len(points))
    mean = (total[last] - total[first]) / (last - first)
    return [(step, float(value)) for (step, _), value in zip(points, mean, strict=True)]


def _scale(series: Sequence[Curve]) -> tuple[float, float]:
    """Ends of the loss axis; the first steps of training may lie above, because they would flatten all others."""
    values = [loss for item in series for _, loss in item.points]
    if not values:
        return 0.0, 1.0
    later = [loss for item in series for step, loss in item.points if step >= 0.03 * item.points[-1][0]]
    low, high = min(values), max(later)
    room = (high - low) * 0.06 or max(abs(high), 1.0) * 0.06
    return low - room, high + room


def _axes(low: float, high: float, last: float) -> list[str]:
    parts = [line(_LEFT, _BASE, WIDTH - _RIGHT, _BASE), line(_LEFT, _TOP, _LEFT, _BASE)]
    for value in ticks(low, high, 4):
        y = _BASE - (value - low) / (high - low) * (_BASE - _TOP)
        parts += [line(_LEFT - 4, y, _LEFT, y), text(_LEFT - 7, y + 4, number(value), kind="chart-small", anchor="end")]
    for value in ticks(0, last, 4):
        x = _LEFT + value / last * (WIDTH - _LEFT - _RIGHT)
        anchor = "end" if x > WIDTH - 24 else "middle"
        parts += [line(x, _BASE, x, _BASE + 4), text(x, _BASE + 16, number(value), kind="chart-small", anchor=anchor)]
    return parts


def _legend(name: str, position: int, kind: str) -> list[str]:
    x = _LEFT + 110 * position
    dashed = "" if position == 0 else " chart-dashed"
    return [
        line(x, 146, x + 20, 146, f"{kind} chart-line{dashed}"),
        text(x + 26, 150, name, kind="chart-small", most=80),
    ]
