"""Kinds of feature columns on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dignn.core.assignments import parse_assignments
from dignn.core.errors import DignnError

# By node type a kind for all columns, or a kind by name or number of a column.
TypeKinds = dict[str, str | dict[str, str]]


def parse_kinds(texts: Sequence[str]) -> TypeKinds:
    """What the command line is given, ``["user=categorical", "paper:year=count"]``, as ``infer_schema`` takes it.

    Raises:
        DignnError: a text says nothing, or a type or a column is named twice. Whether there is such a kind, the schema
            tells.
    """
    given = parse_assignments(
        texts, "of which kind; write TYPE=KIND, or TYPE:COLUMN=KIND, for example user=categorical"
    )
    found: TypeKinds = {}
    for place, kind in given.items():
        name, colon, column = (part.strip() for part in place.partition(":"))
        if not colon:
            if name in found:
                raise _twice(name)
            found[name] = kind
            continue
        if not (name and column):
            raise DignnError(f"'{place}' names no column; write TYPE:COLUMN=KIND, for example paper:year=count")
        columns = found.setdefault(name, {})
        if isinstance(columns, str):
            raise _twice(name)
        columns[column] = kind
    return found


def joined_kinds(file: Mapping[str, str | Mapping[str, str]], line: TypeKinds) -> TypeKinds:
    """Kinds of a file, and those of the command line, which go before them, column by column."""
    found: TypeKinds = {name: said if isinstance(said, str) else dict(said) for name, said in file.items()}
    for name, said in line.items():
        before = found.get(name)
        both = isinstance(before, dict) and isinstance(said, dict)
        found[name] = {**before, **said} if both else said  # type: ignore[dict-item]
    return found


def _twice(name: str) -> DignnError:
    return DignnError(f"The kind of '{name}' is said of all its columns and of single ones; say one or the other")
