"""Work beside other work."""

from __future__ import annotations

import threading
import time

import pytest

from dignn.runtime.beside import Beside
from dignn.runtime.processes import map_processes


def test_both_are_done_and_the_result_is_that_of_the_work() -> None:
    both = threading.Barrier(2, timeout=10)
    with Beside(lambda: (both.wait(), "done")[1]) as other:
        both.wait()  # passes only if the other one is under way
        assert other.result() == "done"


def test_an_error_of_the_work_is_raised_where_its_result_is_wanted() -> None:
    def fail() -> None:
        raise ValueError("no")

    with Beside(fail) as other, pytest.raises(ValueError, match="no"):
        other.result()


def test_processes_end_when_the_block_raises() -> None:
    def work() -> list[None]:
        return map_processes(time.sleep, [(60,), (60,)], apart=True)

    other = Beside(work)
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        _interrupted(other)
    other._thread.join(20)
    assert not other._thread.is_alive()
    assert time.perf_counter() - begin < 30


def _interrupted(other: Beside[list[None]]) -> None:
    with other:
        time.sleep(3)  # time to start processes
        raise KeyboardInterrupt


def test_apart_leaves_nothing_to_this_process() -> None:
    import os

    (other,) = map_processes(os.getpid, [()], apart=True)
    assert other != os.getpid()
