"""Shares, means and random choices, as all metrics take them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of the values that are there; None without any."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def share(flags: Sequence[bool]) -> float | None:
    """How many are true, as a share; None without any."""
    return sum(flags) / len(flags) if len(flags) else None


def some(count: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """At most ``most`` numbers below ``count`` at random, ascending."""
    return np.sort(rng.permutation(count)[:most])
