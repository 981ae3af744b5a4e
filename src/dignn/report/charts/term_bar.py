"""A term of a scorecard: its points as a bar, and below it what setting it changes, with an interval."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from dignn.report.charts.parts import WIDTH, finite
from dignn.report.templating import chart

_SIDE = 10.0


@dataclass(frozen=True)
class TermBar:
    """What is drawn of a term, in log-odds of its class.

    Args:
        points: what it adds to the score; a bar to the right of zero, or to the left below 0.
        effect: a dot, where it was measured.
        interval: a line through the dot.
        matched: whether the effect is of matched pairs: a ring in place of the dot.
        decoy: whether the bar is pale, because the term changes nothing.
    """

    points: float
    effect: float | None = None
    interval: tuple[float, float] | None = None
    matched: bool = False
    decoy: bool = False

    @property
    def ends(self) -> list[float]:
        return finite([0.0, self.points, self.effect, *(self.interval or ())])


def scale_of(bars: Iterable[TermBar]) -> tuple[float, float]:
    """Between which values all of them lie, so that they can be drawn on one scale."""
    values = [value for each in bars for value in each.ends] or [0.0]
    low, high = min(values), max(values)
    return (low, high) if high > low else (low, low + 1.0)


def term_bar(bar: TermBar, scale: tuple[float, float], *, title: str) -> Markup:
    """The bar, on a scale that bars beside it share; ``title`` says it to those who cannot see."""
    low, high = scale

    def across(value: float) -> float:
        return _SIDE + (min(max(value, low), high) - low) / (high - low) * (WIDTH - 2 * _SIDE)

    zero, end = across(0.0), across(bar.points)
    effect = next(iter(finite([bar.effect])), None)
    ends = [] if effect is None else finite(bar.interval or ())
    return chart(
        "term",
        36,
        title,
        zero=zero,
        start=min(zero, end),
        long=max(abs(end - zero), 1.0),
        dot=None if effect is None else across(effect),
        whisker=[across(value) for value in ends] if len(ends) == 2 else [],
        bar=bar,
    )
