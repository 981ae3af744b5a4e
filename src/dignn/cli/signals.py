"""A request to end the program takes the same way out as Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Terminated(KeyboardInterrupt):
    """A request to end (SIGTERM)."""


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """SIGTERM raises, so that worker processes and half-written files are cleared away."""

    def stop(number: int, frame: object) -> None:
        raise Terminated

    if threading.current_thread() is not threading.main_thread():  # only the main thread may receive signals
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
