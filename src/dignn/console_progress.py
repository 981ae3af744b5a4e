"""Progress on standard error: bars in a terminal, a line now and then where the output is a file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.text import Text

from dignn.console import err
from dignn.durations import duration
from dignn.runtime.progress import Progress, Tick

# Where the output is a file: seconds between two lines about a stage, and between two looks at whether one is due.
EVERY, LOOK = 20.0, 5.0
# Below this share of the work a guess at the rest is worth nothing.
TOO_EARLY = 0.02


def remaining(elapsed: float, done: float, total: float) -> float | None:
    """Seconds that are left if the rest goes on as it went so far; None where nothing can be said yet."""
    if total <= 0 or done < TOO_EARLY * total:
        return None
    return elapsed * max(0.0, total - done) / done


@dataclass
class _Stage:
    title: str
    begun: float
    told: float
    done: int = 0
    total: int = 0

    def line(self, now: float) -> str:
        elapsed = now - self.begun
        if not self.total:
            return f"{self.title}: {duration(elapsed, rough=True)} so far"
        left = remaining(elapsed, self.done, self.total)
        guess = (
            f"{duration(elapsed, rough=True)} so far" if left is None else f"about {duration(left, rough=True)} left"
        )
        return f"{self.title}: {100 * self.done // self.total} %, {guess}"


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
        self._lock = threading.Lock()
        self._clock = clock
        self._shown: _Bars | _Lines = _Bars(console, clock) if console.is_terminal else _Lines(console, clock, look)
        self._console = console
        self._running = 0

    @contextmanager
    def stage(self, title: str) -> Iterator[Tick]:
        begin = self._clock()
        with self._lock:
            if not self._running:
                self._shown.start()
            self._running += 1
            key = self._shown.begin(title)
        try:
            yield lambda done, total: self._shown.tick(key, done, total)
        finally:
            with self._lock:
                self._shown.end(key)
                self._running -= 1
                if not self._running:
                    self._shown.stop()
        self._console.print(f"{title:<26} {self._clock() - begin:7.2f} s")


class _Bars:
    """A bar per stage. A terminal shows the bars of one object at a time."""

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        self._console, self._clock = console, clock
        self._bars = Bars(console=console)
        self._tasks: dict[int, TaskID] = {}
        self._number = 0

    def start(self) -> None:
        columns = (TextColumn("{task.description:<26}"), BarColumn(), _Percent(), TimeElapsedColumn(), _Left())
        self._bars = Bars(*columns, console=self._console, transient=True, get_time=self._clock)
        self._bars.start()

    def begin(self, title: str) -> int:
        self._number += 1
        self._tasks[self._number] = self._bars.add_task(title, total=None)
        return self._number

    def tick(self, key: int, done: int, total: int) -> None:
        task = self._tasks.get(key)
        if task is not None:  # work that was stopped may still tell
            self._bars.update(task, completed=done, total=total)

    def end(self, key: int) -> None:
        self._bars.remove_task(self._tasks.pop(key))

    def stop(self) -> None:
        self._bars.stop()


class _Percent(ProgressColumn):
    """Nothing for a stage that does not say how far it is."""

    def render(self, task: Task) -> Text:
        return Text("" if not task.total else f"{int(task.percentage):3} %".rjust(5))


class _Left(ProgressColumn):
    """About how long it will still take."""

    def render(self, task: Task) -> Text:
        left = None if task.total is None else remaining(task.elapsed or 0.0, task.completed, task.total)
        return Text("" if left is None else f"about {duration(left, rough=True)} left", style="cyan")


class _Lines:
    """A line about every stage that takes long, again and again; a stage that tells nothing says how long it took."""

    def __init__(self, console: Console, clock: Callable[[], float], look: float) -> None:
        self._console, self._clock, self._look = console, clock, look
        self._stages: dict[int, _Stage] = {}
        self._number = 0
        self._over = threading.Event()

    def start(self) -> None:
        self._over = threading.Event()
        threading.Thread(target=self._watch, args=(self._over,), daemon=True).start()

    def _watch(self, over: threading.Event) -> None:
        while not over.wait(self._look):
            now = self._clock()
            for stage in list(self._stages.values()):
                if now - stage.told >= EVERY:
                    stage.told = now
                    self._console.print(stage.line(now), soft_wrap=True)

    def begin(self, title: str) -> int:
        now = self._clock()
        self._number += 1
        self._stages[self._number] = _Stage(title, now, now)
        return self._number

    def tick(self, key: int, done: int, total: int) -> None:
        stage = self._stages.get(key)
        if stage is not None:  # work that was stopped may still tell
            stage.done, stage.total = done, total

    def end(self, key: int) -> None:
        del self._stages[key]

    def stop(self) -> None:
        self._over.set()
