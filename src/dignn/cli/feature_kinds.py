"""Kinds of feature columns on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from dignn.core.assignments import parse_assignments


def parse_kinds(texts: Sequence[str]) -> dict[str, str]:
    """What the command line is given, ``["user=categorical"]``, as ``infer_schema`` takes it.

    Raises:
        DignnError: a text says nothing, or a type is named twice. Whether there is such a kind, the schema tells.
    """
    return parse_assignments(texts, "of which kind; write TYPE=KIND, for example user=categorical")
