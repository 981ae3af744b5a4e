"""The right word for a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that ``word`` was probably meant to be, whatever its capitals; None if none is like it."""
    known = {choice.lower(): choice for choice in reversed(list(choices))}  # the first of equals
    near = difflib.get_close_matches(word.lower(), known, n=1)
    return known[near[0]] if near else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """The hint to put behind a wrong word in a message, with a space before it; empty where nothing is like it."""
    near = closest(word, choices)
    return "" if near is None else f" (did you mean '{near}'?)"


def not_known(kind: str, name: str, choices: Iterable[str]) -> str:
    """The sentence for a name that nothing has."""
    known = list(choices)
    return f"There is no {kind} called '{name}'{did_you_mean(name, known)}; choose from {', '.join(known)}"
