"""Work beside other work: one thing goes on in processes of its own while another is done here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Generic, Self, TypeVar

import torch

from dignn.errors import DignnError
from dignn.runtime.processes import stop_processes

Result = TypeVar("Result")

# Seconds after which waiting looks whether somebody wants to interrupt it.
_LOOK_EVERY = 0.2
# Seconds that work which is given up has to come to its end.
_PATIENCE = 5.0


class GivenUpError(DignnError):
    """Work that nobody waits for any more."""


class Beside(Generic[Result]):
    """Calls a function that leaves its work to processes (:func:`~dignn.runtime.processes.map_processes`).

    >>> with Beside(lambda: 6 * 7) as other:
    ...     here = 1 + 1
    ...     other.result() + here
    44

    If the block inside raises, the work is given up: its processes are ended, and it keeps nothing that it makes
    (:func:`check_wanted`).
    """

    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._result: list[Result] = []
        self._error: BaseException | None = None
        # Not the thread's own word: an exception while it is joined makes Python 3.11 take it for one that has ended.
        self._done = threading.Event()
        # A daemon, so that a program that ends does not wait for what nobody wants any more.
        self._thread = _Thread(target=self._run, name="beside", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            return
        self._thread.given_up.set()
        end = time.monotonic() + _PATIENCE
        while not self._done.is_set() and time.monotonic() < end:
            stop_processes()  # again and again, because the work may be just about to start them
            self._done.wait(_LOOK_EVERY)

    def result(self) -> Result:
        """Waits for the work and returns what it gave, or raises what it raised."""
        while not self._done.wait(_LOOK_EVERY):
            pass
        if self._error is not None:
            raise self._error
        return self._result[0]

    def _run(self) -> None:
        torch.set_num_threads(1)  # each thread has a number of its own
        try:
            self._result.append(self._work())
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()


class _Thread(threading.Thread):
    """A thread that can be told that its work is not wanted any more."""

    def __init__(self, target: Callable[[], None], name: str, daemon: bool) -> None:
        super().__init__(target=target, name=name, daemon=daemon)
        self.given_up = threading.Event()


def check_wanted() -> None:
    """Called by work before it keeps something.

    Raises:
        GivenUpError: this is the thread of a :class:`Beside` whose block has raised.
    """
    thread = threading.current_thread()
    if isinstance(thread, _Thread) and thread.given_up.is_set():
        raise GivenUpError("This work was given up; run again to do it")
