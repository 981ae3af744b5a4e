"""What settings may be: each refuses a value with one sentence."""

from __future__ import annotations

import math
from typing import get_args

from dignn.errors import DignnError
from dignn.suggestions import did_you_mean


def at_least(config: object, least: int, *names: str) -> None:
    """Whole numbers."""
    for name in names:
        value = getattr(config, name)
        if not isinstance(value, int):
            raise DignnError(f"{name} is {value}; it must be a whole number")
        if value < least:
            raise DignnError(f"{name} is {value}; it must be at least {least}")


def positive(config: object, *names: str, zero: bool = False) -> None:
    """Numbers above 0, or not below it."""
    for name in names:
        value = getattr(config, name)
        if not (0 < value < math.inf or (zero and value == 0)):
            raise DignnError(f"{name} is {value}; it must be {'0 or ' if zero else ''}a number above 0")


def share(config: object, *names: str) -> None:
    """Numbers from 0 to below 1."""
    for name in names:
        value = getattr(config, name)
        if not 0 <= value < 1:
            raise DignnError(f"{name} is {value}; it must be at least 0 and below 1")


def one_of(config: object, **options: object) -> None:
    for name, choice in options.items():
        known = get_args(choice)
        given = getattr(config, name)
        if given not in known:
            guess = did_you_mean(str(given), known)
            raise DignnError(f"{name} is {given!r}{guess}; choose from {', '.join(known)}")


def divides(heads: int, width: int) -> None:
    if width % heads:
        raise DignnError(f"width {width} cannot be shared out over {heads} heads; choose a multiple")
