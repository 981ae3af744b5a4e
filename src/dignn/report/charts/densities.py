"""Continuous values of explanations beside those of real nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from scipy.special import ndtr

from dignn.core.numerals import number, tight_percent
from dignn.report.charts.parts import WIDTH, finite, shorten, text, ticks, width
from dignn.report.templating import chart

# Fewer values than this are shown one by one: a density of them would say more than they do.
ENOUGH = 15
# Where fewer of the real values than this lie in bins, the chart says so.
_NEARLY_ALL = 0.98
_POINTS, _FINE = 161, 400
_BASE, _LEFT = 100.0, 8.0
# How much narrower small text is than the bold text that widths are known of.
_SMALL = 0.82


@dataclass(frozen=True)
class Density:
    """A histogram of real values.

    Args:
        bounds: of the bins, rising; one more than there are bins.
        share: of the values in each bin; what is missing to 1 lies beyond the bounds.
        mean: of all values, those beyond the bounds too.
        name: whose values they are.
        written: how a value is written: a number, or a date.
    """

    bounds: Sequence[float]
    share: Sequence[float]
    mean: float
    name: str = "real class"
    written: Callable[[float], str] = number

    @property
    def seen(self) -> float:
        """The share of the values that lie inside the bounds."""
        return float(sum(self.share))

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
        height = np.divide(share, width)
        below = ndtr((values[:, None] - edges[None, :]) / blur)  # (values, bins + 1)
        return np.asarray((below[:, :-1] - below[:, 1:]) @ height)

    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(self.bounds, dtype=float), np.asarray(self.share, dtype=float)


def density_of(values: np.ndarray, at: np.ndarray, least: float) -> np.ndarray:
    """Kernel density of ``values`` at the rising points ``at``, Gaussian with Silverman's width, at least ``least``."""
    quarter = float(np.subtract(*np.percentile(values, [75, 25]))) / 1.34
    # Where most values are equal the quartiles are as well, and say nothing about the others.
    spread = min([width for width in (float(values.std()), quarter) if width > 0], default=0.0)
    width = max(0.9 * spread * len(values) ** -0.2, least)
    # Of many values one by one this would take much memory; bins are far narrower than the kernel.
    count, edges = np.histogram(values, bins=_FINE, range=(float(at[0]), float(at[-1])))
    middle = (edges[1:] + edges[:-1]) / 2
    bump = np.exp(-0.5 * ((at[:, None] - middle[None, :]) / width) ** 2)
    return np.asarray(bump @ count / (len(values) * width * math.sqrt(2 * math.pi)))


def densities(
    real: Density, made: Sequence[float], *, title: str, xlabel: str = "", own: float | None = None
) -> Markup:
    """The density of real values, and beside it that of an explanation's, or each of them where there are few.

    Args:
        real: histogram of real values.
        made: values of the explanation.
        title: what the values are, for those who cannot see.
        xlabel: written below the axis.
        own: which of the explanation's values is that of the classified node; None where it has none.
    """
    own = next(iter(finite([own])), None)
    values = np.asarray(finite(made))
    low, high = _span(real, values)
    grid = np.linspace(low, high, _POINTS)
    least = (high - low) / 100
    real_height = real.at(grid, least) if real.seen else np.zeros(_POINTS)
    made_height = density_of(values, grid, least) if len(values) >= ENOUGH else None
    top = max(float(real_height.max()), 0.0 if made_height is None else float(made_height.max()), 1e-12)

    def across(value: float) -> float:
        return _LEFT + (value - low) / (high - low) * (WIDTH - 2 * _LEFT)

    def outline(height: np.ndarray) -> list[tuple[float, float]]:
        inner = [(across(x), _BASE - 88 * float(y) / top) for x, y in zip(grid.tolist(), height, strict=True)]
        return [(across(low), _BASE), *inner, (across(high), _BASE)]

    shown = low <= real.mean <= high
    beyond, foot = _beyond(real, shown), 138 if xlabel else 122
    means = [(real.mean, "chart-real")] if shown else []
    means += [(float(values.mean()), "chart-made")] if len(values) else []
    return chart(
        "densities",
        foot + (34 if beyond else 16),
        f"{title}. {_words(real, values, own)}",
        left=_LEFT,
        base=_BASE,
        foot=foot,
        real_name=real.name,
        real_outline=outline(real_height) if real.seen else [],
        made_outline=[] if made_height is None else outline(made_height),
        single=[across(x) for x in values.tolist()] if made_height is None else [],
        means=[(across(mean), kind) for mean, kind in means],
        own=None if own is None else across(own),
        ticks=[(across(value), real.written(value)) for value in ticks(low, high, 5 if real.written is number else 2)],
        below=_below(xlabel, real, own) if xlabel else "",
        beyond=beyond,
    )


def _below(name: str, real: Density, own: float | None) -> Markup:
    """The name of the values and, in words, that of the classified node beside the mean."""
    whose = "all classes" if real.name == "all classes" else "the class"
    told = "" if own is None else f": {real.written(own)}; mean of {whose} {real.written(real.mean)}"
    shown = shorten(name, (WIDTH - 20) / _SMALL - width(told))
    whole = Markup("" if shown == name else "<title>{}</title>").format(name + told)
    words = text(WIDTH / 2, 130, shown + told, kind="chart-small", anchor="middle")
    return words.removesuffix(Markup("</text>")) + whole + Markup("</text>")


def _span(real: Density, values: np.ndarray) -> tuple[float, float]:
    """Ends of the axis: nearly all real values that lie in bins, and all of the explanation."""
    ends = [*(real.span() if real.seen else ()), *((float(values.min()), float(values.max())) if len(values) else ())]
    low, high = (min(ends), max(ends)) if ends else (real.mean, real.mean)
    room = (high - low) * 0.05 or max(abs(high), 1.0) * 0.05
    return low - room, high + room


def _beyond(real: Density, mean: bool) -> str:
    """What of the real values the picture does not show; empty where that is next to nothing."""
    said = []
    if not real.seen:
        said.append(f"{real.name}: no value in view")
    elif real.seen < _NEARLY_ALL:
        said.append(f"{real.name}: {tight_percent(real.seen)} of values in view")
    if not mean:
        said.append(f"{'' if said else f'{real.name}: '}mean {real.written(real.mean)}, not in view")
    return "; ".join(said)


def _words(real: Density, values: np.ndarray, own: float | None) -> str:
    said = f"{real.name[:1].upper()}{real.name[1:]}: mean {real.written(real.mean)}"
    if real.seen >= _NEARLY_ALL:
        low, high = real.span(0.05)
        said += f", nine in ten from {real.written(low)} to {real.written(high)}."
    elif real.seen:
        low, high = real.span(0.0)
        said += f", {tight_percent(real.seen)} from {real.written(low)} to {real.written(high)}."
    else:
        said += f", none from {real.written(real.bounds[0])} to {real.written(real.bounds[-1])}."
    if not len(values):
        return said
    if len(values) == 1:
        return f"{said} Explanation: {real.written(float(values[0]))}."
    classified = "" if own is None else f" The classified node: {real.written(own)}."
    return (
        f"{said} Explanation: {len(values)} values, mean {real.written(float(values.mean()))}, from "
        f"{real.written(float(values.min()))} to {real.written(float(values.max()))}.{classified}"
    )
