"""The table of docs/scale.md, made of the runs that benchmarks/scale.py kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.tables import markdown, measured_on, write_between

COMMAND = "python -m benchmarks.scale --table"
Run = dict[str, Any]
# To be reached: seconds before fit at the most edges, how much longer fit may take there than at the fewest, and memory
# beside the graph's own.
BEFORE, RATIO, BESIDE = 12.0, 1.25, 1.0
HEAD = (
    "edges",
    "nodes",
    "classes",
    "types",
    "before fit: s (CPU)",
    "fit: s (CPU)",
    "explain: s (CPU)",
    "GiB: graph",
    "GiB: loaded",
    "GiB: peak (process)",
    "GiB: peak (all)",
)


def write_page(runs: Sequence[Run], page: Path) -> None:
    """Writes the table into the page; of several runs of one kind the last counts."""
    content = tables(latest(runs)) if runs else ["No runs yet."]
    write_between(page, f"<!-- scale: written by {COMMAND} -->", "<!-- end of scale -->", content)


def latest(runs: Sequence[Run]) -> list[Run]:
    """The last run of each kind, those with few edges, classes and types first."""
    last = {(run["asked"], run["classes"], run["types"]): run for run in runs}
    return [last[key] for key in sorted(last, key=lambda key: (key[1], key[2], key[0]))]


def tables(runs: Sequence[Run]) -> list[str]:
    """A sentence about what was to be reached, the table, and what was measured on."""
    done = [run for run in runs if run["error"] is None]
    failed = [f"- {run['asked']:,} edges, {run['classes']:,} classes: {run['error']}" for run in runs if run["error"]]
    parts = [reached(done), markdown(HEAD, [_cells(run) for run in done]), measured_on(runs)]
    return [part for part in (*parts, "\n".join(failed)) if part]


def reached(runs: Sequence[Run]) -> str:
    """Whether the largest graph is as fast and as small as it should be, beside the smallest of its kind."""
    if not runs:
        return ""
    largest = max(runs, key=lambda run: run["edges"])
    alike = [run for run in runs if (run["classes"], run["types"]) == (largest["classes"], largest["types"])]
    smallest = min(alike, key=lambda run: run["edges"])
    ratio = largest["cpu_fit"] / smallest["cpu_fit"]
    beside = largest["gib_self"] - largest["gib_of_graph"]
    aims = [
        (f"{largest['cpu_before']:.1f} s before `fit`", largest["cpu_before"] <= BEFORE, f"{BEFORE:.0f} s"),
        (f"`fit` {ratio:.2f} times that of {smallest['edges']:,} edges", ratio <= RATIO, f"{RATIO} times"),
        (f"{beside:.2f} GiB in the process beside the graph's own", beside <= BESIDE, f"{BESIDE:.0f} GiB"),
    ]
    told = [f"{text} (aim: at most {aim}, {'reached' if met else '**missed**'})" for text, met, aim in aims]
    return f"At {largest['edges']:,} edges: {'; '.join(told)}. Seconds here are of the processor."


def _cells(run: Run) -> list[str]:
    timed = [f"{run[f'seconds_{part}']:.1f} ({run[f'cpu_{part}']:.1f})" for part in ("before", "fit", "explain")]
    gib = [f"{run[key]:.2f}" for key in ("gib_of_graph", "gib_loaded", "gib_self", "gib")]
    return [*(f"{run[key]:,}" for key in ("edges", "nodes", "classes", "types")), *timed, *gib]
