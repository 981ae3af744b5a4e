"""Progress: work reports through a ``Tick``; who shows it, and how, is decided at the top."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Tick(Protocol):
    """Called by long work with what is done and what there is to do, in any unit."""

    def __call__(self, done: int, total: int) -> None: ...


def silent(done: int, total: int) -> None:
    """A tick that nobody sees."""


def part_of(tick: Tick, number: int, count: int) -> Tick:
    """Progress of one of ``count`` equal parts as progress of the whole."""
    return lambda done, total: tick(1000 * number + 1000 * done // max(total, 1), 1000 * count)


class Together:
    """Progress of pieces that are finished by several threads, in any order.

    Args:
        tick: who is told.
        total: what there is to do.
    """

    def __init__(self, tick: Tick, total: int) -> None:
        self._tick, self._total, self._done = tick, total, 0
        self._lock = threading.Lock()

    def add(self, done: int) -> None:
        with self._lock:
            self._done += done
            self._tick(self._done, self._total)


class Progress:
    """Shows nothing; the command line shows bars instead."""

    @contextmanager
    def stage(self, title: str) -> Iterator[Tick]:
        """A stage of the run, with a title for people."""
        yield silent
