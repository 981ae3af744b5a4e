"""Progress: work reports through a ``Tick``; who shows it, and how, is decided at the top."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Tick(Protocol):
    """Called by long work with what is done and what there is to do, in any unit."""

    def __call__(self, done: int, total: int) -> None: ...


def silent(done: int, total: int) -> None:
    """A tick that nobody sees."""


class Progress:
    """Shows nothing; the command line shows bars instead."""

    @contextmanager
    def stage(self, title: str) -> Iterator[Tick]:
        """A stage of the run, with a title for people."""
        yield silent
