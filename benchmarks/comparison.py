"""Explainers compared on the data sets, by ``dignn compare``.

python -m benchmarks.comparison                                    # all data sets, all explainers; resumable
python -m benchmarks.comparison --datasets planted imdb --seeds 1  # some of it
python -m benchmarks.comparison --table                            # the tables of docs/comparison.md
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.explanation_targets import TITLES
from benchmarks.tables import markdown, measured_on, read_runs, write_between
from dignn.cli.compare import BUDGET
from dignn.cli.compared_runs import LINES
from dignn.cli.finished_lines import append_line
from dignn.cli.planned_runs import GCN_ROW, HOMOGENEOUS_ROW
from dignn.metrics.over_seeds import SAME_RULE_FIGURES, ComparedFigure, by_row, mean_and_spread, shown_figures
from dignn.reproduce.paper_setups import CONVERTED, EXPLAINER_OF, GCN_ROW_OF_PAPER, OUR_ROW, PAPER_SETS
from dignn.reproduce.tables.table3 import PUBLISHED_FAITHFULNESS
from dignn.reproduce.tables.table5 import PUBLISHED_SECONDS

RESULTS, PAGE = Path("docs/benchmarks/comparison.jsonl"), Path("docs/comparison.md")
BEGIN, END = "<!-- comparison: written by python -m benchmarks.comparison --table -->", "<!-- end of comparison -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ("planted", *PAPER_SETS)
    parser.add_argument("--datasets", nargs="+", default=names, choices=names, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each explainer, with the seeds 0, 1, ...")
    parser.add_argument("--table", action="store_true", help=f"write the tables into {PAGE}, and stop")
    options = parser.parse_args()
    if options.table:
        write_between(PAGE, BEGIN, END, tables(read_runs(RESULTS)))
        return
    for name in options.datasets:
        folder = Path("runs") / f"compare-{name}"
        restore(folder / LINES, own_runs(name, read_runs(RESULTS)))
        given = [name, "--seeds", str(options.seeds), "--out", str(folder), "--record", str(RESULTS)]
        subprocess.run([sys.executable, "-m", "dignn", "compare", *given])  # what fails stops no other data set


def own_runs(dataset: str, runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Runs of a data set with the strong models, all columns and the preset ``fast``."""
    usual = [run for run in runs if run["preset"] == "fast" and run.get("form", "strong") == "strong"]
    return [run for run in usual if run["dataset"] == dataset and "columns" not in run]


def restore(lines: Path, recorded: list[dict[str, Any]]) -> None:
    """Adds recorded runs to the lines of a folder that lacks them, so that they are not made again.

    Those of comparisons with another common budget are not among them: a folder has one.
    """
    there = {run["run"] for run in read_runs(lines)}
    for run in recorded:
        if run["run"] not in there and run["budget"] == BUDGET:
            append_line(lines, run)


def tables(runs: list[dict[str, Any]]) -> list[str]:
    """For each data set a heading and a table, a row for each explainer and variant; then where it was measured.

    Runs with other models than the strong ones, other settings than those of the preset ``fast``, or with fewer
    columns, are not of these tables.
    """
    parts = []
    for dataset in TITLES:
        if own := own_runs(dataset, runs):
            rows = by_row(own)
            parts += [f"### {TITLES[dataset]}", _table(dataset, rows), *_under_one_rule(rows)]
    return [*parts, measured_on(runs)] if parts else ["No runs yet."]


def _table(dataset: str, rows: dict[str, list[Any]]) -> str:
    figures = shown_figures(rows)
    published = dataset in PAPER_SETS
    head = ["explainer", *(figure.title for figure in figures), "seeds", *(["paper: PF, GF, s"] if published else [])]
    cells = []
    for name, runs in rows.items():
        cells.append([f"`{name}`", *(_cell(runs, figure) for figure in figures), str(len(runs))])
        cells[-1] += [_paper(name, dataset)] if published else []
    return markdown(head, cells)


def _under_one_rule(rows: dict[str, list[Any]]) -> list[str]:
    """What the same rule chooses from the candidates of every method, where lines tell."""
    figures = shown_figures(rows, SAME_RULE_FIGURES)
    if not figures:
        return []
    having = {name: runs for name, runs in rows.items() if any(figure.of(run) for figure in figures for run in runs)}
    head = ["under one rule", *(figure.title for figure in figures), "seeds"]
    cells = [
        [f"`{name}`", *(_cell(runs, figure) for figure in figures), str(len(runs))] for name, runs in having.items()
    ]
    return [markdown(head, cells)]


def _cell(runs: list[Any], figure: ComparedFigure) -> str:
    value, spread = mean_and_spread(runs, figure)
    if value is None:
        return "-"
    shown = f"{value:,.{figure.digits}f}"
    return shown if spread is None else f"{shown} ± {spread:.{figure.digits}f}"


def _paper(name: str, dataset: str) -> str:
    """PF, GF and, where it has them, seconds of the paper's row that explains the same model."""
    place = PAPER_SETS.index(dataset)
    for row, (pf, gf) in PUBLISHED_FAITHFULNESS.items():
        if name == _row_like(row, dataset):
            seconds = [f"{PUBLISHED_SECONDS[row][place]:,}"] if row in PUBLISHED_SECONDS else []
            return ", ".join([f"{pf[place]}", f"{gf[place]}", *seconds])
    return "-"


def _row_like(row: str, dataset: str) -> str:
    """The row of ours that explains the same as a row of the paper: rivals a GCN, converted where that is needed."""
    if row == GCN_ROW_OF_PAPER:
        return GCN_ROW
    converted = row != OUR_ROW and dataset in CONVERTED
    return f"{EXPLAINER_OF[row]}-{HOMOGENEOUS_ROW}" if converted else EXPLAINER_OF[row]


if __name__ == "__main__":
    main()
