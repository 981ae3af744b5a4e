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

from benchmarks.controls import CONTROLS
from benchmarks.measure import machine, peak_memory
from benchmarks.tables import add_run_options, markdown, measured_on, read_runs, run_apart, span, write_between
from benchmarks.whole_shapes import whole_shapes
from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.explainers.methods.dignnexplainer.settings import PRESETS, Config
from dignn.graphs.batch import GraphBatch
from dignn.graphs.plain_graph import plain_graphs
from dignn.metrics.measures.graph_c2st import graph_c2st
from dignn.metrics.run import COMPARED
from dignn.metrics.structure_realism import STRUCTURE_METRICS, structure_realism
from dignn.sampling.division import RealGraphs, divide
from dignn.structure.edge_diffusion.generator import EdgeDiffusion
from dignn.structure.node_growth.generator import NodeGrowth
from dignn.structure.registry import STRUCTURE_GENERATORS
from dignn.structure.settings import GROWTH_TRAINING
from dignn.zoo.datasets.registry import DATASETS, load

RESULTS = Path("docs/benchmarks/structure.jsonl")
PAGE = Path("docs/realism.md")
BEGIN, END = "<!-- tables: written by python -m benchmarks.realism --table -->", "<!-- end of tables -->"
SETS = ("dblp", "imdb", "mutag", "ba-shapes", "tree-cycle", "tree-grids", "ba-3motif")
# Edge diffusion with the paper's noise and our network; its sampler as it is, and with constraints.
VARIANTS: dict[str, dict[str, Any]] = {
    "edge-diffusion, marginal": {"noise": "marginal"},
    "edge-diffusion, marginal, unconstrained": {"noise": "marginal", "constraints": False},
}
METHODS = (*STRUCTURE_GENERATORS, *VARIANTS, *CONTROLS)
# Node growth without what was added to it, one after the other; measured where they are named.
_PLAIN: dict[str, Any] = {"roles": False, "looks": 0}
_ADAMW = replace(GROWTH_TRAINING, optimizer="adamw", settle=0.0, patience=10)
STAGES: dict[str, dict[str, Any]] = {
    "node-growth, AdamW": _PLAIN | {"training": _ADAMW},
    "node-growth, Muon": _PLAIN,
    "node-growth, Muon, roles": {"looks": 0},
}
# Graphs of each size that are compared at once, and graphs in all that are timed.
PER_SIZE = 256
TIMED = 1536
_HEADS = {"degree": "degree", "clustering": "clustering", "spectral": "spectrum"}
_HEADS |= {"node_token": "node tokens", "typed_edge": "typed edges"}


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
        done = set() if options.again else {_key(run) for run in read_runs(options.out)}
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
        f"{dataset}, {method}, {chosen.preset}, seed {seed}: ratio {_number(found['realism']['ratio'])}, {seconds}",
        flush=True,
    )
    return True


def prepare(name: str, method: str, seed: int, config: Config) -> tuple[RealGraphs, Any]:
    """The real graphs of a run, and a generator that has learned nothing yet."""
    dataset = load(name, seed=seed)
    config = replace(config, sizes=config.sizes if config.sizes is not None else dataset.sizes)
    real = divide(dataset.data, dataset.schema, config, Seed(seed).child("real"))
    real.sample()
    if method in CONTROLS:
        return real, CONTROLS[method]()
    if method in STAGES:
        return real, NodeGrowth(replace(config.node_growth, **STAGES[method]))
    if method in VARIANTS:
        return real, EdgeDiffusion(replace(config.edge_diffusion, **VARIANTS[method]))
    return real, STRUCTURE_GENERATORS[method].build(config)


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


# -- the tables ---------------------------------------------------------------------------------------


def write_tables(runs: list[dict[str, Any]]) -> None:
    """Puts the tables of all runs between the markers of the page."""
    tables = [quality_table(runs), shape_table(runs), cost_table(runs), measured_on(runs)]
    write_between(PAGE, BEGIN, END, tables)
    print(f"wrote {PAGE}")


def quality_table(runs: list[dict[str, Any]]) -> str:
    """Realism: mean over seeds, and the range of the ratio."""
    head = ["data set", "method", "ratio", *_HEADS.values(), "isomorphic", "unique", "yield", "seeds"]
    rows = []
    for name, method, chosen in _grouped(runs):
        found = [run["realism"] for run in chosen]
        metrics = [
            f"{1000 * mean(one['value'][metric] for one in found):.2f} / "
            f"{1000 * mean(one['floor'][metric] for one in found):.2f}"
            for metric in STRUCTURE_METRICS
        ]
        same = [mean(one[field] for one in found) for field in ("isomorphic", "isomorphic_held_out")]
        alone = [mean(one[field] for one in found) for field in ("unique", "unique_train")]
        valid = mean(one["valid"] for one in found)
        first = [_first_yield(run) for run in chosen]
        both = f"{mean(one for one in first if one is not None):.3f} → " if None not in first else ""
        rows.append(
            [
                name,
                method,
                f"**{span([one['ratio'] for one in found])}**",
                *metrics,
                f"{same[0]:.3f} / {same[1]:.3f}",
                f"{alone[0]:.3f} / {alone[1]:.3f}",
                f"{both}{valid:.3f}",
                str(len(chosen)),
            ]
        )
    return markdown(head, rows)


def shape_table(runs: list[dict[str, Any]]) -> str:
    """Classifier test and whole shapes of runs that have them: mean over seeds, generated / real."""
    rows = []
    for name, method, chosen in _grouped([run for run in runs if "c2st" in run]):
        told = " / ".join(f"{mean(run['c2st'][side] or 0.5 for run in chosen):.3f}" for side in (0, 1))
        shapes = [
            f"{shape} " + " / ".join(f"{mean(run['whole'][shape][side] for run in chosen):.2f}" for side in (0, 1))
            for shape in chosen[0]["whole"]
        ]
        steps = [run["steps"] for run in chosen if run["steps"]]
        rows.append([name, method, told, ", ".join(shapes), f"{mean(steps):,.0f}" if steps else "", str(len(chosen))])
    return markdown(["data set", "method", "C2ST", "whole shapes", "steps", "seeds"], rows)


def cost_table(runs: list[dict[str, Any]]) -> str:
    """Seconds and memory: mean over seeds, and their range."""
    head = ["data set", "method", "training graphs", "training, s", "graphs", "generating, s", "MiB before", "peak MiB"]
    rows = [
        [
            name,
            method,
            f"{mean(run['train'] for run in chosen):,.0f}",
            span([run["train_seconds"] for run in chosen], digits=1),
            f"{chosen[0].get('timed', TIMED):,}",
            span([run["sample_seconds"] for run in chosen], digits=1),
            *(f"{mean(run[field] for run in chosen):,.0f}" for field in ("mib_before", "mib")),
        ]
        for name, method, chosen in _grouped(runs)
    ]
    return markdown(head, rows)


def _grouped(runs: list[dict[str, Any]]) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Data set, method (with its preset unless that is ``fast``) and the runs of all seeds, in a fixed order."""
    last = {_key(run): run for run in runs}
    groups = []
    for name in SETS:
        for method in (*METHODS, *sorted({key[1] for key in last} - set(METHODS))):
            for preset in PRESETS:
                chosen = [run for key, run in last.items() if key[:3] == (name, method, preset)]
                if chosen:
                    groups.append((name, method if preset == "fast" else f"{method} ({preset})", chosen))
    return groups


def _c2st(graphs: GraphBatch, held_out: GraphBatch, seed: Seed) -> float | None:
    """C2ST of as many graphs as the metrics of a run compare; mean over five choices of those."""
    found = []
    for number in range(5):
        own = seed.child(number)
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


def _first_yield(run: dict[str, Any]) -> float | None:
    """Share of graphs that were valid before any was drawn again; None where the method draws none again."""
    first = (run["sampling"] or {}).get("first_yield")
    return None if first is None else float(first)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _key(run: dict[str, Any]) -> tuple[str, str, str, int]:
    return run["dataset"], run["method"], run["preset"], run["seed"]


if __name__ == "__main__":
    main()
