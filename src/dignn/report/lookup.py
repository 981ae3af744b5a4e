"""Reading what a run tells, and ``metrics.json``, without trust: every part may be missing or of another kind."""

from __future__ import annotations

import math
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def entry(content: Any, kind: type[Kind], *path: Any) -> Kind | None:
    """What stands at a path of what is known about a run; None where it is missing or of another kind."""
    for name in path:
        content = content.get(name) if isinstance(content, dict) else None
    return content if isinstance(content, kind) and (kind is bool or not isinstance(content, bool)) else None


def part(content: Any, *path: Any) -> dict[Any, Any]:
    """The names and values at a path; empty where they are missing."""
    return entry(content, dict, *path) or {}


def number_at(layer: Any, path: str | tuple[str, ...]) -> float | None:
    """The number at a path of a layer, names joined by dots or one by one.

    None where there is none, or what is there is no number.
    """
    *above, last = path.split(".") if isinstance(path, str) else path
    found = part(layer, *above).get(last)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        return None
    return float(found)


def shows_real(about: Any) -> bool:
    """Whether the graphs of a run are those of the data, so that nothing was generated."""
    return entry(about, bool, "real") is True
