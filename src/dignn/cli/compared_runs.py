"""The runs of a comparison: which there are, each in a process and a run folder of its own, and a line for each."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dignn.cli.finished_lines import append_line, read_lines
from dignn.cli.options import Known, Own, settings_of
from dignn.cli.rebuild import as_noted, noted
from dignn.cli.subject import Subject, of_dataset, of_file
from dignn.core.errors import DignnError
from dignn.core.files import read_json
from dignn.core.machine import machine, watched_memory
from dignn.core.processes import map_processes
from dignn.core.progress import Progress
from dignn.core.run_folder import TIMINGS, WALL, unlike
from dignn.explainers.registry import EXPLAINERS
from dignn.explainers.settings import RunSettings

LINES, _COMMON = "comparison.jsonl", "common"
# What lines of one folder must agree in, and what every line has.
SHARED = ("dataset", "preset", "budget", "form", "columns")
NEEDED = ("run", "names", "seed", "seconds", "gib", "scored", "paper", "sound", "candidates")
_DIGITS = 6  # of figures that are recorded


@dataclass(frozen=True)
class Compared:
    """What is compared on: data and model, and the settings that all explainers start from.

    Args:
        name: data set, or data file.
        known: options of a data set.
        own: options of a data file; None for a data set.
        preset: of every explainer.
        budget: graphs that a method may score in its row at the common budget; 0 for no such rows.
        folder: where the runs go.
    """

    name: str
    known: Known
    own: Own | None
    preset: str
    budget: int
    folder: Path

    def subject(self, seed: int, progress: Progress) -> Subject:
        """Data and model; the model of a data set is trained with this seed."""
        if self.own is None:
            return of_dataset(self.name, seed, self.known, progress)
        return of_file(Path(self.name), self.own, progress)

    def about(self) -> dict[str, Any]:
        """What every line says of it."""
        name = self.name if self.own is None else Path(self.name).name
        return {
            "dataset": name,
            "preset": self.preset,
            "budget": self.budget,
            **({} if self.own is not None else self.known.about()),
        }


@dataclass(frozen=True)
class PlannedRun:
    """A run of a comparison.

    Args:
        explainer: the method.
        seed: of the method, and of the model that dignn trains.
        settings: of the method.
        names: rows of the comparison that it counts for; the first, with the seed, names its folder.
    """

    explainer: str
    seed: int
    settings: RunSettings
    names: tuple[str, ...]

    @property
    def title(self) -> str:
        """The name of its folder."""
        return f"{self.names[0]}-{self.seed}"


def planned(compared: Compared, explainers: Sequence[str], seeds: Sequence[int], classes: int) -> list[PlannedRun]:
    """All runs: every explainer as it is with every seed, and at the common budget with the first.

    Where a method keeps to the budget by itself, its first run counts for both rows.

    Raises:
        DignnError: the budget is too small for a method with so many classes.
    """
    found = []
    for seed in seeds:
        for name in explainers:
            settings, common = settings_of(name, compared.preset), f"{name}-{_COMMON}"
            within = _within(compared, name, settings, classes) if compared.budget and seed == seeds[0] else None
            found.append(PlannedRun(name, seed, settings, (name, common) if within == settings else (name,)))
            if within is not None and within != settings:
                found.append(PlannedRun(name, seed, within, (common,)))
    return found


def _within(compared: Compared, name: str, settings: RunSettings, classes: int) -> RunSettings:
    try:
        return EXPLAINERS[name].within(settings, compared.budget, classes)
    except DignnError as error:
        raise DignnError(
            f"A budget of {compared.budget:,} graphs is too small for {name} with {classes} classes; give a larger "
            "--budget, or 0 for no rows at it"
        ) from error


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
    failed: dict[str, str] = {}
    done = 0
    with progress.stage("Comparing") as tick:

        def found(number: int, result: dict[str, Any] | str) -> None:
            nonlocal done
            done += 1
            tick(done, len(runs))
            if isinstance(result, str):
                failed[runs[number].title] = result
            else:
                finished(result)

        map_processes(_attempted, [(compared, run) for run in runs], workers=jobs, found=found)
    return failed


def _attempted(compared: Compared, run: PlannedRun) -> dict[str, Any] | str:
    """The line of a run, or why there is none: whatever goes wrong in a method stops no other."""
    try:
        with redirect_stdout(sys.stderr):  # a user's model may print
            return run_line(compared, run)
    except DignnError as error:
        return str(error)
    except Exception as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        return f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"


def run_line(compared: Compared, run: PlannedRun) -> dict[str, Any]:
    """Makes a run, or goes on with it, and says what came of it.

    Raises:
        DignnError: it scored more graphs than the common budget allows.
    """
    folder = compared.folder / run.title
    progress = Progress()
    with watched_memory() as memory:
        subject = compared.subject(run.seed, progress)
        if compared.own is not None:
            subject = as_noted(subject, folder)
        explainer = subject.explainer(run.explainer, run.settings, run.seed, folder, compared.preset, progress)
        validity = explainer.fit().explain().about["validity"]
    scored = read_json(folder / "generation.json", "scored")["scored"] + validity["valid"]
    if f"{run.explainer}-{_COMMON}" in run.names and scored > compared.budget:
        raise DignnError(
            f"it scored {scored:,} graphs, more than the budget of {compared.budget:,}; {run.explainer} "
            "must say in Explainer.within how it asks less"
        )
    metrics, timings = read_json(folder / "metrics.json", "paper", "sound", "candidates"), read_json(folder / TIMINGS)
    return {
        **compared.about(),
        "run": run.title,
        "names": list(run.names),
        "seed": run.seed,
        "seconds": round(timings[WALL] - timings["EVAL"], 4),
        "gib": memory.gib,
        "scored": scored,
        "valid": validity["valid"],
        **{name: metrics[name] for name in ("paper", "sound", "candidates")},
        "machine": machine(),
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
    folders = [compared.folder / line["run"] for line in lines if (compared.folder / line["run"]).is_dir()]
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


def unfinished(runs: Sequence[PlannedRun], lines: Sequence[Mapping[str, Any]]) -> Iterator[PlannedRun]:
    """Runs that no line tells of."""
    there = {line.get("run") for line in lines}
    return (run for run in runs if run.title not in there)
