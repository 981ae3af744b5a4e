"""Processes: independent pieces of work side by side, by joblib, each with one torch thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from joblib import Parallel, delayed

from dignn.runtime.threads import cores

Result = TypeVar("Result")


def map_processes(
    function: Callable[..., Result],
    arguments: Sequence[tuple[Any, ...]],
    *,
    workers: int | None = None,
    done: Callable[[int], None] = lambda number: None,
) -> list[Result]:
    """``function(*arguments[i])`` for every i, in order.

    Args:
        function: a function of a module; what it takes and gives is sent from process to process.
        arguments: of each call; the longest piece of work should come first.
        workers: processes; by default one per core. With one, everything runs here.
        done: called with the number of a piece that is finished.
    """
    workers = min(len(arguments), cores() if workers is None else workers)
    results: dict[int, Result] = {}
    if workers <= 1:
        for number, several in enumerate(arguments):
            results[number] = function(*several)
            done(number)
    else:
        jobs = (delayed(_numbered)(number, function, several) for number, several in enumerate(arguments))
        for number, result in Parallel(n_jobs=workers, return_as="generator_unordered")(jobs):
            results[number] = result
            done(number)
    return [results[number] for number in range(len(arguments))]


def _numbered(number: int, function: Callable[..., Result], arguments: tuple[Any, ...]) -> tuple[int, Result]:
    return number, function(*arguments)
