"""What the command line shows: results on standard output; progress and messages on standard error."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.logging import RichHandler
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from dignn.runtime.progress import Progress, Tick

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


class ConsoleProgress(Progress):
    """A bar per stage in a terminal, also for stages at the same time; a line per finished stage in any output."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._bars = Bars()

    @contextmanager
    def stage(self, title: str) -> Iterator[Tick]:
        begin = time.perf_counter()
        bars, task = self._begin(title)
        try:
            yield lambda done, total: bars.update(task, completed=done, total=total)
        finally:
            self._end(task)
        err.print(f"{title:<26} {time.perf_counter() - begin:7.2f} s")

    def _begin(self, title: str) -> tuple[Bars, TaskID]:
        columns = (TextColumn("{task.description:<26}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with self._lock:
            if not self._running:  # a terminal shows the bars of one object at a time
                self._bars = Bars(*columns, console=err, transient=True, disable=not err.is_terminal)
                self._bars.start()
            self._running += 1
            return self._bars, self._bars.add_task(title, total=None)

    def _end(self, task: TaskID) -> None:
        with self._lock:
            self._bars.remove_task(task)
            self._running -= 1
            if not self._running:
                self._bars.stop()


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
