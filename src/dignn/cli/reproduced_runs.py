"""The runs behind the paper's tables: models trained once, then each run in a process and folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dignn import __version__
from dignn.cli.compared_runs import rounded
from dignn.cli.made_run import made_run
from dignn.cli.options import Known, settings_of
from dignn.cli.settings_options import changed_settings
from dignn.cli.side_by_side import side_by_side
from dignn.cli.subject import of_dataset, trained_on
from dignn.core.progress import Progress
from dignn.explainers.settings import RunSettings
from dignn.reproduce.planning import Wanted
from dignn.reproduce.setups import Setup

RUN_LINES = "runs.jsonl"
NEEDED_OF_RUN = ("setup", "preset", "seed", "seconds")


def run_wanted(
    runs: Sequence[Wanted],
    folder: Path,
    *,
    jobs: int | None,
    download: bool,
    progress: Progress,
    finished: Callable[[dict[str, Any]], None],
) -> dict[str, str]:
    """Makes runs side by side, after their models.

    Args:
        runs: those to be made.
        folder: where their folders go; one that was stopped goes on there.
        jobs: how many at a time; None for one per core.
        download: whether data sets may be fetched.
        progress: shows how many are done.
        finished: called with the line of each run as soon as that is done.

    Returns:
        Why runs failed, by their titles.
    """
    models = {f"{one.setup.dataset}-{known(one.setup)}-{one.seed}": (one.setup, one.seed, download) for one in runs}
    # Why a model cannot be trained is told by each of its runs.
    side_by_side("Training models", _trained, models, jobs=jobs, progress=progress, finished=lambda line: None)
    arguments = {one.title: (one, folder, download) for one in runs}
    return side_by_side("Reproducing", wanted_line, arguments, jobs=jobs, progress=progress, finished=finished)


def known(setup: Setup, download: bool = False) -> Known:
    """The options of a data set that a setup stands for."""
    return Known(setup.form, setup.columns, setup.by, download=download)


def settings_for(setup: Setup, preset: str) -> RunSettings:
    """The settings of a run: those of the preset, with the changes of its setup.

    Raises:
        DignnError: the explainer has no such preset, or no such setting.
    """
    changes = {tuple(name.split(".")): value for name, value in setup.changes}
    return changed_settings(settings_of(setup.explainer, preset), changes)


def _trained(setup: Setup, seed: int, download: bool) -> dict[str, Any]:
    trained_on(setup.dataset, seed, known(setup, download), Progress())
    return {}


def wanted_line(one: Wanted, folder: Path, download: bool) -> dict[str, Any]:
    """Makes a run, or goes on with it, and says what came of it."""
    setup = one.setup
    made = made_run(
        lambda: of_dataset(setup.dataset, one.seed, known(setup, download), Progress()),
        setup.explainer,
        settings_for(setup, one.preset),
        one.seed,
        folder / one.title,
        one.preset,
    )
    line = {
        "run": one.title,
        "setup": setup.as_json(),
        "preset": one.preset,
        "seed": one.seed,
        "version": __version__,
        **made.told(),
    }
    return rounded(line)
