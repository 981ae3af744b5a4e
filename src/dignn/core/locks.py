"""Locks between threads and processes that work on the same files; they end with the process, however that ends.

A file system without locks (some network drives, Windows) grants them all: two processes on one folder are not told
apart there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Inside, no other thread or process is, for the same file or folder. It is the lock itself: nothing stays behind.

    Not to be nested: who waits for a lock of his own waits for ever.
    """
    with _opened(path) as handle:
        if handle is not None:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def is_locked(path: Path) -> bool:
    """Whether a thread or process is inside :func:`locked` for the file or folder."""
    with _opened(path) as handle:
        if handle is None:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
    return False


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """A handle of a file or folder; None where there is none, or no locks."""
    handle = None
    if fcntl is not None:
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY)
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)
