"""Whole runs of ``dignn explain``, each in a process of its own: quality, seconds and memory, by data set and seed.

    python -m benchmarks.explanations                         # all data sets, seeds 0, 1 and 2; resumable
    python -m benchmarks.explanations --datasets dblp --seeds 0
    python -m benchmarks.explanations --measure               # measure the finished runs again, without new candidates
    python -m benchmarks.explanations --untimed --seeds 1 2   # while other work slows the machine down
    python -m benchmarks.explanations --table                 # the tables of docs/explanations.md

Models are trained first, which is not counted. Run folders are kept in ``--runs``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from benchmarks.measure import memory_of_children, peak_memory
from benchmarks.tables import add_run_options, read_runs, run_apart
from dignn.core.machine import machine

DATASETS = ("dblp", "imdb", "mutag", "ba-shapes", "tree-cycle", "tree-grids", "ba-3motif", "planted")
# Data sets with fewer columns, as in the paper: the name here, and the options.
FEWER = {"dblp-50": ("dblp", "--columns", "author=50", "paper=50")}
RESULTS, PAGE = Path("docs/benchmarks/explanations.jsonl"), Path("docs/explanations.md")
DIGITS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=[*DATASETS, *FEWER])
    parser.add_argument("--runs", type=Path, default=Path("runs/explanations"), help="folder of the run folders")
    parser.add_argument("--measure", action="store_true", help="measure finished runs again")
    parser.add_argument("--untimed", action="store_true", help="go on with runs that are there; note no seconds")
    add_run_options(parser, RESULTS, PAGE)
    options = parser.parse_args()
    if options.one:
        result = run(options.datasets[0], options.seeds[0], options.runs, options.measure, options.untimed)
        sys.stdout.write(json.dumps(result) + "\n")
        return
    if options.table:
        from benchmarks.explanation_tables import write_tables

        write_tables(read_runs(options.out), PAGE)
        return
    known = {(found["dataset"], found["seed"]): found for found in read_runs(options.out)}
    for seed in options.seeds:
        for name in options.datasets:
            if (name, seed) in known and not (options.again or options.measure):
                continue
            one = ["--one", "--datasets", name, "--seeds", str(seed), "--runs", str(options.runs)]
            one += [f"--{option}" for option in ("measure", "untimed") if getattr(options, option)]
            found = run_apart("benchmarks.explanations", one, options.out)
            if found is not None and options.measure and (name, seed) in known:
                _replace(options.out, found, known[name, seed])
            print(name, seed, "failed" if found is None else found["timings"], flush=True)
    latest = {(found["dataset"], found["seed"]): found for found in read_runs(options.out)}
    options.out.write_text("".join(json.dumps(found) + "\n" for found in latest.values()), encoding="utf-8")


def _replace(out: Path, found: dict[str, Any], before: dict[str, Any]) -> None:
    """Writes the last line of the results again: what was measured is new, time and memory are those of the run."""
    *lines, _ = out.read_text(encoding="utf-8").splitlines()
    again = {**found, "timings": before["timings"], "memory": before["memory"]}
    out.write_text("\n".join([*lines, json.dumps(again)]) + "\n", encoding="utf-8")


def run(name: str, seed: int, runs: Path, measure: bool, untimed: bool) -> dict[str, Any]:
    """One run (or the metrics of a finished one), and what it gave."""
    from dignn.cli.main import main as dignn
    from dignn.cli.run_parts import best_of, mean_nodes
    from dignn.core.files import read_json
    from dignn.core.run_folder import made_at
    from dignn.explanations.explanation import Explanations

    dataset, *columns = FEWER.get(name, (name,))
    folder = runs / f"{name}-{seed}"
    if measure:
        arguments = ["evaluate", str(folder), "--quiet"]
    else:
        if not untimed:
            shutil.rmtree(folder, ignore_errors=True)
        _quietly(dignn, ["train", dataset, "--seed", str(seed), "--quiet", *columns])
        arguments = ["explain", dataset, "--seed", str(seed), "--out", str(folder), "--quiet", *columns]
    if _quietly(dignn, arguments):
        sys.exit(1)
    explanations = read_json(folder / "explanations.json")
    return {
        "dataset": name,
        "seed": seed,
        "timings": None if untimed else read_json(folder / "timings.json"),
        "memory": None if untimed else max(peak_memory(), memory_of_children()),
        "validity": explanations["validity"],
        "mean_nodes": mean_nodes(folder),
        "best": _rounded(best_of(Explanations.load(folder))),
        "metrics": _rounded(read_json(folder / "metrics.json")),
        "texts": {of: several[0]["evidence"]["text"] for of, several in explanations["classes"].items() if several},
        "commit": made_at(folder),
        "machine": machine(),
    }


def _quietly(command: Any, arguments: list[str]) -> int:
    """Runs a command with its output on standard error: standard output is for the result."""
    from dignn.cli import console

    console.out.file = sys.stderr
    code: int = command(arguments)
    return code


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, DIGITS) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
