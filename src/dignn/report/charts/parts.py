"""What all charts are made of: text, lines, ticks."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

WIDTH = 360
# Widths of characters of the charts' text, 12 units high and bold, in a wide font; and how much narrower other text is.
_NARROW, _USUAL, _BROAD, _BROADEST, _SQUARE = 5.2, 8.3, 9.4, 13.4, 13.0
_LIGHT = 0.88


def text(x: float, y: float, words: str, *, anchor: str = "start", kind: str = "", most: float | None = None) -> Markup:
    """Words at (x, y), shortened to ``most`` units with the whole as a title.

    Args:
        x, y: the place of the text's base line.
        words: any text; it is escaped.
        anchor: start, middle or end.
        kind: further CSS classes.
        most: the width there is.
    """
    shown = words if most is None else shorten(words, most if "chart-strong" in kind else most / _LIGHT)
    whole = "" if shown == words else f"<title>{escape(words)}</title>"
    side = "" if anchor == "start" else f' text-anchor="{anchor}"'
    classes = f"chart-text {kind}".strip()
    return Markup(f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}"{side}>{escape(shown)}{whole}</text>')


def width(words: str) -> float:
    """About how wide a bold text is, in units, rather too wide than too narrow."""
    return sum(map(_width, words))


def _width(character: str) -> float:
    if character in "mwMW@%\N{EM DASH}\N{HORIZONTAL ELLIPSIS}":
        return _BROADEST
    if character in "iljtfrI.,:;'|!()[] ":
        return _NARROW
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return _SQUARE
    return _USUAL if character.isascii() and not character.isupper() else _BROAD


def shorten(words: str, most: float) -> str:
    """What fits into ``most`` units if it is bold: the beginning and the end, because many names share a beginning."""
    if width(words) <= most:
        return words
    room = most - width("…")
    head = _fitting(words, 0.55 * room) or words[:1]
    tail = _fitting(words[len(head) :][::-1], room - width(head))[::-1]
    return f"{head.rstrip()}…{tail.lstrip()}"


def _fitting(words: str, room: float) -> str:
    """As many characters from the beginning as fit."""
    wide = 0.0
    for place, character in enumerate(words):
        wide += _width(character)
        if wide > room:
            return words[:place]
    return words


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "chart-axis") -> Markup:
    """A straight line."""
    return Markup(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')


def path(points: Sequence[tuple[float, float]], kind: str, *, closed: bool = False) -> Markup:
    """A line through points; nothing where there are none."""
    steps = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return Markup(f'<path d="M{steps}{"Z" if closed else ""}" class="{kind}"/>' if points else "")


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from ``low`` to ``high``, at most about ``most``."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low]
    raw = (high - low) / most
    size: float = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(step * place, 12) for place in range(first, math.floor(high / step + 1e-9) + 1)]


def finite(values: Iterable[float | None]) -> list[float]:
    """The values that are numbers."""
    return [float(value) for value in values if value is not None and math.isfinite(value)]
