"""Processes: independent pieces of work side by side, by joblib, each with one torch thread."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from functools import cache
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError

from dignn.core.errors import DignnError
from dignn.core.pieces import Pieces

log = logging.getLogger(__name__)
Result = TypeVar("Result")

# Seconds between two looks of a worker at whether its parent is still there.
WATCH_EVERY = 1.0
# In a thread that somebody waits for: ``offered``, pieces of work that they may do meanwhile.
WAITED_FOR = threading.local()


def map_processes(
    function: Callable[..., Result],
    arguments: Sequence[tuple[Any, ...]],
    *,
    workers: int | None = None,
    apart: bool = False,
    done: Callable[[int], None] = lambda number: None,
    found: Callable[[int, Result], None] = lambda number, result: None,
) -> list[Result]:
    """``function(*arguments[i])`` for every i, in order.

    The processes end with the work, and with the process that calls, however that ends. Where none can be started, the
    work is done here.

    Args:
        function: a function of a module; what it takes and gives is sent from process to process.
        arguments: of each call; the longest piece of work should come first.
        workers: pieces at a time; by default one per core. With one, everything runs here.
        apart: whether nothing is to run here, because this process has something else to do; by default a core is left
            to it. In the thread of a :class:`~dignn.core.background.Background` whoever waits for it takes part.
        done: called with the number of a piece that is finished.
        found: called with its number and its result, for who waits for one piece and not for all; of a piece that
            they have done themselves in their own thread.

    Raises:
        DignnError: a process ended unexpectedly.
    """
    from dignn.core.threads import cores  # loads torch, which a worker loads only if its work needs it

    free = max(1, cores() - 1) if apart else cores()
    workers = min(len(arguments), free if workers is None else workers)
    results: dict[int, Result] = {}
    pieces = Pieces(function, arguments, found)

    def keep(number: int, result: Result) -> None:
        results[number] = result
        found(number, result)
        done(number)

    def taken() -> Iterator[tuple[int, tuple[Any, ...]]]:
        for place, piece in enumerate(pieces):
            if apart and place == 0:  # the longest piece is for a process
                _offer(pieces)
            yield piece

    if workers > 1 or (apart and workers):
        with closing(_side_by_side(function, taken(), workers)) as finished:
            for number, result in finished:
                keep(number, result)
    for number, result in pieces.helped().items():
        results[number] = result
        done(number)
    for number, several in enumerate(arguments):
        if number not in results:
            keep(number, function(*several))
    return [results[number] for number in range(len(arguments))]


def _offer(pieces: Pieces[Any]) -> None:
    """Lets whoever waits for the work of this thread, if there is somebody, take part in it."""
    waiting = getattr(WAITED_FOR, "offered", None)
    if waiting is not None:
        waiting.append(pieces)


def _side_by_side(
    function: Callable[..., Result], pieces: Iterator[tuple[int, tuple[Any, ...]]], workers: int
) -> Generator[tuple[int, Result], None, None]:
    """Pieces as they are finished, with their numbers; not all of them where processes cannot be started."""
    processes = max(2, workers)  # joblib with one process would run everything here
    if effective_n_jobs(processes) == 1:
        log.warning("No processes can be started here; the work is done in this one, which takes longer")
        return
    parent = os.getpid()
    jobs = (delayed(_numbered)(parent, number, function, several) for number, several in pieces)
    finished, failed = False, None
    try:
        # Workers watch their parent, so no other kind of joblib's backends may take the place of this one.
        pool = Parallel(
            n_jobs=processes,
            backend="loky",
            return_as="generator_unordered",
            pre_dispatch=workers,
            batch_size=1,  # what a process has not begun may be taken by others
        )
        with closing(pool(jobs)) as found:
            for number, result, failed in found:
                if failed is not None:
                    break
                yield number, result
            else:
                finished = True
    except TerminatedWorkerError as error:
        raise DignnError(
            "A process that worked beside this one ended unexpectedly, probably for lack of memory; "
            "run again with fewer columns or on one core"
        ) from error
    except OSError as error:
        log.warning("No processes can be started here (%s); the work is done in this one, which takes longer", error)
    finally:
        # Idle workers would keep hundreds of megabytes for minutes, and those of work that is given up would go on.
        stop_processes(kill=not finished)
    if failed is not None:
        raise failed


def stop_processes(*, kill: bool = True) -> None:
    """Ends the processes of this one; ``kill``: in the middle of what they are doing."""
    with suppress(OSError):  # where none could be started
        get_reusable_executor(reuse=True, kill_workers=kill).shutdown(wait=True, kill_workers=kill)


def _numbered(
    parent: int, number: int, function: Callable[..., Result], arguments: tuple[Any, ...]
) -> tuple[int, Result | None, OSError | None]:
    """A piece's number, its result, and the error of the operating system that it met, unlike one in starting it."""
    if os.getpid() != parent:  # joblib may choose to run everything in the process that calls
        _end_with(parent)
    try:
        return number, function(*arguments), None
    except OSError as error:
        return number, None, error


@cache
def _end_with(parent: int) -> None:
    """Ends this process, whatever it is doing, soon after its parent has ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_EVERY)
        os._exit(1)

    threading.Thread(target=watch, name="end with the parent", daemon=True).start()
