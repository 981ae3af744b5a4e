"""Tables as files of JSON, written and read, and asked for single cells."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dignn.core.errors import DignnError
from dignn.core.files import read_json, write_text
from dignn.reproduce.filled import TABLE_FORMAT
from dignn.reproduce.registry import TABLES
from dignn.reproduce.whole_tables import PLACE, check_whole

FilledCell = Mapping[str, Any]
FilledTable = Mapping[str, Any]


def write_table(folder: Path, table: FilledTable) -> None:
    """Writes a table, with a line for each cell, so that a change of one is a change of a line."""
    parts = [f" {json.dumps(name)}: {_text(value)}" for name, value in table.items()]
    write_text(folder / f"{table['name']}.json", "{\n" + ",\n".join(parts) + "\n}\n")


def _text(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"  {json.dumps(one, allow_nan=False)}" for one in value) + "\n ]"
    return json.dumps(value, allow_nan=False)


def read_tables(folder: Path) -> dict[str, FilledTable]:
    """Those that a folder has, in the order of the tables.

    Raises:
        DignnError: a file is damaged, or is of another version.
    """
    found: dict[str, FilledTable] = {}
    for name, defined in TABLES.items():
        path = folder / f"{name}.json"
        if path.is_file():
            remedy = f"delete it, and `dignn reproduce {name}` writes it again"
            found[name] = read_json(path, "format", "cells", "told", remedy=remedy)
            if found[name]["format"] != TABLE_FORMAT:
                raise DignnError(f"{path} is of another version; {remedy}")
            try:
                check_whole(found[name], defined)
            except ValueError as error:
                raise DignnError(f"{path} is damaged, or of another version ({error}); {remedy}") from error
    return found


def lost(there: FilledTable | None, now: FilledTable) -> bool:
    """Whether some cell that has a value of ours in a written table has none now."""

    def having(table: FilledTable) -> set[tuple[str, ...]]:
        return {tuple(cell[name] for name in PLACE) for cell in table["cells"] if cell["ours"] is not None}

    # What is defined no longer is not lost.
    defined = {tuple(cell[name] for name in PLACE) for cell in now["cells"]}
    return there is not None and bool(having(there) & defined - having(now))


class Value(NamedTuple):
    """A mean, the standard deviation of the runs that it is of, 0 where there is only one, and how many these are.

    What is no measurement, such as a bound or a value that the paper prints, is of no runs.
    """

    mean: float
    spread: float = 0.0
    runs: int = 0


def mean_of(cell: FilledCell) -> Value | None:
    """Ours; None where there is no run."""
    ours = cell["ours"]
    return None if ours is None else Value(float(ours["mean"]), float(ours["sd"] or 0.0), ours["runs"])


class Cells:
    """The cells of some tables.

    Args:
        tables: by name.
    """

    def __init__(self, tables: Mapping[str, FilledTable]) -> None:
        self.tables = tables

    def of(self, table: str, **wanted: str) -> Sequence[FilledCell]:
        """Cells of a table that have those values: ``group``, ``row``, ``model``, ``figure``."""
        cells = self.tables[table]["cells"] if table in self.tables else ()
        return [cell for cell in cells if all(cell[name] == value for name, value in wanted.items())]

    def ours(self, table: str, **wanted: str) -> Value | None:
        """Ours in the first of these cells; None where there is no such cell, or no run."""
        return next((mean_of(cell) for cell in self.of(table, **wanted)), None)
