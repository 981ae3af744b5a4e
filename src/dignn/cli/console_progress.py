"""Progress on standard error: bars in a terminal, a line now and then where the output is a file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.text import Text

from dignn.cli.console import err
from dignn.core.durations import duration
from dignn.core.progress import Progress, Tick

# Where the output is a file: seconds between two lines about a stage, and between two looks at whether one is due.
EVERY, LOOK = 20.0, 5.0
# Below this share of the work a guess at the rest is worth nothing.
TOO_EARLY = 0.02


def remaining(elapsed: float, done: float, total: float) -> float | None:
    """Seconds that are left if the rest goes on as it went so far; None where nothing can be said yet."""
    if total <= 0 or done < TOO_EARLY * total:
        return None
    return elapsed * max(0.0, total - done) / done


class ConsoleProgress(Progress):
    """Stages of a run, also several at the same time: how far they are, and a line for each that is finished.

    Args:
        console: where it is shown; a terminal gets bars, anything else lines without control characters.
        clock: seconds of a clock.
        look: seconds, whatever that clock says, between two looks at whether a line is due.
    """

    def __init__(
        self, console: Console = err, *, clock: Callable[[], float] = time.monotonic, look: float = LOOK
    ) -> None:
        columns = (TextColumn("{task.description:<26}"), BarColumn(), _Percent(), TimeElapsedColumn(), _Left())
        self._bars = Bars(*columns, console=console, transient=True, get_time=clock)
        self._console, self._clock, self._look = console, clock, look
        self._lock = threading.Lock()
        self._over = threading.Event()  # no stage runs any more

    @contextmanager
    def stage(self, title: str) -> Iterator[Tick]:
        begin = self._clock()
        with self._lock:
            if not self._bars.tasks:
                self._start()
            task = self._bars.add_task(title, total=None, told=begin)

        def tick(done: int, total: int) -> None:
            with suppress(KeyError):  # work that was stopped may still tell
                self._bars.update(task, completed=done, total=total)

        try:
            yield tick
        finally:
            with self._lock:
                self._bars.remove_task(task)
                if not self._bars.tasks:
                    self._stop()
        self._console.print(f"{title:<26} {self._clock() - begin:7.2f} s")

    def _start(self) -> None:
        if self._console.is_terminal:
            self._bars.start()
        else:
            self._over = threading.Event()
            threading.Thread(target=self._tell, args=(self._over,), daemon=True).start()

    def _stop(self) -> None:
        if self._console.is_terminal:
            self._bars.stop()
        else:
            self._over.set()

    def _tell(self, over: threading.Event) -> None:
        """A line about every stage that takes long, again and again."""
        while not over.wait(self._look):
            now = self._clock()
            for task in self._bars.tasks:
                if now - task.fields["told"] >= EVERY:
                    task.fields["told"] = now
                    self._console.print(_line(task, now), soft_wrap=True)


def _line(task: Task, now: float) -> str:
    """How far a stage is, or, where it does not tell, how long it has taken."""
    elapsed = now - (task.start_time or now)
    left = remaining(elapsed, task.completed, task.total or 0)
    guess = f"{duration(elapsed, rough=True)} so far" if left is None else f"about {duration(left, rough=True)} left"
    return f"{task.description}: {int(task.percentage)} %, {guess}" if task.total else f"{task.description}: {guess}"


class _Percent(ProgressColumn):
    """Nothing for a stage that does not say how far it is."""

    def render(self, task: Task) -> Text:
        return Text("" if not task.total else f"{int(task.percentage):3} %".rjust(5))


class _Left(ProgressColumn):
    """About how long it will still take."""

    def render(self, task: Task) -> Text:
        left = None if task.total is None else remaining(task.elapsed or 0.0, task.completed, task.total)
        return Text("" if left is None else f"about {duration(left, rough=True)} left", style="cyan")
