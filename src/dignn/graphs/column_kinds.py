"""What a user says of single columns: by name or number, as text, as a kind, or as a whole :class:`Column`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dignn.core.checks import names as names_of
from dignn.core.errors import DignnError, SchemaError
from dignn.core.suggestions import did_you_mean
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind

# What is said of one column.
ColumnSaid = ColumnKind | Column | str
# What is said of a table: one kind for all columns, or a kind by name or number of a column.
ByColumn = Mapping[str, ColumnSaid] | Mapping[int, ColumnSaid] | Mapping[str | int, ColumnSaid]
Kinds = FeatureKind | str | ByColumn

# How each kind is written, for messages.
_WRITTEN = {ColumnKind.ONE_HOT: "one-hot:GROUP", ColumnKind.DATE: "date:UNIT:YYYY-MM-DD"}
# Column names that a message lists at most.
_LISTED = 8


@dataclass(frozen=True)
class Said:
    """What was said of a column.

    Args:
        kind: what it holds.
        group: (one-hot) what the group is called; columns of one name are one group.
        levels: number of codes, also of those that the data lacks; None for as many as are there.
        missing: whether values may be missing, also where the data lacks none.
        unit, epoch: (date) what it counts, and from when on.
    """

    kind: ColumnKind
    group: str = ""
    levels: int | None = None
    missing: bool = False
    unit: str | None = None
    epoch: str | None = None


def column_names(names: Sequence[str], width: int, node_type: str) -> tuple[str, ...]:
    """Names of columns, one for each.

    Args:
        names: as they were given.
        width: number of columns.
        node_type: the type or relation, for messages.

    Raises:
        SchemaError: they are more, or fewer.
    """
    found = names_of(f"names of '{node_type}'", names)
    if len(found) != width:
        raise SchemaError(f"{len(found)} names were given for the {width} columns of '{node_type}'; give one each")
    return found


def said_columns(kinds: ByColumn, width: int, names: Sequence[str] | None, node_type: str) -> dict[int, Said]:
    """By number of the column what was said of it.

    Args:
        kinds: by name or number of a column a kind: ``"count"``, ``"date:days:1970-01-01"``, ``"one-hot:colour"``.
        width: number of columns.
        names: of the columns; None where they have none.
        node_type: the type, for messages.

    Raises:
        SchemaError: there is no such column or kind, or a column is named twice.
    """
    found: dict[int, Said] = {}
    for key, said in kinds.items():
        number = column_number(key, width, names, node_type)
        if number in found:
            raise SchemaError(f"The kind of column {number} of '{node_type}' is said twice; say it once")
        what = f"column '{names[number] if names else number}' of '{node_type}'"
        found[number] = read_kind(said, what)
    return found


def column_number(key: str | int, width: int, names: Sequence[str] | None, node_type: str) -> int:
    """Which column a name, or a number, stands for; a name goes before a number that is written in the same way.

    Raises:
        SchemaError: there is none, or there are several.
    """
    if isinstance(key, str):
        places = [place for place, name in enumerate(names or ()) if name == key]
        if len(places) == 1:
            return places[0]
        if places:
            raise SchemaError(f"Several columns of '{node_type}' are called '{key}'; say its number instead")
        if not key.isdecimal():
            if names is None:
                raise SchemaError(f"The columns of '{node_type}' have no names, so there is no '{key}'; give names")
            known = ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
            guess = did_you_mean(key, names)
            raise SchemaError(f"'{node_type}' has no column called '{key}'{guess}; choose from {known}, or a number")
    elif isinstance(key, bool) or not isinstance(key, int):
        raise SchemaError(f"{key!r} is no column of '{node_type}'; give its name or its number")
    if not 0 <= int(key) < width:
        raise SchemaError(f"'{node_type}' has no column {int(key)}; numbers run from 0 to {width - 1}")
    return int(key)


def read_kind(said: ColumnSaid, what: str) -> Said:
    """A kind in any form.

    Raises:
        SchemaError: it is none.
    """
    if isinstance(said, Column):
        group = "" if said.group is None else str(said.group)
        return Said(said.kind, group, said.levels, said.missing, said.unit, said.epoch)
    if not isinstance(said, str):  # a ColumnKind is a text
        raise SchemaError(f"The kind of {what} is {said!r}; give its name, for example 'count'")
    text = said.value if isinstance(said, ColumnKind) else said
    name, _, rest = text.partition(":")
    kind = next((kind for kind in ColumnKind if kind.value == name), None)
    if kind is None:
        known = ", ".join(_WRITTEN.get(kind, kind.value) for kind in ColumnKind)
        raise SchemaError(f"'{text}' is not a kind of {what}; choose from {known}")
    if kind is ColumnKind.ONE_HOT:
        return Said(kind, group=rest)
    if kind is ColumnKind.DATE:
        unit, _, epoch = rest.partition(":")
        if not (unit and epoch):
            raise SchemaError(
                f"'{text}' does not say what {what} counts, and from when on; write it as date:days:1970-01-01"
            )
        try:
            Column(kind, unit=unit, epoch=epoch)
        except DignnError as error:
            raise SchemaError(f"The kind of {what} is '{text}': {error}") from None
        return Said(kind, unit=unit, epoch=epoch)
    if rest:
        raise SchemaError(f"'{text}' is not a kind of {what}; write '{name}' alone")
    return Said(kind)
