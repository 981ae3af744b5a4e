"""Which feature columns of each node type are wanted, as the command line is told. Loads nothing heavy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dignn.core.assignments import parse_assignments
from dignn.core.errors import DignnError

# Those that vary most, or that are not 0 most often.
By = Literal["variance", "frequency"]


def parse_columns(texts: Sequence[str]) -> dict[str, int | str]:
    """What the command line is given, ``["movie=10", "director=movie"]``, as ``select_columns`` takes it.

    Raises:
        DignnError: a text says nothing, a number makes no sense, or a type is named twice.
    """
    found = parse_assignments(texts, "how many columns; write TYPE=NUMBER, for example author=50")
    # What is no number is another type; whether there is such a type, only the data can tell.
    return {name: column_count(name, value) if value[0] in "+-.0123456789" else value for name, value in found.items()}


def column_count(name: str, value: object) -> int:
    """A number of columns, given as such or as text."""
    number = int(value) if isinstance(value, str) and value.isdecimal() else value
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise DignnError(f"'{name}' cannot have {value} columns; give a whole number of at least 1")
    return number
