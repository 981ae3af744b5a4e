"""Results files with one JSON object per line, and Markdown tables made of them."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any


def add_run_options(parser: argparse.ArgumentParser, results: Path, page: Path) -> None:
    """What every benchmark with a results file takes."""
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=results, help="results file, one JSON object per line")
    parser.add_argument("--again", action="store_true", help="also do runs that are in the results file")
    parser.add_argument("--table", action="store_true", help=f"write the tables into {page}, and stop")
    parser.add_argument("--one", action="store_true", help="one run in this process, its result to standard output")


def read_runs(path: Path) -> list[dict[str, Any]]:
    """All lines of a results file; none if it does not exist."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []


def run_apart(module: str, options: Sequence[str], out: Path) -> dict[str, Any] | None:
    """``python -m module options`` in a process of its own, its last line added to ``out``; None if it failed."""
    finished = subprocess.run([sys.executable, "-m", module, *options], stdout=subprocess.PIPE, text=True)
    if finished.returncode:
        return None
    found: dict[str, Any] = json.loads(finished.stdout.strip().splitlines()[-1])
    append_run(out, found)
    return found


def append_run(out: Path, found: dict[str, Any]) -> None:
    """Adds a line to a results file."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", encoding="utf-8") as file:
        file.write(json.dumps(found) + "\n")


def write_between(page: Path, begin: str, end: str, parts: Sequence[str]) -> None:
    """Puts ``parts`` between two markers of a page."""
    text = page.read_text(encoding="utf-8")
    head, rest = text.split(begin)
    page.write_text(head + "\n\n".join([begin, *parts, end]) + rest.split(end)[1], encoding="utf-8")


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def span(values: Sequence[float | None], digits: int = 2) -> str:
    """The mean, and from least to greatest where there are several."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    middle = f"{mean(known):.{digits}f}"
    return middle if len(known) == 1 else f"{middle} ({min(known):.{digits}f} to {max(known):.{digits}f})"


def measured_on(runs: Sequence[dict[str, Any]]) -> str:
    """A sentence about the machines of some runs; older lines do not tell theirs."""
    places = {json.dumps(run["machine"], sort_keys=True) for run in runs if "machine" in run}
    texts = [json.loads(place) for place in sorted(places)]
    names = [f"{on['cores']} cores ({on['processor']}), Python {on['python']}, torch {on['torch']}" for on in texts]
    return f"Measured with one torch thread on {' and '.join(names)}."
