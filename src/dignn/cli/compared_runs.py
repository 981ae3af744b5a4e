"""The runs of a comparison: which there are, each in a process and a run folder of its own, and a line for each."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dignn.cli.options import Known, Own, settings_of
from dignn.cli.rebuild import as_noted
from dignn.cli.subject import Subject, of_dataset, of_file
from dignn.core.errors import DignnError
from dignn.core.files import read_json, write_text
from dignn.core.machine import machine, watched_memory
from dignn.core.processes import map_processes
from dignn.core.progress import Progress
from dignn.core.run_folder import TIMINGS, WALL, unlike
from dignn.explainers.registry import EXPLAINERS
from dignn.explainers.settings import RunSettings

LINES, _COMMON = "comparison.jsonl", "common"
# What lines of one folder must agree in.
# No data has fewer; a method that keeps to the budget with these does so whatever the data.
LEAST_CLASSES = 2
SHARED = ("dataset", "preset", "budget", "form", "columns")
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
        budget: graphs that it may score; 0 for as many as it likes.
        names: rows of the comparison that it counts for; the first, with the seed, names its folder.
    """

    explainer: str
    seed: int
    settings: RunSettings
    budget: int
    names: tuple[str, ...]

    @property
    def title(self) -> str:
        """The name of its folder."""
        return f"{self.names[0]}-{self.seed}"


def planned(compared: Compared, explainers: Sequence[str], seeds: Sequence[int]) -> list[PlannedRun]:
    """All runs: every explainer as it is with every seed, and at the common budget with the first.

    Where a method keeps to the budget by itself, its run counts for both rows.
    """
    found = []
    for seed in seeds:
        for name in explainers:
            settings = settings_of(name, compared.preset)
            within = EXPLAINERS[name].within(settings, compared.budget, LEAST_CLASSES) if compared.budget else None
            common = f"{name}-{_COMMON}"
            found.append(PlannedRun(name, seed, settings, 0, (name, common) if within == settings else (name,)))
            if within is not None and within != settings and seed == seeds[0]:
                found.append(PlannedRun(name, seed, settings, compared.budget, (common,)))
    return found


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
        settings = run.settings
        if run.budget:
            settings = EXPLAINERS[run.explainer].within(settings, run.budget, subject.schema.num_classes)
        explainer = subject.explainer(run.explainer, settings, run.seed, folder, compared.preset, progress)
        validity = explainer.fit().explain().about["validity"]
    scored = read_json(folder / "generation.json", "scored")["scored"] + validity["valid"]
    common = f"{run.explainer}-{_COMMON}" in run.names
    if common and scored > compared.budget:
        if len(run.names) == 1:
            raise DignnError(
                f"it scored {scored:,} graphs, more than the budget of {compared.budget:,}; {run.explainer} "
                "must say in Explainer.within how it asks less"
            )
        run = replace(run, names=run.names[:1])
    metrics, timings = read_json(folder / "metrics.json", "paper", "sound", "candidates"), read_json(folder / TIMINGS)
    return {
        **compared.about(),
        "run": run.title,
        "names": list(run.names),
        "seed": run.seed,
        "seconds": round(timings[WALL] - timings["EVAL"], 4),
        "gib": memory.gib,
        "scored": scored,
        **{name: metrics[name] for name in ("paper", "sound", "candidates")},
        "machine": machine(),
    }


# -- lines --------------------------------------------------------------------------------------------


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The finished runs that a file tells of; a line that was cut off while it was written does not count.

    Raises:
        DignnError: the file holds something else.
    """
    if not path.is_file():
        return []
    found = []
    *whole, _ = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(whole, start=1):
        try:
            found.append({"names": [], **json.loads(line)})
        except (ValueError, TypeError) as error:
            raise DignnError(f"{path} is damaged (line {number}: {error}); delete that line and run again") from error
    return found


def append_line(path: Path, line: Mapping[str, Any]) -> None:
    """Adds a finished run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if not text.endswith("\n") and text:  # a line was cut off
        write_text(path, text[: text.rfind("\n") + 1])
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, allow_nan=False) + "\n")


def refuse_others(compared: Compared, lines: Sequence[Mapping[str, Any]]) -> None:
    """Raises where a folder has runs of something else."""
    here = compared.about()
    for line in lines:
        for name in SHARED:
            difference = unlike(name, line.get(name), here.get(name))
            if difference is not None:
                raise DignnError(f"{compared.folder} compares runs {difference}; choose another folder or delete it")


def record_lines(path: Path, lines: Sequence[Mapping[str, Any]], new: Sequence[str]) -> None:
    """Adds runs to a file of many comparisons: those that are ``new``, by title, and others that it lacks."""
    there = {(line.get("dataset"), line.get("run")) for line in read_lines(path)}
    for line in lines:
        if line["run"] in new or (line["dataset"], line["run"]) not in there:
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
