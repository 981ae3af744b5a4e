"""Measures how well scorecards and rules give a model's answers on real held-out graphs.

    python -m benchmarks.fidelity --runs runs/dblp runs/planted    # run folders; they stay as they are
    python -m benchmarks.fidelity --runs runs/dblp --more 1536     # with so many more graphs of the same generators
    python -m benchmarks.fidelity --table                               # writes the tables into docs/fidelity.md

They are found on a run's generated graphs; beside them the floor, found on as many places of real training graphs, the
control, found on generated structures with noise in every column, and what others say: decision trees on the same
predicates, class expressions of EL (``benchmarks.fidelity_rivals``), and who always gives one class. Runs of models
whose rule is known, which ``dignn benchmark known`` makes, are measured in the same way. Every run is one line of the
results file; of a data set, a seed and a number of graphs the last one counts.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.fidelity_rivals import beside
from benchmarks.fidelity_tables import KNOWN, in_short, rival_tables, tables
from benchmarks.tables import read_runs, run_apart, write_between
from dignn.cli.options import settings_of
from dignn.cli.rebuild import noted, subject_of
from dignn.cli.subject import Subject
from dignn.cli.user_model import OwnModel
from dignn.core.code_version import commit
from dignn.core.files import read_json
from dignn.core.json_types import restored
from dignn.core.machine import machine
from dignn.core.one_thread import one_thread
from dignn.core.progress import Progress
from dignn.core.run_folder import CONFIG
from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.explainers.base import CANDIDATES, Explainer
from dignn.explainers.methods.dignnexplainer.explainer import STRUCTURE
from dignn.explainers.prepared import FEATURES
from dignn.explainers.settings import RunSettings
from dignn.explainers.studying import found_on, learned_from, unseen
from dignn.features.bank import FeatureBank
from dignn.goes_by.fidelity import fidelity
from dignn.goes_by.finding import STUDIED_PLACES
from dignn.goes_by.finding_causes import find_with_effects
from dignn.graphs.batch import GraphBatch
from dignn.graphs.validity import check_validity
from dignn.metrics.controls import control_sets
from dignn.metrics.judging import COLUMN_NOISE
from dignn.model.scores import Scores
from dignn.structure.registry import STRUCTURE_GENERATORS
from dignn.zoo.known.registry import KNOWN_MODELS

RESULTS, PAGE = Path("docs/benchmarks/fidelity.jsonl"), Path("docs/fidelity.md")
# Where the tables of the page stand.
BEGIN, END = "<!-- fidelity: written by python -m benchmarks.fidelity --table -->", "<!-- end of fidelity -->"
BESIDE, END_BESIDE = "<!-- others: written by python -m benchmarks.fidelity --table -->", "<!-- end of others -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", nargs="+", type=Path, default=[], metavar="FOLDER")
    parser.add_argument("--out", type=Path, default=RESULTS, help="results file, one JSON object per line")
    parser.add_argument("--more", type=int, default=0, help="graphs that are generated beside those of the run")
    parser.add_argument("--table", action="store_true", help=f"write the tables into {PAGE}, and stop")
    parser.add_argument("--one", action="store_true", help="one run in this process, its result to standard output")
    options = parser.parse_args()
    if options.table:
        write_between(PAGE, BEGIN, END, tables(read_runs(options.out)))
        write_between(PAGE, BESIDE, END_BESIDE, rival_tables(read_runs(options.out)))
    elif options.one:
        print(json.dumps(measure(options.runs[0], options.more)))
    else:
        given = ["--one", "--more", str(options.more)]
        for folder in options.runs:
            found = run_apart("benchmarks.fidelity", [*given, "--runs", str(folder)], options.out)
            if found is not None:
                print(in_short(found), flush=True)


# -- one run ------------------------------------------------------------------------------------------


def measure(folder: Path, more: int = 0) -> dict[str, Any]:
    """Everything that is told of a run, for the results file; ``more`` graphs are generated for it."""
    content, _, explainer = opened(folder)
    explainer.real.sample()
    with single_thread(), one_thread():
        generated, scores = generated_of(folder, explainer)
        begin = time.process_time()
        if more:
            further = drawn_anew(folder, more, explainer.seed.child("goes by", "more"))
            both = [scores, explainer.adapter.score(further)]
            scores, generated = Scores.cat(both, [0, len(generated)]), GraphBatch.cat([generated, further])
        drawing = time.process_time() - begin
        test, most = unseen(explainer.real, explainer.adapter), min(len(scores), STUDIED_PLACES)
        seed = explainer.seed.child("goes by")
        begin, used = time.perf_counter(), time.process_time()
        found = find_with_effects(generated, scores, explainer.adapter, _bank_of(folder, explainer), seed).goes_by
        seconds = {"seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - used}
        tested = fidelity(found, *test, seed)
        train = explainer.real.train
        floor = found_on(train, learned_from(explainer.real, explainer.train_scores, most), *test, seed)
        noise = None
        if generated.tables or generated.edge_tables:
            graphs = control_sets(generated, train, seed.child("controls"))[COLUMN_NOISE]
            noise = found_on(graphs, explainer.adapter.score(graphs), *test, seed)
        others = beside(found, (generated, scores), test, seed)
    return {
        "dataset": content["dataset"],
        "seed": content["seed"],
        "graphs": len(generated),
        "drawing_cpu_seconds": round(drawing, 2),
        "generated": {"found_on": most, **{name: round(each, 2) for name, each in seconds.items()}, **asdict(tested)},
        "floor": None if floor is None else asdict(floor),
        COLUMN_NOISE: None if noise is None else asdict(noise),
        "others": others,
        "machine": machine(),
        "commit": commit(),
    }


def opened(folder: Path, work: Path | None = None) -> tuple[dict[str, Any], RunSettings, Explainer]:
    """What a run folder notes, its settings, and its explainer, in the folder ``work`` or in none.

    It is one of ``dignn explain``, or one of ``dignn benchmark known``.
    """
    dataset_name = str(read_json(folder / CONFIG, "dataset")["dataset"])
    name = dataset_name.removeprefix(KNOWN)
    if dataset_name.startswith(KNOWN) and name in KNOWN_MODELS:
        content = read_json(folder / CONFIG, "explainer", "preset", "seed", "config")
        config = restored(type(settings_of(content["explainer"], content["preset"])), content["config"])
        dataset = KNOWN_MODELS[name].dataset(content["seed"])
        model = OwnModel(KNOWN_MODELS[name].model(dataset.schema))
        subject = Subject(model, dataset.data, dataset.schema, {"dataset": dataset.name}, sizes=dataset.sizes)
    else:
        content, config = noted(folder)
        subject = subject_of(folder, content, Progress(), data=None, model=None, trust=False, download=False)
    explainer = subject.explainer(content["explainer"], config, content["seed"], work, content["preset"], Progress())
    return content, config, explainer


def generated_of(folder: Path, explainer: Explainer) -> tuple[GraphBatch, Scores]:
    """The valid graphs of a run, and what the model says of them."""
    graphs = GraphBatch.load(folder / CANDIDATES)
    graphs = graphs[check_validity(graphs).valid]
    return graphs, explainer.adapter.score(graphs)


def drawn_anew(folder: Path, number: int, seed: Seed) -> GraphBatch:
    """Valid ones of so many further graphs of the generators of a run, not refined; the folder stays as it is."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        _, config, explainer = opened(folder, Path(copy))
        explainer.fit().learn_features()
        structure = STRUCTURE_GENERATORS[config.structure].build(config)
        structure.load(Path(copy) / STRUCTURE, explainer.schema)
        made = structure.sample(explainer.real.like(number), seed=seed.child("structure"))
        made = explainer.bank.fill(made, seed=seed.child("features"))
    return made[check_validity(made).valid]


def _bank_of(folder: Path, explainer: Explainer) -> FeatureBank | None:
    """The generators of features of a run; None where none has learned."""
    there = (folder / FEATURES).exists()
    return explainer.bank.load(folder / FEATURES) if there else None


if __name__ == "__main__":
    main()
