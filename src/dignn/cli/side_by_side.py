"""Runs side by side, each in a process of its own: what goes wrong in one stops no other."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from dignn.core.errors import DignnError
from dignn.core.processes import map_processes
from dignn.core.progress import Progress

Line = dict[str, Any]


def side_by_side(
    stage: str,
    make: Callable[..., Line],
    runs: Mapping[str, tuple[Any, ...]],
    *,
    jobs: int | None,
    progress: Progress,
    finished: Callable[[Line], None],
) -> dict[str, str]:
    """Makes runs.

    Args:
        stage: what is done, for people.
        make: makes a run and gives its line; a function of a module.
        runs: by their titles what ``make`` is called with.
        jobs: how many at a time; None for one per core.
        progress: shows how many are done.
        finished: called with the line of each run as soon as that is done.

    Returns:
        Why runs failed, by their titles.
    """
    failed: dict[str, str] = {}
    titles = list(runs)
    done = 0
    with progress.stage(stage) as tick:

        def found(number: int, result: Line | str) -> None:
            nonlocal done
            done += 1
            tick(done, len(titles))
            if isinstance(result, str):
                failed[titles[number]] = result
            else:
                finished(result)

        map_processes(_attempted, [(make, several) for several in runs.values()], workers=jobs, found=found)
    return failed


def _attempted(make: Callable[..., Line], arguments: tuple[Any, ...]) -> Line | str:
    """The line of a run, or why there is none."""
    try:
        with redirect_stdout(sys.stderr):  # a user's model may print
            return make(*arguments)
    except DignnError as error:
        return str(error)
    except Exception as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        return f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"
