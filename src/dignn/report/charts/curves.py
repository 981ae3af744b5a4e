"""Loss curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from dignn.core.numerals import number
from dignn.report.charts.parts import WIDTH, finite, ticks
from dignn.report.templating import chart

_LEFT, _RIGHT, _TOP, _BASE = 44.0, WIDTH - 8.0, 8.0, 120.0


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

    def x(step: float) -> float:
        return _LEFT + step / last * (_RIGHT - _LEFT)

    def y(loss: float) -> float:
        return _BASE - (loss - low) / (high - low) * (_BASE - _TOP)

    def placed(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(x(step), y(loss)) for step, loss in points if loss <= high]

    said = "; ".join(
        f"{item.name} loss from {number(item.points[0][1])} to {number(item.points[-1][1])}" for item in clean
    )
    return chart(
        "curves",
        154,
        f"{title}. {said or 'no values'}",
        left=_LEFT,
        right=_RIGHT,
        top=_TOP,
        base=_BASE,
        losses=[(y(value), number(value)) for value in ticks(low, high, 4)],
        steps=[(x(value), number(value)) for value in ticks(0, last, 4)],
        drawn=[(item.name, placed(item.points) if item.smoothed else [], placed(_line(item))) for item in clean],
    )


def _clean(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(float(step), float(loss)) for step, loss in points if len(finite([step, loss])) == 2]


def _line(curve: Curve) -> Sequence[tuple[float, float]]:
    """The points; smoothed, mean over a twelfth of the curve around each, and over what there is of it at the ends."""
    points = curve.points
    if not curve.smoothed:
        return points
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
