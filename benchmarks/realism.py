"""Measures structure generators: how realistic their graphs are, and what they cost.

    python -m benchmarks.realism                                      # everything that is missing in the results file
    python -m benchmarks.realism --datasets dblp imdb --methods node-growth bootstrap --seeds 0 1
    python -m benchmarks.realism --table                              # writes the tables into docs/realism.md

A run is a data set, a method and a seed, which decides the content of generated data sets, the division into training
and held-out graphs, the training and the sampling. Each runs in a process of its own, so that its peak memory is its
own. Every finished run is one line of the results file and is not done again without ``--again``; the last one counts.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from statistics import mean
from typing import Any

import torch

from benchmarks.measure import peak_memory
from benchmarks.realism_methods import METHODS, PER_SIZE, SETS, STAGES, TIMED, prepare
from benchmarks.realism_tables import PAGE, key_of, number, write_tables
from benchmarks.tables import add_run_options, read_runs, run_apart
from benchmarks.whole_shapes import whole_shapes
from dignn.core.machine import machine
from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.graphs.batch import GraphBatch
from dignn.graphs.plain_graph import plain_graphs
from dignn.metrics.measures.graph_c2st import graph_c2st
from dignn.metrics.run import COMPARED
from dignn.metrics.structure_realism import structure_realism
from dignn.zoo.datasets.registry import DATASETS, load

RESULTS = Path("docs/benchmarks/structure.jsonl")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=SETS, choices=list(DATASETS), metavar="NAME")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=(*METHODS, *STAGES), metavar="NAME")
    parser.add_argument("--preset", default="fast", choices=list(PRESETS))
    parser.add_argument("--sizes", nargs="+", type=int, help="nodes per graph, instead of those of the data set")
    parser.add_argument("--sets", type=int, default=4, help=f"how many times {PER_SIZE} graphs of each size are made")
    add_run_options(parser, RESULTS, PAGE)
    options = parser.parse_args()
    if options.table:
        write_tables(read_runs(options.out))
    elif options.one:
        print(json.dumps(measure(options.datasets[0], options.methods[0], options.seeds[0], options)))
    else:
        done = set() if options.again else {key_of(run) for run in read_runs(options.out)}
        failed = 0
        for seed in options.seeds:
            for dataset in options.datasets:
                for method in options.methods:
                    if (dataset, method, options.preset, seed) not in done:
                        failed += not _in_process(dataset, method, seed, options)
        if failed:
            raise SystemExit(f"{failed} runs failed; their errors are above, and the same command tries them again")


def _in_process(dataset: str, method: str, seed: int, chosen: argparse.Namespace) -> bool:
    """One run in a fresh process; whether it succeeded."""
    options = ["--datasets", dataset, "--methods", method, "--seeds", str(seed)]
    options += ["--preset", chosen.preset, "--sets", str(chosen.sets)]
    options += ["--sizes", *map(str, chosen.sizes)] if chosen.sizes else []
    found = run_apart("benchmarks.realism", ["--one", *options], chosen.out)
    if found is None:
        return False
    seconds = f"{found['train_seconds']:.0f} s + {found['sample_seconds']:.1f} s"
    print(
        f"{dataset}, {method}, {chosen.preset}, seed {seed}: ratio {number(found['realism']['ratio'])}, {seconds}",
        flush=True,
    )
    return True


def measure(name: str, method: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """One run: training, then as many graphs as a run of the explainer makes, then those that are looked at."""
    root = Seed(seed)
    config = replace(PRESETS[options.preset], sizes=tuple(options.sizes) if options.sizes else None)
    with single_thread():
        real, generator = prepare(name, method, seed, config)
        before = peak_memory()
        begin = time.perf_counter()
        generator.fit(real.train, seed=root.child("GGT"))
        trained = time.perf_counter()
        sizes = sorted(set(real.train.sizes.tolist()) & set(real.held_out.sizes.tolist()))
        wanted = [size for size in sizes for _ in range(PER_SIZE * options.sets)]
        # The graphs of the paper's setting take minutes; they are not made twice.
        timed = wanted if options.preset == "paper" else real.like(TIMED)
        generated = made = generator.sample(timed, seed=root.child("GGAT"))
        sampled = time.perf_counter()
        after = peak_memory()
        if timed is not wanted:
            generated = generator.sample(wanted, seed=root.child("quality"))
        found = structure_realism(generated, real.train, real.held_out, per_size=PER_SIZE)
        told = [_c2st(batch, real.held_out, root.child("c2st")) for batch in (made, real.train)]
        whole = whole_shapes(made, real.held_out, load(name, seed=seed).truth)
    return {
        "dataset": name,
        "method": method,
        "preset": options.preset,
        "seed": seed,
        "sizes": sizes,
        "timed": len(timed),
        "train": len(real.train),
        "held_out": len(real.held_out),
        "sets": options.sets,
        "train_seconds": round(trained - begin, 2),
        "sample_seconds": round(sampled - trained, 2),
        "mib_before": round(before * 1024),
        "mib": round(after * 1024),
        "sampling": generator.report.get("sampling"),
        "realism": asdict(found),
        "c2st": told,
        "whole": whole,
        "steps": _steps(generator),
        "machine": machine(),
    }


def _c2st(graphs: GraphBatch, held_out: GraphBatch, seed: Seed) -> float | None:
    """C2ST of as many graphs as the metrics of a run compare; mean over five choices of those."""
    found = []
    for choice in range(5):
        own = seed.child(choice)
        both = [
            plain_graphs(batch[torch.randperm(len(batch), generator=own.child(name).torch())[:COMPARED]])
            for name, batch in (("graphs", graphs), ("held out", held_out))
        ]
        found.append(graph_c2st(*both, seed=own))
    known = [one for one in found if one is not None]
    return mean(known) if known else None


def _steps(generator: Any) -> int | None:
    """Gradient steps of a generator that is one network."""
    trainings = generator.report.get("training", {})
    return sum(one["steps"] for one in trainings.values()) if trainings else None


if __name__ == "__main__":
    main()
