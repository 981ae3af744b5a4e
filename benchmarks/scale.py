"""Time and memory of whole runs on graphs of a million edges and more, each in a process of its own.

    python -m benchmarks.scale                                     # 1.1 and 11.3 million edges; 1,000 classes; 50 types
    python -m benchmarks.scale --edges 1e6 1e7 --classes 4 --types 4
    python -m benchmarks.scale --table                             # the table of docs/scale.md

Every number of edges is run with the first number of classes and of types, and the first number of edges with all.
Drawing a graph and training its model are not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import peak_memory
from benchmarks.tables import append_run, read_runs
from benchmarks.watched import watch
from dignn.core.code_version import commit
from dignn.core.machine import machine

RESULTS, PAGE = Path("docs/benchmarks/scale.jsonl"), Path("docs/scale.md")
EDGES, CLASSES, TYPES = (1_100_000, 11_300_000), (4, 1000), (4, 50)
# Seconds that a run may take.
LIMIT = 1800.0
GIB = 1024**3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", nargs="+", type=_number, default=list(EDGES), metavar="N")
    parser.add_argument("--classes", nargs="+", type=int, default=list(CLASSES), metavar="N")
    parser.add_argument("--types", nargs="+", type=int, default=list(TYPES), metavar="N")
    parser.add_argument("--preset", default="smoke", help="settings of the explainer")
    parser.add_argument("--out", type=Path, default=RESULTS, help="results file, one JSON object per line")
    parser.add_argument("--table", action="store_true", help=f"write the table into {PAGE}, and stop")
    parser.add_argument("--make", type=Path, metavar="FOLDER", help="draw one graph and its model there, and stop")
    parser.add_argument("--one", type=Path, metavar="FOLDER", help="one run of what is there, to standard output")
    options = parser.parse_args()
    if options.table:
        from benchmarks.scale_table import write_page

        write_page(read_runs(options.out), PAGE)
        return
    if options.make is not None:
        make(options.make, options.edges[0], options.classes[0], options.types[0])
        return
    if options.one is not None:
        sys.stdout.write(json.dumps(run(options.one, options.preset)) + "\n")
        return
    for case in cases(options.edges, options.classes, options.types):
        found = one(*case, options.preset)
        append_run(options.out, found)
        print(json.dumps(found), flush=True)


def _number(text: str) -> int:
    """A whole number, also as ``1e6``."""
    return int(float(text))


def cases(edges: Sequence[int], classes: Sequence[int], types: Sequence[int]) -> list[tuple[int, int, int]]:
    """Edges, classes and types of each run."""
    found = [(number, classes[0], types[0]) for number in edges]
    found += [(edges[0], number, types[0]) for number in classes[1:]]
    return found + [(edges[0], classes[0], number) for number in types[1:]]


def one(edges: int, classes: int, types: int, preset: str) -> dict[str, Any]:
    """A run in a process of its own, and what it gave."""
    given = ["--edges", str(edges), "--classes", str(classes), "--types", str(types), "--preset", preset]
    command = [sys.executable, "-m", "benchmarks.scale", *given]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, "--make", folder], check=True)
        ended = watch([*command, "--one", folder], LIMIT)
    found: dict[str, Any] = {"asked": edges, "classes": classes, "types": types, "preset": preset, "error": None}
    if ended.code == 0:
        found |= json.loads(ended.output.strip().splitlines()[-1])
        found["gib"] = max(found["gib_self"], round(ended.gib, 3))
    else:
        found["error"] = "took too long" if ended.code is None else f"the process ended with code {ended.code}"
    return {**found, "commit": commit(), "machine": machine()}


def make(folder: Path, edges: int, classes: int, types: int) -> None:
    """Draws a graph and trains a model, and keeps both."""
    import torch

    from benchmarks.scale_graphs import scale_graph, scale_model

    torch.save(scale_graph(edges, classes, types), folder / "data.pt")
    torch.save(scale_model(classes, types), folder / "model.pt")


def run(folder: Path, preset: str) -> dict[str, Any]:
    """One run in this process: seconds of its parts, by the clock and of the processor, and memory."""
    import torch

    from dignn.explainers.methods.dignnexplainer.explainer import DiGNNExplainer

    data = torch.load(folder / "data.pt", weights_only=False)
    model = torch.load(folder / "model.pt", weights_only=False)
    loaded, parts = peak_memory(), Stopwatch()
    explainer = DiGNNExplainer(model, data, target="author", config=preset, seed=0, folder=folder / "run").check()
    parts.note("before")
    checked = peak_memory()
    explainer.fit()
    parts.note("fit")
    explainer.explain()
    parts.note("explain")
    return {
        "edges": sum(data[name].num_edges for name in data.edge_types) // 2,
        "nodes": data.num_nodes,
        **parts.seconds,
        "gib_loaded": round(loaded, 3),
        "gib_before": round(checked, 3),
        "gib_self": round(peak_memory(), 3),
        "gib_of_graph": round(own_gib(data), 3),
    }


class Stopwatch:
    """Seconds of one part after another."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = self._now()

    @staticmethod
    def _now() -> dict[str, float]:
        return {"seconds": time.perf_counter(), "cpu": sum(os.times()[:4])}  # with processes that have ended

    def note(self, part: str) -> None:
        """A part has ended."""
        now = self._now()
        self.seconds |= {f"{clock}_{part}": round(at - self._since[clock], 2) for clock, at in now.items()}
        self._since = now


def own_gib(data: Any) -> float:
    """Of all tensors of a graph."""
    fields = [value for store in data.stores for value in store.values() if hasattr(value, "numel")]
    return sum(value.numel() * value.element_size() for value in fields) / GIB


if __name__ == "__main__":
    main()
