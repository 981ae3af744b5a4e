"""Continuous values of explanations beside those of real nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from dignn.report.charts.parts import WIDTH, chart, finite, line, number, path, text, ticks

# Fewer values than this are shown one by one: a density of them would say more than they do.
ENOUGH = 15
_POINTS = 161
_BASE, _LEFT = 100.0, 8.0


@dataclass(frozen=True)
class Density:
    """A histogram.

    Args:
        bounds: of the bins, rising; one more than there are bins.
        share: of the values in each bin.
    """

    bounds: Sequence[float]
    share: Sequence[float]

    def mean(self) -> float:
        """Of values that lie evenly in their bins."""
        edges, share = self._arrays()
        return float(((edges[1:] + edges[:-1]) / 2 * share).sum() / max(float(share.sum()), 1e-12))

    def span(self, outside: float = 0.002) -> tuple[float, float]:
        """Between which values all but the share ``outside`` lie on either side."""
        edges, share = self._arrays()
        before = np.concatenate([[0.0], share.cumsum()]) / max(float(share.sum()), 1e-12)
        low, high = np.interp([outside, 1 - outside], before, edges)
        return float(low), float(high)

    def at(self, values: np.ndarray, least: float) -> np.ndarray:
        """Density at ``values``, with the edges of bins softened by a Gaussian of at least ``least``."""
        edges, share = self._arrays()
        width = np.maximum(np.diff(edges), 1e-12)
        blur = max(0.6 * float(np.median(width)), least)
        total = share / max(float(share.sum()), 1e-12)
        height = np.divide(total, width)
        below = _normal((values[:, None] - edges[None, :]) / blur)  # (values, bins + 1)
        return np.asarray((below[:, :-1] - below[:, 1:]) @ height)

    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(self.bounds, dtype=float), np.asarray(self.share, dtype=float)


def densities(
    real: Density, made: Sequence[float], *, title: str, xlabel: str = "", made_name: str = "explanation"
) -> Markup:
    """The density of real values, and beside it that of an explanation's, or each of them where there are few.

    Args:
        real: histogram of real values.
        made: values of the explanation.
        title: what the values are, for those who cannot see.
        xlabel: written below the axis.
        made_name: what the explanation's values are called in the legend.
    """
    values = np.asarray(finite(made))
    low, high = _span(real, values)
    grid = np.linspace(low, high, _POINTS)
    least = (high - low) / 100
    real_height = real.at(grid, least)
    made_height = _kernel(values, grid, least) if len(values) >= ENOUGH else None
    top = max(float(real_height.max()), 0.0 if made_height is None else float(made_height.max()), 1e-12)

    def across(value: float) -> float:
        return _LEFT + (value - low) / (high - low) * (WIDTH - 2 * _LEFT)

    def outline(height: np.ndarray) -> list[tuple[float, float]]:
        inner = [(across(x), _BASE - 88 * float(y) / top) for x, y in zip(grid.tolist(), height, strict=True)]
        return [(across(low), _BASE), *inner, (across(high), _BASE)]

    parts = [path(outline(real_height), "chart-real chart-area", closed=True)]
    if made_height is not None:
        parts.append(path(outline(made_height), "chart-made chart-area", closed=True))
    else:
        parts += [line(across(x), _BASE - 16, across(x), _BASE + 5, "chart-made chart-rug") for x in values.tolist()]
    parts.append(_mean(across(real.mean()), "chart-real"))
    if len(values):
        parts.append(_mean(across(float(values.mean())), "chart-made"))
    parts += _axis(low, high, across)
    parts += _legend(xlabel, made_name if len(values) else "", made_height is None)
    return chart(parts, 154 if xlabel else 138, f"{title}. {_words(real, values, made_name)}")


def _span(real: Density, values: np.ndarray) -> tuple[float, float]:
    low, high = real.span()
    if len(values):
        low, high = min(low, float(values.min())), max(high, float(values.max()))
    room = (high - low) * 0.05 or max(abs(high), 1.0) * 0.05
    return low - room, high + room


def _kernel(values: np.ndarray, grid: np.ndarray, least: float) -> np.ndarray:
    """Gaussian kernel density with Silverman's width."""
    quarter = float(np.subtract(*np.percentile(values, [75, 25]))) / 1.34
    spread = min([width for width in (float(values.std()), quarter) if width > 0], default=0.0)
    width = max(0.9 * spread * len(values) ** -0.2, least)
    bump = np.exp(-0.5 * ((grid[:, None] - values[None, :]) / width) ** 2)
    return np.asarray(bump.sum(1) / (len(values) * width * math.sqrt(2 * math.pi)))


def _normal(value: np.ndarray) -> np.ndarray:
    """The normal distribution function."""
    return np.asarray(0.5 * (1 + np.vectorize(math.erf)(value / math.sqrt(2))))


def _mean(x: float, kind: str) -> str:
    return line(x, 6, x, _BASE, f"{kind} chart-mean")


def _axis(low: float, high: float, across: Callable[[float], float]) -> list[str]:
    parts = [line(_LEFT, _BASE, WIDTH - _LEFT, _BASE)]
    for value in ticks(low, high, 5):
        x = across(value)
        anchor = "start" if x < 24 else "end" if x > WIDTH - 24 else "middle"
        parts += [line(x, _BASE, x, _BASE + 4), text(x, _BASE + 16, number(value), kind="chart-small", anchor=anchor)]
    return parts


def _legend(xlabel: str, made_name: str, single: bool) -> list[str]:
    parts = [text(WIDTH / 2, 130, xlabel, kind="chart-small", anchor="middle", most=WIDTH - 20)] if xlabel else []
    top = 138 if xlabel else 122
    parts += [
        f'<rect x="8" y="{top}" width="14" height="9" class="chart-real chart-area"/>',
        text(28, top + 9, "real class", kind="chart-small"),
    ]
    if made_name:
        mark = (
            line(114, top - 2, 114, top + 11, "chart-made chart-rug")
            if single
            else f'<rect x="106" y="{top}" width="14" height="9" class="chart-made chart-area"/>'
        )
        parts += [mark, text(126, top + 9, made_name, kind="chart-small", most=130)]
    parts.append(text(WIDTH - 4, top + 9, "dashed: mean", kind="chart-small", anchor="end"))
    return parts


def _words(real: Density, values: np.ndarray, made_name: str) -> str:
    low, high = real.span(0.05)
    said = f"Real class: mean {number(real.mean())}, nine in ten from {number(low)} to {number(high)}."
    if not len(values):
        return said
    if len(values) == 1:
        return f"{said} {made_name}: {number(float(values[0]))}."
    return (
        f"{said} {made_name}: {len(values)} values, mean {number(float(values.mean()))}, from "
        f"{number(float(values.min()))} to {number(float(values.max()))}."
    )
