"""Do explanations follow the model? Runs that should agree, and runs that should not; and is anything copied?

    python -m benchmarks.sanity                                       # all explainers on planted; resumable
    python -m benchmarks.sanity --datasets imdb --explainers xgnn     # some of it
    python -m benchmarks.sanity --table                               # the tables of docs/sanity.md

Every finished run is a line of the results file and is not made again; run folders are in ``runs/sanity``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.sanity_models import OTHER_SEED, REFERENCE, RUNS, subject_of
from benchmarks.sanity_tables import PAGE, write_tables
from benchmarks.tables import read_runs, run_apart
from dignn.cli.compared_runs import rounded
from dignn.cli.options import settings_of
from dignn.core.code_version import commit
from dignn.core.machine import machine
from dignn.core.progress import Progress
from dignn.core.seeds import Seed
from dignn.explainers.base import CANDIDATES, Explainer
from dignn.explainers.registry import EXPLAINERS
from dignn.explanations.explanation import Explanation, Explanations
from dignn.explanations.explanation_files import EXPLANATIONS
from dignn.explanations.likeness import likeness_across_classes, likeness_by_class, mean_likeness
from dignn.graphs.batch import GraphBatch
from dignn.graphs.validity import check_validity
from dignn.metrics.measures.predictive import predictive_faithfulness
from dignn.metrics.membership import membership
from dignn.zoo.datasets.registry import DATASETS

RESULTS, RUN_FOLDERS = Path("docs/benchmarks/sanity.jsonl"), Path("runs/sanity")
TOP_K = 10
KEY = ("dataset", "explainer", "run", "preset")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=["planted"], choices=list(DATASETS), metavar="NAME")
    parser.add_argument("--explainers", nargs="+", default=list(EXPLAINERS), choices=list(EXPLAINERS), metavar="NAME")
    parser.add_argument("--runs", nargs="+", default=list(RUNS), choices=RUNS)
    parser.add_argument("--preset", default="fast")
    parser.add_argument("--out", type=Path, default=RESULTS, help="results file, one JSON object per line")
    parser.add_argument("--folder", type=Path, default=RUN_FOLDERS, help="where run folders go")
    parser.add_argument("--table", action="store_true", help=f"write the tables into {PAGE}, and stop")
    parser.add_argument("--one", action="store_true", help="one run in this process, its result to standard output")
    options = parser.parse_args()
    if options.table:
        write_tables(read_runs(options.out))
    elif options.one:
        one = (options.datasets[0], options.explainers[0], options.runs[0], options.preset)
        print(json.dumps(run_line(*one, options.folder)))
    else:
        asked = [(name, explainer) for name in options.datasets for explainer in options.explainers]
        failed = [key for key in missing(asked, options) if not _in_process(key, options)]
        if failed:
            raise SystemExit(f"{len(failed)} runs failed; their errors are above, the same command tries them again")


def missing(asked: Sequence[tuple[str, str]], options: argparse.Namespace) -> list[tuple[str, str, str, str]]:
    """Runs of these data sets and explainers that no line tells of."""
    done = {tuple(run[name] for name in KEY) for run in read_runs(options.out)}
    every = [(*pair, run, options.preset) for pair in asked for run in RUNS if run in options.runs]
    return [key for key in every if key not in done]


def _in_process(key: tuple[str, str, str, str], options: argparse.Namespace) -> bool:
    """One run in a fresh process; whether it succeeded."""
    dataset, explainer, run, preset = key
    given = ["--one", "--datasets", dataset, "--explainers", explainer, "--runs", run, "--preset", preset]
    found = run_apart("benchmarks.sanity", [*given, "--folder", str(options.folder)], options.out)
    if found is not None:
        print(f"{dataset}, {explainer}, {run}: {found['seconds']:.0f} s, {found['stays']}", flush=True)
    return found is not None


# -- a run --------------------------------------------------------------------------------------------


def run_line(dataset: str, name: str, run: str, preset: str, folder: Path) -> dict[str, Any]:
    """Makes a run, and says what of the reference stays in its explanations.

    ``stays`` is of explanations of the same class, mean over classes, ``across_classes`` of different ones. The line of
    the reference also says how near it is to its data.
    """
    begin = time.perf_counter()
    explainer, explanations = explained(dataset, name, run, preset, folder)
    seconds = time.perf_counter() - begin
    reference = explanations if run == REFERENCE else _reference(dataset, name, preset, folder)
    by_class = likeness_by_class(reference, explanations)
    return rounded(
        {
            **dict(zip(KEY, (dataset, name, run, preset), strict=True)),
            "pf": _pf(explainer),
            "agreement": explanations.about["agreement"]["share"],
            "classes": len(explanations),
            "explained": sum(bool(several) for several in explanations.values()),
            "stays": asdict(mean_likeness(list(by_class.values()))),
            "across_classes": asdict(likeness_across_classes(reference, explanations)),
            "by_class": {label: asdict(shares) for label, shares in by_class.items()},
            "membership": near_the_data(explainer, explanations) if run == REFERENCE else None,
            "seconds": seconds,
            "commit": commit(),
            "machine": machine(),
        }
    )


def explained(dataset: str, name: str, run: str, preset: str, folder: Path) -> tuple[Explainer, Explanations]:
    """The explainer of a run, and its ten best explanations of every class; nothing is measured."""
    explainer = subject_of(run, dataset).explainer(
        name,
        settings_of(name, preset),
        1 if run == OTHER_SEED else 0,
        _folder(folder, dataset, name, run, preset),
        preset,
        Progress(),
    )
    return explainer, explainer.fit().explain(top_k=TOP_K, measure=False)


def _reference(dataset: str, name: str, preset: str, folder: Path) -> Explanations:
    """What the others are compared with, from its run folder, or made again where that is gone."""
    there = _folder(folder, dataset, name, REFERENCE, preset)
    if (there / EXPLANATIONS).exists():
        return Explanations.load(there)
    return explained(dataset, name, REFERENCE, preset, folder)[1]


def _folder(folder: Path, dataset: str, name: str, run: str, preset: str) -> Path:
    return folder / f"{dataset}-{preset}" / f"{name}-{run}"


def _pf(explainer: Explainer) -> float | None:
    """PF of all valid candidates."""
    candidates = GraphBatch.load(Path(str(explainer.run.folder)) / CANDIDATES)
    valid = candidates[check_validity(candidates).valid]
    return predictive_faithfulness(explainer.adapter.score(valid)) if len(valid) else None


def near_the_data(explainer: Explainer, explanations: Explanations) -> dict[str, Any]:
    """How near explanations are to the real graphs of the run: copies, and the nearest embedding.

    ``farther`` is the mean share of real members that are at least as far from their own nearest as an explanation is
    from its nearest real example, ``nearest_of_all`` how many explanations are nearer than any.
    """
    shown: list[Explanation] = [each for several in explanations.values() for each in several]
    farther = [each.evidence.nearest.farther for each in shown if each.evidence is not None]
    known = [value for value in farther if value is not None]
    graphs = GraphBatch.cat([each.graph for each in shown])
    return {
        "explanations": len(shown),
        **asdict(membership(graphs, explainer.real, seed=Seed(0).child("sanity", "membership"))),
        "farther": mean(known) if known else None,
        "nearest_of_all": mean(value >= 1.0 for value in known) if known else None,
    }


if __name__ == "__main__":
    main()
