"""The program ``dignn``: runs a command, and ends with a code that tells a shell how it went."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dignn.cli.application import read
from dignn.cli.console import err
from dignn.core.errors import DignnError

# As a program ends that SIGPIPE ends; not every system has that signal.
PIPE_CLOSED = 141


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; a user's mistake gives one sentence and the exit code 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        try:
            return _run(given)
        finally:
            sys.stdout.flush()  # here, because nobody could catch what it raises when Python ends
    except BrokenPipeError:
        # Whoever reads has read enough, as in `dignn explain --help | head`. What is left to write goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED


def _run(given: list[str]) -> int:
    try:
        with termination_interrupts():
            read(given)()
    except DignnError as error:
        err.print(f"dignn: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt as error:
        err.print("dignn: stopped; the same command goes on where it stopped", soft_wrap=True)
        return 128 + (signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)
    return 0
