"""Explainers judged by models whose rule is known, by ``dignn benchmark known``.

python -m benchmarks.known                                # all known models, all explainers; resumable
python -m benchmarks.known --explainers xgnn graphvae     # some of it
python -m benchmarks.known --table                        # the tables of docs/known-models.md
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.tables import append_run, markdown, measured_on, read_runs, write_between
from dignn.core.code_version import commit
from dignn.core.machine import machine
from dignn.explainers.registry import EXPLAINERS
from dignn.zoo.known.registry import KNOWN_MODELS

RESULTS, PAGE = Path("docs/benchmarks/known.jsonl"), Path("docs/known-models.md")
BEGIN, END = "<!-- known: written by python -m benchmarks.known --table -->", "<!-- end of known -->"
FIGURES = ("satisfied", "patterns_found", "patterns_alone", "evidence_precision", "decoys")
TERMS = ("term_precision", "term_recall", "decoys_named")
SETTINGS = ("model", "explainer", "seed", "preset")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--explainers", nargs="+", default=sorted(EXPLAINERS), choices=sorted(EXPLAINERS))
    parser.add_argument("--models", nargs="+", default=list(KNOWN_MODELS), choices=list(KNOWN_MODELS))
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--table", action="store_true", help=f"write the tables into {PAGE}, and stop")
    options = parser.parse_args()
    if options.table:
        write_between(PAGE, BEGIN, END, tables(read_runs(RESULTS)))
        return
    asked = [(model, explainer) for model in options.models for explainer in options.explainers]
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(_judged, *zip(*asked, strict=True)))


def _judged(model: str, explainer: str) -> None:
    """Adds what a method makes of a known model to the results, unless that is there; what fails stops no other."""
    there = [[run[name] for name in SETTINGS] for run in read_runs(RESULTS)]
    if [model, explainer, 0, "fast"] in there:
        return
    folder = Path("runs") / "known" / f"{explainer}-{model}"
    given = ["known", "--models", model, "--explainers", explainer, "--out", str(folder), "--quiet"]
    subprocess.run([sys.executable, "-m", "dignn", "benchmark", *given], stdout=subprocess.DEVNULL)
    for run in read_runs(folder / "known.jsonl"):
        append_run(RESULTS, {**run, "commit": commit(), "machine": machine()})


def tables(runs: list[dict[str, Any]]) -> list[str]:
    """Means over models, by explainer; which models are not solved by whom; terms; and where it was measured."""
    if not runs:
        return ["No runs yet."]
    several: dict[str, list[dict[str, Any]]] = {}
    for run in sorted(runs, key=lambda run: str(run["explainer"])):
        several.setdefault(f"`{run['explainer']}`", []).append(run)
    means = [[name, *(_mean(own, figure) for figure in FIGURES), _count(own)] for name, own in several.items()]
    missed = [[name, _missed(own, "holds"), _missed(own, "patterns_found")] for name, own in several.items()]
    return [
        markdown(["explainer", *(f"`{figure}`" for figure in FIGURES), "models"], means),
        markdown(["explainer", "no explanation obeys the rule of", "some pattern is missing of"], missed),
        *_terms(runs),
        measured_on(runs),
    ]


def _terms(runs: list[dict[str, Any]]) -> list[str]:
    """What models are said to go by: those of which that is wrong or incomplete first, then means by explainer."""
    told = [run for run in runs if run.get("term_recall") is not None]
    if not told:
        return []
    told.sort(key=lambda run: (run["term_precision"] + run["term_recall"], str(run["model"]), str(run["explainer"])))
    rows = [
        [
            *(f"`{run[name]}`" for name in ("model", "explainer")),
            *(f"{run[figure]:.2f}" for figure in TERMS),
            str(run["terms"]),
            "; ".join(dict.fromkeys(run["wrong"])) or "none",
            "; ".join(run["unnamed"]) or "none",
        ]
        for run in told
    ]
    several = sorted({str(run["explainer"]) for run in told})
    own = {name: [run for run in told if run["explainer"] == name] for name in several}
    means = [["all", f"`{name}`", *(_mean(own[name], figure) for figure in TERMS), "", "", ""] for name in several]
    head = ["known model", "explainer", *(f"`{figure}`" for figure in TERMS), "terms", "not of the rule", "not named"]
    return [markdown(head, [*rows, *means])]


def _mean(runs: list[dict[str, Any]], figure: str) -> str:
    values = [run[figure] for run in runs if run[figure] is not None]
    return f"{mean(values):.2f}" if values else "-"


def _count(runs: list[dict[str, Any]]) -> str:
    return str(len({run["model"] for run in runs}))


def _missed(runs: list[dict[str, Any]], figure: str) -> str:
    """Models of which nothing obeys the rule (0), or not every pattern is found."""
    least = 0 if figure == "holds" else 1 - 1e-9
    found = sorted({f"`{run['model']}`" for run in runs if run[figure] <= least})
    return ", ".join(found) or "none"


if __name__ == "__main__":
    main()
