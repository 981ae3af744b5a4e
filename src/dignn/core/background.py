"""Work beside other work: one thing goes on in processes of its own while another is done here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, Generic, Self, TypeVar

from dignn.core.pieces import GivenUpError, Pieces
from dignn.core.processes import WAITED_FOR, stop_processes

Result = TypeVar("Result")
Part = TypeVar("Part")

# Seconds after which waiting looks whether somebody wants to interrupt it.
_LOOK_EVERY = 0.2
# Seconds that work which is given up has to come to its end.
_PATIENCE = 5.0
# In the thread of a Background: the event that tells it that its work is not wanted any more.
_HERE = threading.local()


class Background(Generic[Result]):
    """Calls a function that leaves its work to processes (:func:`~dignn.core.processes.map_processes`).

    >>> with Background(lambda: 6 * 7) as other:
    ...     here = 1 + 1
    ...     other.result() + here
    44

    If the block inside raises, the work is given up: its processes are ended, and it keeps nothing that it makes
    (:func:`check_wanted`).
    """

    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._future: Future[Result] = Future()
        self._given_up = threading.Event()
        self._offered: list[Pieces[Any]] = []

    def __enter__(self) -> Self:
        # A daemon, so that a program that ends does not wait for what nobody wants any more.
        threading.Thread(target=self._run, name="dignn background", daemon=True).start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        self._given_up.set()
        end = time.monotonic() + _PATIENCE
        while not self._future.done() and time.monotonic() < end:
            stop_processes()  # again and again, because the work may be just about to start them
            wait([self._future], _LOOK_EVERY)

    def result(self) -> Result:
        """Waits for the work and returns what it gave, or raises what it raised.

        Takes part in it meanwhile: pieces that no process has begun are done here.
        """
        return self.wait_for(self._future)

    def wait_for(self, part: Future[Part]) -> Part:
        """The same for a part of the work that is done when it fulfils this future."""
        while not part.done():
            if not any(pieces.help() for pieces in self._offered):
                wait([part], _LOOK_EVERY)
        return part.result()

    def _run(self) -> None:
        import torch

        torch.set_num_threads(1)  # each thread has a number of its own
        _HERE.given_up, WAITED_FOR.offered = self._given_up, self._offered
        try:
            self._future.set_result(self._work())
        except BaseException as error:
            self._future.set_exception(error)


def check_wanted() -> None:
    """Called by work before it keeps something.

    Raises:
        GivenUpError: this is the thread of a :class:`Background` whose block has raised.
    """
    if hasattr(_HERE, "given_up") and _HERE.given_up.is_set():
        raise GivenUpError("This work was given up; run again to do it")
