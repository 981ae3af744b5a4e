"""Shares, means and random choices, as all metrics take them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

# Two-sided 95 % of a normal distribution.
_DEVIATIONS = 1.96


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of the values that are there; None without any."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def share(flags: Sequence[bool]) -> float | None:
    """How many are true, as a share; None without any."""
    return sum(flags) / len(flags) if len(flags) else None


def interval(found: float, number: int) -> tuple[float, float]:
    """The 95 % interval of a share that was found among ``number`` (Wilson)."""
    square = _DEVIATIONS**2
    middle = (found + square / (2 * number)) / (1 + square / number)
    half = _DEVIATIONS * math.sqrt(found * (1 - found) / number + square / (4 * number**2)) / (1 + square / number)
    return max(0.0, middle - half), min(1.0, middle + half)


def some(count: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """At most ``most`` numbers below ``count`` at random, ascending."""
    return np.sort(rng.permutation(count)[:most])
