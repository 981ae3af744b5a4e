"""Work beside other work: one thing goes on in processes of its own while another is done here."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Generic, Self, TypeVar

import torch

from dignn.runtime.processes import stop_processes

Result = TypeVar("Result")

# Seconds after which waiting looks whether somebody wants to interrupt it.
_LOOK_EVERY = 0.2


class Beside(Generic[Result]):
    """Calls a function that leaves its work to processes (:func:`~dignn.runtime.processes.map_processes`).

    >>> with Beside(lambda: 6 * 7) as other:
    ...     here = 1 + 1
    ...     other.result() + here
    44

    If the block inside raises, the processes are ended and nobody waits for them.
    """

    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._result: list[Result] = []
        self._error: BaseException | None = None
        # A daemon, so that a program that ends does not wait for what nobody wants any more.
        self._thread = threading.Thread(target=self._run, name="beside", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self._thread.is_alive():
            stop_processes()

    def result(self) -> Result:
        """Waits for the work and returns what it gave, or raises what it raised."""
        while self._thread.is_alive():
            self._thread.join(_LOOK_EVERY)
        if self._error is not None:
            raise self._error
        return self._result[0]

    def _run(self) -> None:
        torch.set_num_threads(1)  # each thread has a number of its own
        try:
            self._result.append(self._work())
        except BaseException as error:
            self._error = error
