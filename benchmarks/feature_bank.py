"""Measures the features of whole graphs: what all generators of a data set cost, and whether the model recognises them.

    python -m benchmarks.feature_bank                                 # everything that is missing in the results file
    python -m benchmarks.feature_bank --datasets dblp --methods ditabddpm --seeds 0
    python -m benchmarks.feature_bank --table                         # writes the tables into docs/features.md

A run fits the generators of all node types, fills real structures until 20,000 rows are made (this is what is timed),
and then fills generated structures: the share of target nodes that the strong model assigns to the class that they were
made for stands beside its accuracy on real held-out subgraphs.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from joblib.externals.loky import get_reusable_executor

from benchmarks.measure import peak_memory
from benchmarks.tables import add_run_options, markdown, measured_on, read_runs, run_apart, span, write_between
from dignn.core.machine import machine
from dignn.core.seeds import Seed
from dignn.explainers.methods.dignnexplainer.settings import PRESETS, Config
from dignn.features.bank import FeatureBank
from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter
from dignn.sampling.division import RealGraphs, divide
from dignn.structure.registry import STRUCTURE_GENERATORS
from dignn.zoo.datasets.column_counts import parse_columns
from dignn.zoo.datasets.column_selection import select_columns
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from dignn.zoo.models.checkpoint import trained_model

RESULTS = Path("docs/benchmarks/feature_bank.jsonl")
PAGE = Path("docs/features.md")
BEGIN, END = "<!-- graphs: written by python -m benchmarks.feature_bank --table -->", "<!-- end of graphs -->"
ROWS = 20_000
CANDIDATES = 1536
# Data sets by name: which, and columns selected by type.
SETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "dblp": ("dblp", ()),
    "dblp, 50 columns": ("dblp", ("author=50", "paper=50")),
    "imdb": ("imdb", ()),
}
_FAST = PRESETS["fast"]
METHODS: dict[str, Config] = {
    "ditabddpm": _FAST,
    "ditabddpm, no emphasis": replace(_FAST, ditabddpm=replace(_FAST.ditabddpm, emphasis=0.0)),
    "bootstrap": replace(_FAST, features="bootstrap"),
    "independent": replace(_FAST, features="independent"),
}
# The paper's way: every target node gets a class at random and features of that class, neighbours are blind to it.
RANDOM = "class at random"
METHODS[RANDOM] = replace(_FAST, one_model_per_class=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=list(SETS), choices=SETS, metavar="NAME")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS, metavar="NAME")
    add_run_options(parser, RESULTS, PAGE)
    options = parser.parse_args()
    if options.table:
        runs = read_runs(options.out)
        write_between(PAGE, BEGIN, END, [graph_table(runs), measured_on(runs)])
    elif options.one:
        print(json.dumps(measure(options.datasets[0], options.methods, options.seeds[0])))
    else:
        done = set() if options.again else {(run["dataset"], run["seed"]) for run in read_runs(options.out)}
        for seed in options.seeds:
            for name in options.datasets:
                if (name, seed) not in done:
                    chosen = ["--one", "--datasets", name, "--seeds", str(seed), "--methods", *options.methods]
                    found = run_apart("benchmarks.feature_bank", chosen, options.out)
                    print(f"{name}, seed {seed}: {found and found['methods']}", flush=True)


def measure(name: str, methods: list[str], seed: int) -> dict[str, Any]:
    """One data set and seed: structure once, then features by each method."""
    dataset = _dataset(name, seed)
    config = replace(_FAST, sizes=dataset.sizes)
    root = Seed(seed)
    real = divide(dataset.data, dataset.schema, config, root.child("real"))
    real.sample()
    found = {method: _cost(real, METHODS[method], root) for method in methods}
    adapter = GNNAdapter(trained_model(dataset, "strong", seed).model, dataset.schema)
    structure = STRUCTURE_GENERATORS[config.structure].build(config).fit(real.train, seed=root.child("GGT"))
    graphs = structure.sample(real.like(CANDIDATES), seed=root.child("GGAT"))
    for method in methods:
        bank = FeatureBank(dataset.schema, METHODS[method])
        bank.fit(real.data, real.learned, real.train, seed=root.child("NFGT"))
        intended = _mixed(graphs, root) if method == RANDOM else graphs
        filled = bank.fill(intended, seed=root.child("NFGAT"))
        found[method]["agreement"] = agreement(adapter, filled)
    return {
        "dataset": name,
        "seed": seed,
        "accuracy": agreement(adapter, real.held_out),
        "methods": found,
        "machine": machine(),
    }


def agreement(adapter: GNNAdapter, graphs: GraphBatch) -> float:
    """Share of target nodes with a class that the model assigns to it."""
    scores = adapter.score(graphs)
    label = graphs.label[scores.graph, scores.node]
    return float((scores.probability.argmax(1) == label)[label >= 0].double().mean())


def _cost(real: RealGraphs, config: Config, root: Seed) -> dict[str, float]:
    """Seconds and memory of learning all types and making 20,000 rows."""
    bank = FeatureBank(real.data.schema, config)
    begin = time.perf_counter()
    bank.fit(real.data, real.learned, real.train, seed=root.child("NFGT"))
    middle = time.perf_counter()
    order = torch.randperm(len(real.train), generator=root.child("order").torch())
    with_rows = real.train.mask.sum(1)[order].cumsum(0)
    bank.fill(real.train[order[: int((with_rows < ROWS).sum()) + 1]], seed=root.child("NFGAT"))
    taken = time.perf_counter()
    get_reusable_executor().shutdown()  # a process tells its peak when it ends
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
    return {
        "fit_seconds": round(middle - begin, 1),
        "sample_seconds": round(taken - middle, 1),
        "gib": round(peak_memory(), 2),
        "gib_of_largest_worker": round(workers, 2),
    }


def _mixed(graphs: GraphBatch, root: Seed) -> GraphBatch:
    """The same graphs with random classes in place of those that the structure decided."""
    classes = graphs.schema.num_classes
    label = torch.randint(classes, graphs.label.shape, generator=root.child("mixed").torch())
    return replace(graphs, label=label.where(graphs.label >= 0, graphs.label))


def _dataset(name: str, seed: int) -> Dataset:
    source, columns = SETS[name]
    dataset = load(source, seed=seed)
    return select_columns(dataset, parse_columns(columns)) if columns else dataset


def graph_table(runs: list[dict[str, Any]]) -> str:
    head = ["data set", "method", "agreement", "accuracy on real graphs", "fit, s", "20,000 rows, s"]
    head += ["peak GiB", "of a worker", "seeds"]
    last = {(run["dataset"], run["seed"]): run for run in runs}
    rows = []
    for name in SETS:
        chosen = [run for key, run in last.items() if key[0] == name]
        for method in METHODS:
            made = [run["methods"][method] for run in chosen if method in run["methods"]]
            if made:
                seconds = [span([one.get(field) for one in made], 1) for field in ("fit_seconds", "sample_seconds")]
                memory = [one["gib"] for one in made]
                workers = [one["gib_of_largest_worker"] for one in made]
                accuracy = span([run["accuracy"] for run in chosen], 3)
                agreed = span([one["agreement"] for one in made], 3)
                rows.append(
                    [name, method, agreed, accuracy, *seconds, span(memory, 1), span(workers, 1), str(len(made))]
                )
    return markdown(head, rows)


if __name__ == "__main__":
    main()
