"""What a run tells of itself, looked up without trust: every part may be missing, or be of another kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dignn.explanation import Explanations
from dignn.schema import Schema


def part(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of what is known about a run; empty where it is missing."""
    found = content.get(name)
    return found if isinstance(found, Mapping) else {}


def schema_of(explanations: Explanations) -> Schema | None:
    """The schema of the graphs; None where there is no explanation."""
    return next((several[0].graph.schema for several in explanations.values() if several), None)
