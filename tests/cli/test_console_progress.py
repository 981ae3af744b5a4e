"""Progress on standard error, with a clock that stands still until it is moved."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from io import StringIO

import pytest
from rich.console import Console

from dignn.cli.console_progress import ConsoleProgress, remaining
from dignn.core.durations import duration


class Clock:
    """Counts how often somebody looks at it."""

    def __init__(self) -> None:
        self.now, self.looks = 1000.0, 0

    def __call__(self) -> float:
        self.looks += 1
        return self.now


def wait_until(condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + 10
    while not condition() and time.monotonic() < until:
        time.sleep(0.002)
    return condition()


class Shown:
    """Progress into a text; ``terminal`` as if someone looked on."""

    def __init__(self, *, terminal: bool) -> None:
        self.clock, self.file = Clock(), StringIO()
        # Not the environment of whoever runs the tests: some terminals can show no bars.
        known = {"TERM": "xterm"}
        console = Console(file=self.file, force_terminal=terminal, width=120, color_system=None, _environ=known)
        self.progress = ConsoleProgress(console, clock=self.clock, look=0.002)

    @property
    def lines(self) -> list[str]:
        return self.file.getvalue().splitlines()

    def later(self, seconds: float) -> list[str]:
        """The lines that are there when a stage has run for so many seconds more."""
        self.clock.now += seconds
        before = self.clock.looks
        # Whoever looks a second time has written what was due at the first.
        assert wait_until(lambda: self.clock.looks >= before + 2)
        return self.lines

    def frame(self, part: str, seconds: float) -> str:
        """What a terminal has been shown when, so many seconds later, it shows ``part``."""
        self.clock.now += seconds
        assert wait_until(lambda: part in self.file.getvalue())
        return self.file.getvalue()


def test_in_a_file_a_long_stage_tells_now_and_then_how_long_it_will_take() -> None:
    shown = Shown(terminal=False)
    with shown.progress.stage("Learning structure") as tick:
        tick(10, 100)
        assert shown.later(10) == []
        tick(40, 100)
        assert shown.later(10) == ["Learning structure: 40 %, about 30 s left"]
        assert len(shown.later(19)) == 1
        tick(78, 100)
        assert shown.later(1)[1:] == ["Learning structure: 78 %, about 11 s left"]
    assert shown.lines[2:] == ["Learning structure           40.00 s"]
    assert "\x1b" not in shown.file.getvalue()
    assert "\r" not in shown.file.getvalue()


def test_a_stage_that_tells_nothing_says_how_long_it_has_taken() -> None:
    shown = Shown(terminal=False)
    with shown.progress.stage("Measuring"):
        assert shown.later(21) == ["Measuring: 21 s so far"]


def test_a_short_stage_is_one_line() -> None:
    shown = Shown(terminal=False)
    with shown.progress.stage("Checking validity") as tick:
        tick(1, 2)
        shown.later(1)
    assert shown.lines == ["Checking validity             1.00 s"]


def test_stages_at_the_same_time_tell_apart() -> None:
    shown = Shown(terminal=False)
    with shown.progress.stage("Learning structure") as one, shown.progress.stage("Learning features") as other:
        one(1, 2)
        other(1, 4)
        lines = shown.later(30)
    assert lines == ["Learning structure: 50 %, about 30 s left", "Learning features: 25 %, about 2 min left"]


def test_nobody_looks_when_no_stage_runs() -> None:
    shown, before = Shown(terminal=False), set(threading.enumerate())
    with shown.progress.stage("Measuring"):
        shown.later(1)
        assert set(threading.enumerate()) - before  # threads of other tests may be just about to end
    assert wait_until(lambda: set(threading.enumerate()) <= before)


def test_in_a_terminal_there_is_a_bar_with_percent_and_remaining_time() -> None:
    shown = Shown(terminal=True)
    with shown.progress.stage("Learning structure") as tick:
        tick(40, 100)
        frame = shown.frame("0:00:20", 20)
    assert "40 %" in frame
    assert "about 30 s left" in frame
    assert shown.file.getvalue().rstrip().endswith("Learning structure           20.00 s")


def test_in_a_terminal_a_stage_that_tells_nothing_promises_nothing() -> None:
    shown = Shown(terminal=True)
    with shown.progress.stage("Measuring"):
        frame = shown.frame("0:00:20", 20)
    assert "%" not in frame
    assert "left" not in frame


@pytest.mark.parametrize("terminal", [False, True])
def test_a_stage_that_fails_is_not_called_finished_and_may_still_tell(terminal: bool) -> None:
    shown = Shown(terminal=terminal)
    with pytest.raises(ZeroDivisionError), shown.progress.stage("Measuring") as tick:
        raise ZeroDivisionError
    tick(1, 2)
    with shown.progress.stage("Measuring again"):
        tick(2, 2)
    assert "Measuring  " not in shown.file.getvalue().splitlines()[-1]
    assert "%" not in shown.file.getvalue()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "1 s"),
        (24.6, "25 s"),
        (89, "89 s"),
        (91, "2 min"),
        (3600, "60 min"),
        (7800, "2 h 10 min"),
        (7199, "2 h 0 min"),
    ],
)
def test_guesses_are_rough_words(seconds: float, words: str) -> None:
    assert duration(seconds, rough=True) == words


def test_the_rest_goes_on_as_it_went() -> None:
    assert remaining(30, 1, 4) == 90
    assert remaining(30, 4, 4) == 0
    assert remaining(30, 5, 4) == 0
    assert remaining(30, 1, 100) is None
    assert remaining(30, 0, 0) is None
