"""How strong something has to be: tried until what comes of it is what is wanted."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from dignn.features.given import Given

Present = Callable[[float, Tensor, Given], Tensor]
"""(a strength, labels (m,), what is known of the rows) -> entries that are there (m, d) bool"""


def reached(tried: tuple[float, ...], wanted: float, found: Callable[[float], float]) -> float:
    """The least value at which what is found is what is wanted: on a line between two that are tried, or the last."""
    last, before = tried[0], found(tried[0])
    if before >= wanted:
        return last
    for value in tried[1:]:
        now = found(value)
        if now >= wanted:
            return last + (value - last) * (wanted - before) / max(now - before, 1e-9)
        last, before = value, now
    return last
