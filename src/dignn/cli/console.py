"""What the command line shows: results on standard output; messages on standard error."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)
# Characters of a line that no table is longer than.
_WIDE = 400


class _Messages(logging.Handler):
    """A message is a line, however long: a file of messages can be searched, and a terminal wraps it by itself."""

    def emit(self, record: logging.LogRecord) -> None:
        style = "yellow" if record.levelno >= logging.WARNING else ""
        err.print(Text(self.format(record), style=style), soft_wrap=True)


def log_to_console(quiet: bool) -> None:
    """Shows the library's warnings (and, unless ``quiet``, what it says it is doing)."""
    logger = logging.getLogger("dignn")
    logger.handlers = [_Messages()]
    logger.setLevel(logging.WARNING if quiet else logging.INFO)


def say(text: str) -> None:
    """Prints a line of the result as it is: brackets mean nothing, and it is not broken."""
    out.print(text, soft_wrap=True, markup=False)


def say_path(title: str, path: Path) -> None:
    """Prints where something is. In a terminal the path can be opened by a click."""
    link = Style(link=path.resolve().as_uri()) if out.is_terminal else Style()
    out.print(Text.assemble(f"{title}: ", (str(path), link)), soft_wrap=True)


def say_json(value: Mapping[str, Any]) -> None:
    """Prints one JSON object. Not by the console, which would break long lines."""
    sys.stdout.write(json.dumps(value, indent=1, allow_nan=False) + "\n")


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None, *, wide: bool = False
) -> None:
    """Prints a table. Names in it come from users: brackets are shown as they are.

    ``wide``: its lines are as long as need be where the output is a file.
    """
    shown = Table(title=None if title is None else Text(title), title_justify="left", header_style="bold")
    for column in columns:
        shown.add_column(Text(column), overflow="fold")
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    unbroken = wide and not out.is_terminal
    (Console(file=out.file, width=_WIDE, highlight=False) if unbroken else out).print(shown)
