"""Finished runs that files of lines tell of, whichever command wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dignn.cli.checked_run import checked
from dignn.cli.finished_lines import read_lines
from dignn.cli.options import EXPLAINER
from dignn.cli.planned_runs import COMMON_ROW, GCN_ROW, HOMOGENEOUS_ROW
from dignn.cli.run_parts import parts_of_metrics
from dignn.core.errors import DignnError
from dignn.core.presets import DEFAULT_PRESET
from dignn.core.run_folder import seconds_until_shown
from dignn.reproduce.paper_setups import converted_form
from dignn.reproduce.runs import Run
from dignn.reproduce.setups import Setup
from dignn.zoo.datasets.registry import DATASETS

Recorded = Mapping[str, Any]
# The set of `dignn explain` runs with fewer columns, as benchmarks name it.
_FEWER = ("author=50", "paper=50")


def recorded_runs(paths: Sequence[Path]) -> list[Run]:
    """The runs of several files, in their order.

    Args:
        paths: of `dignn reproduce`, of `dignn compare`, or of the benchmarks of explanations, scorecards and features.

    Raises:
        DignnError: a file is not there, is damaged, or is of another kind.
    """
    found = []
    for path in paths:
        if not path.is_file():
            raise DignnError(f"{path} is not there; give files with a line for every finished run by --recorded")
        for number, line in enumerate(read_lines(path), start=1):
            try:
                found += [checked(run) for run in runs_of(line)]
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise DignnError(
                    f"{path}, line {number}, is no run that tables are made of ({type(error).__name__}: {error}); "
                    "give files of `dignn reproduce`, `dignn compare` or the benchmarks"
                ) from error
    return found


def runs_of(line: Recorded) -> Iterator[Run]:
    """The runs that a line tells of: none where it is of nothing that tables read.

    Raises:
        KeyError: it lacks what its kind has.
        ValueError: it is of no known kind.
    """
    if "setup" in line:
        yield Run(Setup.from_json(line["setup"]), line["preset"], line["seed"], line, *_made(line))
    elif "names" in line:
        yield from _compared(line)
    elif "validity" in line and "metrics" in line:
        yield _explained(line)
    elif "frontier" in line.get("generated", {}):
        values = {"generated": line["generated"], "real": line["floor"]}
        yield _of_benchmark(line, "scorecards", values)
    elif "methods" in line:
        yield _of_benchmark(line, "features-alone", {"methods": line["methods"], "accuracy": line["accuracy"]})
    else:
        raise ValueError("it is of another kind")


def _compared(line: Recorded) -> Iterator[Run]:
    """A run of a comparison on a data set, without the limit on what a method may score."""
    first = line["names"][0]
    if line["dataset"] not in DATASETS or first.endswith(f"-{COMMON_ROW}"):
        return
    # Lines of earlier code do not say whether the data was converted, but rows do.
    gcn = line.get("converted", first == GCN_ROW or first.endswith(f"-{HOMOGENEOUS_ROW}"))
    explainer = EXPLAINER if first == GCN_ROW else first.removesuffix(f"-{HOMOGENEOUS_ROW}")
    chosen = line.get("columns") or {"chosen": {}, "by": "variance", "words_only": False}
    if chosen["words_only"]:
        return
    columns = tuple(f"{name}={number}" for name, number in chosen["chosen"].items())
    form = converted_form(line["dataset"]) if gcn else line["form"]
    setup = Setup(line["dataset"], explainer, form, columns, chosen["by"])
    yield Run(setup, line["preset"], line["seed"], line, *_made(line))


def _explained(line: Recorded) -> Run:
    """A run of the benchmark of explanations."""
    dataset = line["dataset"].removesuffix("-50")
    setup = Setup(dataset, columns=_FEWER if line["dataset"] != dataset else ())
    timings = line["timings"]
    cost = {} if timings is None else {"timings": timings, "seconds": seconds_until_shown(timings)}
    told = {name: line[name] for name in ("mean_nodes", "best") if name in line}
    values = {**parts_of_metrics(line["metrics"], EXPLAINER), "validity": line["validity"], **told, **cost}
    return Run(setup, DEFAULT_PRESET, line["seed"], values, *_made(line))


def _of_benchmark(line: Recorded, what: str, values: dict[str, Any]) -> Run:
    """A run of another benchmark, under a name that no explainer has."""
    dataset, fewer, _ = line["dataset"].partition(", 50 columns")
    setup = Setup(dataset, what, columns=_FEWER if fewer else ())
    return Run(setup, DEFAULT_PRESET, line["seed"], values, *_made(line))


def _made(line: Recorded) -> tuple[str | None, Mapping[str, Any] | None]:
    """By which code, and on which machine."""
    return line.get("commit"), line.get("machine")
