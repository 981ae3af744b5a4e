"""Reading numbers from ``metrics.json``, which may be incomplete or damaged; loads nothing heavy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def number_at(layer: Any, path: str | tuple[str, ...]) -> float | None:
    """The number at a path of a layer, names joined by dots or one by one.

    None where there is none, or what is there is no number.
    """
    found = layer
    for name in path.split(".") if isinstance(path, str) else path:
        if not isinstance(found, Mapping):
            return None
        found = found.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        return None
    return float(found)
