"""How a figure grows with the number of terms."""

from __future__ import annotations

import math
from collections.abc import Mapping

from markupsafe import Markup

from dignn.core.numerals import tight_percent
from dignn.report.charts.parts import WIDTH, finite, ticks
from dignn.report.templating import chart

_LEFT, _RIGHT, _TOP, _BASE = 44.0, WIDTH - 12.0, 10.0, 130.0


def frontier(
    shares: Mapping[int, float], intervals: Mapping[int, tuple[float, float]], guessed: float | None, *, title: str
) -> Markup:
    """Shares against numbers of terms, on a logarithmic axis, with intervals; dashed what guessing reaches.

    Args:
        shares: by number of terms, from 1.
        intervals: of some of them.
        guessed: the share that guessing reaches; None where it is not known.
        title: what the shares are, for those who cannot see.
    """
    known = {terms: share for terms, share in sorted(shares.items()) if terms > 0 and finite([share])}
    around = {terms: intervals[terms] for terms in known if terms in intervals}
    low = min([*known.values(), *(low for low, _ in around.values()), *finite([guessed]), 1.0])
    low = max(0.0, min(0.9, math.floor(10 * low) / 10))
    first, last = (math.log(min(known)), math.log(max(known))) if known else (0.0, 0.0)

    def x(terms: int) -> float:
        return _LEFT + 14 + (math.log(terms) - first) / ((last - first) or 1.0) * (_RIGHT - _LEFT - 28)

    def y(share: float) -> float:
        return _BASE - (min(max(share, low), 1.0) - low) / (1 - low) * (_BASE - _TOP)

    said = "; ".join(f"{terms} terms {tight_percent(share)}" for terms, share in known.items())
    return chart(
        "frontier",
        166,
        f"{title}. {said or 'no values'}" + ("" if guessed is None else f"; by guessing {tight_percent(guessed)}"),
        left=_LEFT,
        right=_RIGHT,
        top=_TOP,
        base=_BASE,
        shares=[(y(value), tight_percent(value)) for value in ticks(low, 1.0, 5)],
        steps=[(x(terms), str(terms)) for terms in known],
        drawn=[(x(terms), y(share)) for terms, share in known.items()],
        whiskers=[(x(terms), *map(y, ends)) for terms, ends in around.items()],
        guessed=None if guessed is None else y(guessed),
    )
