"""Timing and memory of a piece of work."""

from __future__ import annotations

import platform
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

_SCALE = 1024**3 if platform.system() == "Darwin" else 1024**2  # bytes there, kilobytes elsewhere


def seconds(work: Callable[[], Any], repeat: int = 5) -> float:
    """Median wall-clock seconds of ``repeat`` runs after one to warm up."""
    work()
    taken = []
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def peak_memory() -> float:
    """Largest resident memory of this process so far, GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _SCALE


def memory_of_children() -> float:
    """Largest resident memory of any process that this one started and that has ended, GiB."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / _SCALE
