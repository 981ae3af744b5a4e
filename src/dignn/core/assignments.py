"""Words of the form TYPE=VALUE, as the command line is given them. Loads nothing heavy."""

from __future__ import annotations

from collections.abc import Sequence

from dignn.core.errors import DignnError


def parse_assignments(texts: Sequence[str], missing: str) -> dict[str, str]:
    """Values by node type; a type may have an equals sign in its name.

    Args:
        texts: for example ``["user=categorical"]``.
        missing: what a text without a type or a value does not say, and what to write.

    Raises:
        DignnError: a text says nothing, or a type is named twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.rpartition("="))
        if not (name and equals and value):
            raise DignnError(f"'{text}' does not say {missing}")
        if name in found:
            raise DignnError(f"'{name}' stands twice, with {found[name]} and with {value}; say it once")
        found[name] = value
    return found
