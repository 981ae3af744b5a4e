"""Measures feature generators on the tables of real node types: how realistic their rows are, and what they cost.

    python -m benchmarks.features                                     # everything that is missing in the results file
    python -m benchmarks.features --tables author-334 --methods ditabddpm bootstrap --seeds 0
    python -m benchmarks.features --table                             # writes the tables into docs/features.md

A run is a table, a method and a seed, which decides the division into training and held-out rows (one in five), the
training and the sampling. Rows of the classified type are compared class by class. Each runs in a process of its own.
Every finished run is one line of the results file and is not done again without ``--again``; the last one counts.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import torch
from torch import Tensor

from benchmarks.measure import peak_memory
from benchmarks.synthetic_tables import SYNTHETIC
from benchmarks.tables import add_run_options, markdown, measured_on, read_runs, run_apart, span, write_between
from dignn.core.machine import machine
from dignn.core.seeds import Seed
from dignn.explainers.methods.dignnexplainer.settings import PRESETS, Config
from dignn.features.conditions import class_of_condition, condition_data
from dignn.features.registry import FEATURE_GENERATORS
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.feature_spec import FeatureSpec
from dignn.metrics.feature_realism import feature_realism
from dignn.zoo.datasets.column_selection import select_columns
from dignn.zoo.datasets.registry import load

RESULTS = Path("docs/benchmarks/features.jsonl")
PAGE = Path("docs/features.md")
BEGIN, END = "<!-- tables: written by python -m benchmarks.features --table -->", "<!-- end of tables -->"
HELD_OUT = 5
METRICS = ("column_error", "pair_error", "row_density", "cosine", "c2st", "memorisation")


# The name that stands for tables that are made up.
SYNTHETIC_SET = "synthetic"


class Source(NamedTuple):
    """A data set's node type, and how many of its columns; None for all."""

    dataset: str
    node_type: str
    columns: int | None = None


TABLES: dict[str, Source] = {
    "author-50": Source("dblp", "author", 50),
    "author-334": Source("dblp", "author"),
    "paper-50": Source("dblp", "paper", 50),
    "paper-4231": Source("dblp", "paper"),
    "term-50": Source("dblp", "term"),
    "movie-10": Source("imdb", "movie", 10),
    "movie-3066": Source("imdb", "movie"),
}
TABLES |= {name: Source(SYNTHETIC_SET, name) for name in SYNTHETIC}
_FAST = PRESETS["fast"]
# Methods by name: the generator, and the settings that it runs with.
METHODS: dict[str, tuple[str, Config]] = {
    "bootstrap": ("bootstrap", _FAST),
    "independent": ("independent", _FAST),
    "ditabddpm": ("ditabddpm", _FAST),
    "ditabddpm, no emphasis": ("ditabddpm", replace(_FAST, ditabddpm=replace(_FAST.ditabddpm, emphasis=0.0))),
    "ditabddpm, one model per class": ("ditabddpm", replace(_FAST, one_model_per_class=True)),
    "ditabddpm, marginal": ("ditabddpm", replace(_FAST, ditabddpm=replace(_FAST.ditabddpm, noise="marginal"))),
    "tabddpm": ("tabddpm", _FAST),
    "tabddpm, threshold": ("tabddpm", replace(_FAST, tabddpm=replace(_FAST.tabddpm, discrete="threshold"))),
}
# A value for each of thousands of columns and 50 steps takes the better part of an hour.
_SLOW = {(table, method) for table in ("paper-4231", "movie-3066") for method in ("ditabddpm, marginal", "tabddpm")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES, metavar="NAME")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS, metavar="NAME")
    add_run_options(parser, RESULTS, PAGE)
    options = parser.parse_args()
    if options.table:
        write_tables(read_runs(options.out))
    elif options.one:
        print(json.dumps(measure(options.tables[0], options.methods[0], options.seeds[0])))
    else:
        done = set() if options.again else {_key(run) for run in read_runs(options.out)}
        failed = 0
        for seed in options.seeds:
            for table in options.tables:
                for method in options.methods:
                    if (table, method, seed) not in done and _applies(table, method):
                        failed += not _in_process(table, method, seed, options.out)
        if failed:
            raise SystemExit(f"{failed} runs failed; their errors are above, and the same command tries them again")


def _applies(table: str, method: str) -> bool:
    """Continuous rows are not for DiTabDDPM, and whole classes are those of the classified type."""
    if (table, method) in _SLOW:
        return False
    if table in SYNTHETIC:
        return method == suited(table) or method == "bootstrap"
    if table == "term-50":
        return not method.startswith("ditabddpm") and method != "tabddpm, threshold"
    return method != "ditabddpm, one model per class" or table.split("-")[0] in ("author", "movie")


def suited(table: str) -> str:
    """The method that a bank chooses for a table that is made up."""
    dense = table.startswith(("mixed", "heavy", "embedding"))
    return "tabddpm" if dense else "ditabddpm"


def _in_process(table: str, method: str, seed: int, out: Path) -> bool:
    """One run in a fresh process; whether it succeeded."""
    options = ["--one", "--tables", table, "--methods", method, "--seeds", str(seed)]
    found = run_apart("benchmarks.features", options, out)
    if found is not None:
        value, floor = found["value"], found["floor"]
        shown = ", ".join(
            f"{name} {value[name]:.4f}/{floor[name]:.4f}" for name in METRICS if value[name] is not None and floor[name]
        )
        print(
            f"{table}, {method}, seed {seed}: {shown}; {found['fit_seconds']} s + {found['sample_seconds']} s",
            flush=True,
        )
    return found is not None


# -- one run ------------------------------------------------------------------------------------------


def table_of(source: Source, seed: int) -> tuple[Tensor, Tensor, FeatureSpec, bool]:
    """Rows (n, d), conditions (n, C), what the columns hold, and whether the type is the classified one."""
    if source.dataset == SYNTHETIC_SET:
        return *SYNTHETIC[source.node_type](seed), False
    dataset = load(source.dataset, seed=seed)
    if source.columns is not None:
        dataset = select_columns(dataset, {source.node_type: source.columns})
    data = Adjacency.build(dataset.data, dataset.schema)
    nodes = torch.from_numpy(data.node_type == dataset.schema.type_index(source.node_type))
    rows = data.tables[source.node_type][torch.from_numpy(data.row)[nodes]]
    spec = dataset.schema.spec(source.node_type)
    around = class_of_condition(condition_data(data))
    return rows, around[nodes], spec, source.node_type == dataset.schema.target


def measure(table: str, method: str, seed: int) -> dict[str, Any]:
    """One run: learning, as many rows as were learned from, and how they compare with rows held out."""
    rows, condition, spec, classified = table_of(TABLES[table], seed)
    root = Seed(seed).child("feature table")
    order = torch.randperm(len(rows), generator=root.child("division").torch())
    held, train = order[: len(rows) // HELD_OUT], order[len(rows) // HELD_OUT :]
    generated, fit_seconds, sample_seconds = generate(method, rows[train], condition[train], spec, root)
    memory = peak_memory()
    if classified:
        label = condition.argmax(1)
        groups = [(label[train] == c, label[held] == c) for c in range(condition.size(1))]
    else:
        groups = [(torch.ones(len(train), dtype=torch.bool), torch.ones(len(held), dtype=torch.bool))]
    found = [
        feature_realism(generated[one], rows[train][one], rows[held][other], spec, seed=root.child("metrics"))
        for one, other in groups
    ]
    sides = [[one.value for one in found], [one.floor or {} for one in found]]
    value, floor = ({name: _mean([one.get(name) for one in several]) for name in METRICS} for several in sides)
    return {
        "table": table,
        "method": method,
        "seed": seed,
        "train": len(train),
        "held_out": len(held),
        "value": value,
        "floor": floor,
        "by_class": [one.value for one in found] if classified else None,
        "fit_seconds": round(fit_seconds, 2),
        "sample_seconds": round(sample_seconds, 2),
        "mib": round(memory * 1024),
        "machine": machine(),
    }


def generate(
    method: str, rows: Tensor, condition: Tensor, spec: FeatureSpec, seed: Seed
) -> tuple[Tensor, float, float]:
    """A generated row for each real one, given its condition; seconds of learning and of sampling."""
    name, config = METHODS[method]
    parts = [torch.arange(len(rows))]
    if config.one_model_per_class:
        parts = [(condition.argmax(1) == c).nonzero()[:, 0] for c in range(condition.size(1))]
        condition = condition[:, :0]
    begin = time.perf_counter()
    fitted = [
        FEATURE_GENERATORS[name].build(config).fit(rows[part], condition[part], spec, seed=seed.child("fit", number))
        for number, part in enumerate(parts)
    ]
    middle = time.perf_counter()
    out = torch.empty_like(rows)
    for number, (part, generator) in enumerate(zip(parts, fitted, strict=True)):
        out[part] = generator.sample(condition[part], seed=seed.child("sample", number))
    return out, middle - begin, time.perf_counter() - middle


# -- the tables ---------------------------------------------------------------------------------------


def write_tables(runs: list[dict[str, Any]]) -> None:
    """Puts the tables of all runs between the markers of the page."""
    write_between(PAGE, BEGIN, END, [quality_table(runs), measured_on(runs)])
    print(f"wrote {PAGE}")


def quality_table(runs: list[dict[str, Any]]) -> str:
    """Mean over seeds: distances as multiples of their floors, the others beside theirs."""
    head = ["rows", "method", "column error", "pair error", "row density", "cosine", "C2ST", "memorisation"]
    head += ["fit, s", "rows, s", "seeds"]
    last = {_key(run): run for run in runs}
    rows = []
    for table in TABLES:
        for method in METHODS:
            chosen = [run for key, run in last.items() if key[:2] == (table, method)]
            if chosen:
                cells = [_ratio(chosen, name) for name in METRICS[:3]]
                cells += [_beside(chosen, name) for name in METRICS[3:]]
                seconds = [span([run[field] for run in chosen], 1) for field in ("fit_seconds", "sample_seconds")]
                rows.append([table, method, *cells, *seconds, str(len(chosen))])
    return markdown(head, rows)


def _ratio(runs: list[dict[str, Any]], metric: str) -> str:
    """Value over floor, of means over the seeds, and the floor."""
    value, floor = (_mean([run[side][metric] for run in runs]) for side in ("value", "floor"))
    return "-" if value is None or not floor else f"{value / floor:.2f} x {floor:.2g}"


def _beside(runs: list[dict[str, Any]], metric: str) -> str:
    value, floor = (_mean([run[side][metric] for run in runs]) for side in ("value", "floor"))
    return "-" if value is None else f"{value:.3f} / {'-' if floor is None else f'{floor:.3f}'}"


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _key(run: dict[str, Any]) -> tuple[str, str, int]:
    return run["table"], run["method"], run["seed"]


if __name__ == "__main__":
    main()
