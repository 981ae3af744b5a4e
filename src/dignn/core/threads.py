"""Threads: one torch thread by default, and a few of our own where pieces of work are large.

With one torch thread sums run in a fixed order, which gives the same bits on every machine of a kind, and small
tensors run faster. Pieces that are cut independently of the number of threads may run side by side.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def single_thread() -> Iterator[None]:
    """Inside, torch computes on one thread; the caller's setting comes back afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_threads(function: Callable[[Item], Result], items: Sequence[Item], workers: int | None = None) -> list[Result]:
    """``function`` of every item, in order, on up to ``workers`` threads (by default one per core).

    For work that spends its time in large tensor operations, which let other threads run. Whether gradients are
    recorded is decided by the calling thread; each thread uses one torch thread.
    """
    workers = min(len(items), cores() if workers is None else workers)
    if workers <= 1:
        return [function(item) for item in items]
    gradients = torch.is_grad_enabled()

    def one(item: Item) -> Result:
        with torch.set_grad_enabled(gradients):
            return function(item)

    with single_thread(), ThreadPoolExecutor(workers, initializer=lambda: torch.set_num_threads(1)) as pool:
        return list(pool.map(one, items))
