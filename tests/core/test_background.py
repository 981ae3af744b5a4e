"""Work beside other work."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import wait
from pathlib import Path

import pytest

from dignn.core.background import Background, GivenUpError, check_wanted
from dignn.core.processes import map_processes
from dignn.core.run_folder import Run


def test_both_are_done_and_the_result_is_that_of_the_work() -> None:
    both = threading.Barrier(2, timeout=10)
    with Background(lambda: (both.wait(), "done")[1]) as other:
        both.wait()  # passes only if the other one is under way
        assert other.result() == "done"


def test_an_error_of_the_work_is_raised_where_its_result_is_wanted() -> None:
    def fail() -> None:
        raise ValueError("no")

    with Background(fail) as other, pytest.raises(ValueError, match="no"):
        other.result()


def test_processes_end_when_the_block_raises() -> None:
    def work() -> list[None]:
        return map_processes(time.sleep, [(60,), (60,)], workers=2, apart=True)

    other = Background(work)
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        _interrupted(other)
    wait([other._future], 20)
    assert other._future.done()
    assert time.perf_counter() - begin < 30


def _interrupted(other: Background[list[None]]) -> None:
    with other:
        time.sleep(3)  # time to start processes
        raise KeyboardInterrupt


def test_apart_leaves_nothing_to_this_process() -> None:
    (other,) = map_processes(os.getpid, [()], apart=True)
    assert other != os.getpid()


def test_whoever_waits_takes_part_and_results_stay_in_order() -> None:
    told: list[int] = []
    parent = os.getpid()

    def where(number: int) -> tuple[int, bool]:
        """In another process for as long as the other pieces take here."""
        here = os.getpid() == parent
        time.sleep(0 if here else 1.5)
        return number, here

    def work() -> list[tuple[int, bool]]:
        return map_processes(where, [(number,) for number in range(6)], workers=1, apart=True, done=told.append)

    with Background(work) as other:
        found = other.result()
    assert [number for number, _ in found] == list(range(6))
    assert not found[0][1]  # a process begins at the front
    assert found[-1][1]  # who waits begins at the end
    assert sorted(told) == list(range(6))


def test_an_error_in_what_is_done_meanwhile_is_raised_and_the_work_is_given_up() -> None:
    parent = os.getpid()

    def fail_here() -> None:
        if os.getpid() == parent:
            raise ValueError("no")
        time.sleep(1.5)

    with (
        pytest.raises(ValueError, match="no"),
        Background(lambda: map_processes(fail_here, [()] * 3, workers=1, apart=True)) as other,
    ):
        other.result()
    wait([other._future], 20)
    assert other._future.exception() is not None


# -- interrupted --------------------------------------------------------------------------------------


def _sleeping(folder: Path) -> Callable[[], list[None]]:
    """Work of two processes that note their numbers and sleep."""

    def sleep() -> None:
        (folder / str(os.getpid())).touch()
        time.sleep(60)

    return lambda: map_processes(sleep, [(), ()], workers=2, apart=True)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_processes_end_when_waiting_for_the_result_is_interrupted(tmp_path: Path) -> None:
    """By a signal in the main thread, as Ctrl-C and SIGTERM interrupt a command."""
    other = Background(_sleeping(tmp_path))

    def interrupt_soon() -> None:
        end = time.monotonic() + 20
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        signal.setitimer(signal.ITIMER_REAL, 0.3)

    before = signal.signal(signal.SIGALRM, _interrupt)
    try:
        with pytest.raises(KeyboardInterrupt), other:  # noqa: PT012 (only the signal interrupts)
            interrupt_soon()
            other.result()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    numbers = [int(path.name) for path in tmp_path.iterdir()]
    assert len(numbers) == 2
    end = time.monotonic() + 3
    while any(map(_alive, numbers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(_alive, numbers))
    assert other._future.done()


def test_work_that_is_given_up_before_its_processes_start_does_not_go_on(tmp_path: Path) -> None:
    work = _sleeping(tmp_path)
    other = Background(lambda: (time.sleep(0.5), work()))
    with pytest.raises(KeyboardInterrupt), other:
        raise KeyboardInterrupt
    assert wait([other._future], 5).done
    assert not any(_alive(int(path.name)) for path in tmp_path.iterdir())


def test_work_that_is_given_up_keeps_nothing(tmp_path: Path) -> None:
    run, begun = Run(tmp_path / "run"), threading.Event()
    run.identify({"seed": 0})
    run.claim()

    def make() -> str:
        begun.set()
        while not other._given_up.is_set():
            time.sleep(0.01)
        return "made"

    other = Background(lambda: run.artifact("a.txt", make, lambda made, path: path.write_text(made), Path.read_text))
    with pytest.raises(KeyboardInterrupt), other:  # noqa: PT012 (the work must have begun)
        begun.wait(5)
        raise KeyboardInterrupt
    assert wait([other._future], 5).done
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"config.json", "checksums.json"}
    with pytest.raises(GivenUpError):
        other.result()
    check_wanted()  # only the work is given up; this thread may go on
    assert run.artifact("a.txt", lambda: "now", lambda made, path: path.write_text(made), Path.read_text) == "now"
    assert (tmp_path / "run" / "a.txt").read_text() == "now"
