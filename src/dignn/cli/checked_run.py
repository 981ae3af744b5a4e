"""Whether what a line tells of a run is what tables can be made of: looked at once, where lines are read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dignn.core.run_folder import WALL
from dignn.reproduce.runs import Run

# What is told of the first explanation of a class, and of its continuous values.
_TEXTS, _NUMBERS = ("class", "composition", "text"), ("probability", "nodes", "edges")
_CONTINUOUS = ("mean", "deviation")


def checked(run: Run) -> Run:
    """The run itself.

    Raises:
        ValueError: something is of another kind than it should be.
    """
    setup, values = run.setup, run.values
    for name, text in {
        "dataset": setup.dataset,
        "explainer": setup.explainer,
        "form": setup.form,
        "by": setup.by,
    }.items():
        _must(isinstance(text, str), f"its {name} is no text")
    _must(isinstance(run.preset, str), "its preset is no text")
    _must(all(isinstance(one, str) for one in setup.columns), "its columns are no texts")
    _must(type(run.seed) is int, "its seed is no whole number")
    _must(run.commit is None or isinstance(run.commit, str), "its commit is no text")
    _must(run.machine is None or isinstance(run.machine, Mapping), "its machine is no object")
    _must(values.get("seconds") is None or _is_number(values["seconds"]), "its seconds are no number")
    timings = values.get("timings")
    _must(
        timings is None or (_are_numbers(timings) and WALL in timings), f"its timings are no numbers, {WALL} among them"
    )
    best = values.get("best", {})
    _must(isinstance(best, Mapping), "its best explanations are no object")
    for number, one in best.items():
        _must(number.isdecimal() and _is_told(one), f"the best explanation of class {number} is not told")
    return run


def _is_told(one: Any) -> bool:
    """Whether that is an explanation in numbers and words."""
    if not isinstance(one, Mapping) or not isinstance(one.get("keywords"), list):
        return False
    several = one.get("continuous")
    return (
        all(isinstance(one.get(name), str) for name in _TEXTS)
        and all(_is_number(one.get(name)) for name in _NUMBERS)
        and all(isinstance(word, str) for word in one["keywords"])
        and isinstance(several, Mapping)
        and all(
            isinstance(of, Mapping) and all(_is_number(of.get(name)) for name in _CONTINUOUS) for of in several.values()
        )
    )


def _are_numbers(found: Any) -> bool:
    return isinstance(found, Mapping) and all(map(_is_number, found.values()))


def _is_number(found: Any) -> bool:
    return isinstance(found, int | float) and not isinstance(found, bool) and math.isfinite(found)


def _must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
