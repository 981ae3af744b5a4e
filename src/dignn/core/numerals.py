"""Numbers and shares as people write them."""

from __future__ import annotations

import math

_MINUS = "\N{MINUS SIGN}"
_NONE = "not a number"


def number(value: float) -> str:
    """A number as people write it: three digits that mean something."""
    if not math.isfinite(value):
        return _NONE
    if value == 0:
        return "0"
    if abs(value) >= 1e12:
        return f"{value:.2e}".replace("e+", "e").replace("-", _MINUS)
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace("-", _MINUS)
    if abs(value) < 0.00001:
        return f"{value:.1e}".replace("e-0", "e-").replace("-", _MINUS)
    wanted = 3 if abs(value) >= 0.001 else 2
    digits = max(0, wanted - 1 - math.floor(math.log10(abs(value))))
    shown = f"{value:.{digits}f}"
    return (shown.rstrip("0").rstrip(".") if "." in shown else shown).replace("-", _MINUS)


def percent(probability: float, *, cut: bool = False) -> str:
    """A percentage with as many digits as tell it from 0 and 100; ``cut`` never shows more than there is."""
    value = 100 * probability
    if value > 99.99:
        return "over 99.99 %" if value < 100 else "100 %"
    if value < 0.01:
        return "under 0.01 %" if value > 0 else "0 %"
    digits = 0 if 10 <= value <= 90 else 1 if 0.1 <= value <= 99.9 else 2
    if cut:
        value = math.floor(value * 10**digits + 1e-9) / 10**digits
    return f"{value:.{digits}f} %"


def tight_percent(share: float) -> str:
    """A percentage that stays on one line."""
    return percent(share).replace(" ", "\N{NO-BREAK SPACE}") if math.isfinite(share) else _NONE
