"""The right word for a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that ``word`` was probably meant to be, whatever its capitals; None if none is like it."""
    known: dict[str, str] = {}
    for choice in choices:
        known.setdefault(choice.lower(), choice)
    near = difflib.get_close_matches(word.lower(), known, n=1)
    return known[near[0]] if near else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """The hint to put behind a wrong word in a message, with a space before it; empty where nothing is like it."""
    near = closest(word, choices)
    return "" if near is None else f" (did you mean '{near}'?)"
