"""The machine that work runs on: what it is, and how much memory the work takes."""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

# Seconds between two looks at memory. A look goes through all pages of a process, which takes time of the machine.
LOOK_EVERY = 1.0
_KIB_IN_GIB = 1024**2


def machine() -> dict[str, Any]:
    """What figures were measured on."""
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "torch": version("torch"),
    }


def memory_of(pid: int) -> float:
    """GiB that a process and all that it started hold now, pages that they share counted once; 0.0 if unknown."""
    return sum(map(_gib, _family(pid)))


class PeakMemory:
    """The most memory seen so far, GiB."""

    def __init__(self) -> None:
        self.gib = 0.0

    def look(self) -> None:
        """Looks at what this process and all that it started hold now."""
        self.gib = max(self.gib, memory_of(os.getpid()))


@contextmanager
def watched_memory() -> Iterator[PeakMemory]:
    """Inside, this process and all that it starts are looked at every second; where the system tells, Linux."""
    peak, over = PeakMemory(), threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_EVERY):
            peak.look()

    peak.look()
    thread = threading.Thread(target=watch, name="memory", daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()
        peak.look()


def _family(pid: int) -> list[int]:
    """A process and all that it started, directly or not."""
    found = [pid]
    for parent in found:
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += map(int, children.read_text().split())
            except OSError:  # it has just ended
                continue
    return found


def _gib(pid: int) -> float:
    """Memory of a process, its part of what it shares with others; 0.0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / _KIB_IN_GIB
