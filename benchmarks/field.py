"""Node growth on the public sets that graph generators are compared on: valid, unique and novel graphs, and ratios.

    python -m benchmarks.field                                     # all sets, seed 0; resumable
    python -m benchmarks.field --sets planar --steps 1000 4000     # the curve over training
    python -m benchmarks.field --table                             # the table of docs/realism.md

A run is a set, a number of gradient steps and a seed, which decides the graphs, their division, training and sampling.
0 steps stand for as many as the preset ``thorough`` makes. Training graphs alone are learned from, a tenth of them
validates. Each run has a process of its own; a finished one is a line of the results file.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch_geometric.data import Data

from benchmarks.field_metrics import ratios
from benchmarks.field_sets import FIELD
from benchmarks.measure import peak_memory
from benchmarks.tables import add_run_options, markdown, measured_on, read_runs, run_apart, write_between
from dignn.core.code_version import commit
from dignn.core.machine import machine
from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg, to_networkx
from dignn.graphs.isomorphism import kinds
from dignn.graphs.schema import Schema
from dignn.metrics.counting import interval
from dignn.structure.node_growth.generator import NodeGrowth

RESULTS, PAGE = Path("docs/benchmarks/field.jsonl"), Path("docs/realism.md")
BEGIN, END = "<!-- field: written by python -m benchmarks.field --table -->", "<!-- end of field -->"
# Graphs that are generated, further real ones to compare with, and choices of them that ratios are a mean over.
SAMPLES, FURTHER, DRAWS = 1024, 256, 20
# Valid, unique and novel graphs in percent, as the authors of these methods published them.
PUBLISHED = {
    "tree": "DiGress 90, DeFoG 96.5, HSpectre 100",
    "planar": "DiGress 77.5, AutoGraph 87.5, DeFoG 99.5",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(FIELD), choices=FIELD, metavar="NAME")
    parser.add_argument("--steps", nargs="+", type=int, default=[0], help="gradient steps; 0 for those of 'thorough'")
    add_run_options(parser, RESULTS, PAGE)
    parser.set_defaults(seeds=[0])
    options = parser.parse_args()
    if options.table:
        write_between(PAGE, BEGIN, END, tables(read_runs(options.out)))
    elif options.one:
        print(json.dumps(measure(options.sets[0], options.steps[0], options.seeds[0])))
    else:
        done = set() if options.again else {key_of(run) for run in read_runs(options.out)}
        for seed in options.seeds:
            for name in options.sets:
                for steps in options.steps:
                    if (name, steps, seed) not in done:
                        given = ["--sets", name, "--steps", str(steps), "--seeds", str(seed)]
                        found = run_apart("benchmarks.field", ["--one", *given], options.out)
                        print(name, steps, seed, "failed" if found is None else _told(found), flush=True)


def key_of(run: dict[str, Any]) -> tuple[str, int, int]:
    return run["set"], run["asked_steps"], run["seed"]


def measure(name: str, steps: int, seed: int) -> dict[str, Any]:
    """One run: training, then graphs of the sizes of training graphs, then how they compare."""
    root = Seed(seed).child("field", name)
    field = FIELD[name]
    train, _, test = field.divided(root.child("graphs"))
    config = PRESETS["thorough"].node_growth
    if steps:
        training = replace(config.training, epochs=None, steps=steps)
        config = replace(config, effort=1e9, passes=1e9, training=training)
    with single_thread():
        known = as_batch(train)
        generator = NodeGrowth(config)
        begin = time.perf_counter()
        generator.fit(known, seed=root.child("fit"))
        middle = time.perf_counter()
        sizes = [len(train[number % len(train)]) for number in range(SAMPLES)]
        made = generator.sample(sizes, seed=root.child("sample"))
        end = time.perf_counter()
        graphs = [to_networkx(made, number) for number in range(len(made))]
        found = ratios(graphs, train, test, DRAWS, seed)
        rng = root.child("further").numpy()
        real = ratios([field.make(rng) for _ in range(FURTHER)], train, test, DRAWS, seed)
        both = GraphBatch.cat([known, made])
        alike = of_sizes(field.make, sizes, root.child("of the same sizes").numpy())
        real_kinds = kinds(GraphBatch.cat([known, as_batch(alike)]))
    return {
        "set": name,
        "seed": seed,
        "asked_steps": steps,
        "steps": generator.report["training"]["all sizes"]["steps"],
        **good_graphs(name, graphs, kinds(both), len(known)),
        "real_vun": good_graphs(name, alike, real_kinds, len(known))["vun"],
        "ratio": round(found.ratio, 3),
        "real_ratio": round(real.ratio, 3),
        **asdict(found),
        "train_seconds": round(middle - begin, 1),
        "seconds_per_graph": round((end - middle) / SAMPLES, 5),
        "gib": round(peak_memory(), 2),
        "commit": commit(),
        "machine": machine(),
    }


def of_sizes(
    make: Callable[[np.random.Generator], nx.Graph], sizes: Sequence[int], rng: np.random.Generator
) -> list[nx.Graph]:
    """Further graphs of a recipe, as many of each number of nodes as in ``sizes``."""
    wanted, found = Counter(sizes), []
    while len(found) < len(sizes):
        graph = make(rng)
        if wanted[len(graph)]:
            wanted[len(graph)] -= 1
            found.append(graph)
    return found


def as_batch(graphs: list[nx.Graph]) -> GraphBatch:
    """Graphs of one node type, without features, as the library has them."""

    def data(graph: nx.Graph) -> Data:
        edges = torch.tensor(list(nx.convert_node_labels_to_integers(graph).edges)).T
        return Data(edge_index=torch.cat([edges, edges.flip(0)], 1), num_nodes=len(graph), y=torch.tensor([0]))

    several = [data(graph) for graph in graphs]
    return from_pyg(several, Schema.from_graphs(several))


def good_graphs(name: str, graphs: list[nx.Graph], kind: list[int], known: int) -> dict[str, Any]:
    """Shares of generated graphs that are valid, unique, novel, and all of that, with an interval.

    Args:
        name: of the set.
        graphs: generated ones.
        kind: of known and then of generated graphs the first that is isomorphic.
        known: how many are known.
    """
    valid = FIELD[name].valid
    fine = [valid is None or valid(graph) for graph in graphs]
    own = kind[known:]
    first = [number == place + known for place, number in enumerate(own)]  # the first of its kind, and new
    new = [number >= known for number in own]
    all_of_it = [one and two for one, two in zip(fine, first, strict=True)]
    share = sum(all_of_it) / len(graphs)
    return {
        "valid": None if valid is None else sum(fine) / len(graphs),
        "unique": len(set(own)) / len(graphs),
        "novel": sum(new) / len(graphs),
        "vun": share,
        "interval": [round(end, 4) for end in interval(share, len(graphs))],
    }


def tables(runs: list[dict[str, Any]]) -> list[str]:
    """A row for each run, and what has been published."""
    head = ["set", "steps", "training, s", "valid", "unique", "novel", "V.U.N. (95 %)", "of real ones", "ratio (real)"]
    head += ["degree", "clustering", "orbit", "spectrum", "wavelet", "s per graph", "published V.U.N."]
    last = {key_of(run): run for run in runs}
    rows = []
    for name in FIELD:
        of_set = sorted(
            (run for key, run in last.items() if key[0] == name), key=lambda run: (run["steps"], run["seed"])
        )
        for run in of_set:
            metrics = [_beside(run, metric) for metric in ("degree", "clustering", "orbit", "spectrum", "wavelet")]
            low, high = (100 * end for end in run["interval"])
            shares = ["-" if run[part] is None else f"{100 * run[part]:.1f}" for part in ("valid", "unique", "novel")]
            vun = f"**{100 * run['vun']:.1f}** ({low:.1f} to {high:.1f})"
            cells = [
                name,
                f"{run['steps']:,}",
                f"{run['train_seconds']:.0f}",
                *shares,
                vun,
                "-" if run.get("real_vun") is None else f"{100 * run['real_vun']:.1f}",
                f"**{run['ratio']:.2f}** ({run['real_ratio']:.2f})",
            ]
            rows.append([*cells, *metrics, f"{run['seconds_per_graph']:.3f}", PUBLISHED.get(name, "-")])
    return [markdown(head, rows), measured_on(list(last.values()))] if rows else ["No runs yet."]


def _beside(run: dict[str, Any], metric: str) -> str:
    return f"{1000 * run['generated'][metric]:.2f} / {1000 * run['training'][metric]:.2f}"


def _told(run: dict[str, Any]) -> str:
    return (
        f"V.U.N. {100 * run['vun']:.1f}, ratio {run['ratio']:.2f}, {run['train_seconds']:.0f} s, {run['steps']} steps"
    )


if __name__ == "__main__":
    main()
