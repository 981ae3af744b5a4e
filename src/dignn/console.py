"""What the command line shows: results on standard output; progress and messages on standard error."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.logging import RichHandler
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from dignn.runtime.progress import Progress, Tick

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


class ConsoleProgress(Progress):
    """A bar per stage in a terminal; a line per finished stage where the output is a file."""

    @contextmanager
    def stage(self, title: str) -> Iterator[Tick]:
        begin = time.perf_counter()
        columns = (TextColumn("{task.description:<26}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Bars(*columns, console=err, transient=True, disable=not err.is_terminal) as bars:
            task = bars.add_task(title, total=None)
            yield lambda done, total: bars.update(task, completed=done, total=total)
        err.print(f"{title:<26} {time.perf_counter() - begin:7.2f} s")


def log_to_console(quiet: bool) -> None:
    """Shows the library's warnings (and, unless ``quiet``, what it says it is doing)."""
    handler = RichHandler(console=err, show_time=False, show_path=False, show_level=False)
    logger = logging.getLogger("dignn")
    logger.handlers = [handler]
    logger.setLevel(logging.WARNING if quiet else logging.INFO)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None) -> None:
    """Prints a table. Names in it come from users: brackets are shown as they are."""
    shown = Table(title=None if title is None else Text(title), title_justify="left", header_style="bold")
    for column in columns:
        shown.add_column(Text(column), overflow="fold")
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    out.print(shown)


def accuracies(accuracy: Mapping[str, Mapping[str, float | None]]) -> list[tuple[str, str, str]]:
    """Rows (graphs, nodes, accuracy) of a model card's accuracies."""
    return [
        (graphs.replace("_", " "), part.replace("_", " "), "not measured" if value is None else f"{value:.3f}")
        for graphs, parts in accuracy.items()
        for part, value in parts.items()
    ]
