"""The runs of a comparison: which there are, each in a process and a run folder of its own, and a line for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dignn.cli.finished_lines import append_line, read_lines
from dignn.cli.finished_run import COMPARISON_LINES
from dignn.cli.made_run import made_run
from dignn.cli.planned_runs import COMMON_ROW, Compared, PlannedRun
from dignn.cli.rebuild import as_noted, noted
from dignn.cli.side_by_side import side_by_side
from dignn.cli.subject import Subject
from dignn.core.errors import DignnError
from dignn.core.progress import Progress
from dignn.core.run_folder import unlike

LINES = COMPARISON_LINES
# What lines of one folder must agree in, and what every line has.
SHARED = ("dataset", "preset", "budget", "form", "columns")
NEEDED = ("run", "names", "seed", "seconds", "gib", "scored", "paper", "sound", "candidates")
_DIGITS = 6  # of figures that are recorded


def run_all(
    compared: Compared,
    runs: Sequence[PlannedRun],
    *,
    jobs: int | None,
    progress: Progress,
    finished: Callable[[dict[str, Any]], None],
) -> dict[str, str]:
    """Makes runs side by side.

    Args:
        compared: what they are of.
        runs: those to be made.
        jobs: how many at a time; None for one per core.
        progress: shows how many are done.
        finished: called with the line of each run as soon as that is done.

    Returns:
        Why runs failed, by their titles.
    """
    arguments = {run.title: (compared, run) for run in runs}
    return side_by_side("Comparing", run_line, arguments, jobs=jobs, progress=progress, finished=finished)


def run_line(compared: Compared, run: PlannedRun) -> dict[str, Any]:
    """Makes a run, or goes on with it, and says what came of it.

    Raises:
        DignnError: it scored more graphs than the common budget allows.
    """
    folder = compared.folder / run.title

    def subject() -> Subject:
        found = compared.subject(run.seed, Progress(), run.converted)
        return found if compared.own is None else as_noted(found, folder)

    made = made_run(subject, run.explainer, run.settings, run.seed, folder, compared.preset)
    if f"{run.explainer}-{COMMON_ROW}" in run.names and made.scored > compared.budget:
        raise DignnError(
            f"it scored {made.scored:,} graphs, more than the budget of {compared.budget:,}; {run.explainer} "
            "must say in Explainer.within how it asks less"
        )
    return {
        **compared.about(),
        "run": run.title,
        "names": list(run.names),
        "converted": run.converted,
        "seed": run.seed,
        "valid": made.validity["valid"],
        **made.told(),
        **{name: made.metrics[name] for name in ("paper", "sound", "candidates")},
    }


# -- lines --------------------------------------------------------------------------------------------


def refuse_others(compared: Compared, lines: Sequence[Mapping[str, Any]]) -> None:
    """Raises where a folder has runs of something else."""
    here = compared.about()
    for line in lines:
        for name in SHARED:
            difference = unlike(name, line.get(name), here.get(name))
            if difference is not None:
                raise DignnError(f"{compared.folder} compares runs {difference}; choose another folder or delete it")


def refuse_other_subject(compared: Compared, lines: Sequence[Mapping[str, Any]], progress: Progress) -> Subject:
    """Data and model of a comparison, which are those of its finished runs.

    Raises:
        DignnError: a run folder is of other data, or of another model.
    """
    native = [line["run"] for line in lines if not line.get("converted")]
    folders = [compared.folder / run for run in native if (compared.folder / run).is_dir()]
    if not folders:
        return compared.subject(0, progress)
    content, settings = noted(folders[0])
    subject = as_noted(compared.subject(content["seed"], progress), folders[0])
    given = content["explainer"], settings, content["seed"], folders[0], content["preset"], Progress()
    subject.explainer(*given).check()
    return subject


def record_lines(path: Path, lines: Sequence[Mapping[str, Any]], new: Sequence[str]) -> None:
    """Adds runs to a file of many comparisons: those that are ``new``, by title, and others that it lacks."""
    there = [[line.get(name) for name in ("run", *SHARED)] for line in read_lines(path, NEEDED)]
    for line in lines:
        if line["run"] in new or [line.get(name) for name in ("run", *SHARED)] not in there:
            append_line(path, rounded(line))


def rounded(value: Any) -> Any:
    """A line with few digits."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    return round(value, _DIGITS) if isinstance(value, float) else value
