"""Measures how well scorecards and rules give a model's answers on real held-out graphs.

    python -m benchmarks.fidelity --runs runs/dblp runs/planted    # run folders; they stay as they are
    python -m benchmarks.fidelity --runs runs/dblp --more 1536     # with so many more graphs of the same generators
    python -m benchmarks.fidelity --table                               # writes the tables into docs/fidelity.md

They are found on a run's generated graphs; beside them the floor, found on as many places of real training graphs, and
controls: found on generated structures with noise in every column, a decision tree on the same predicates, and who
always gives one class. Every run is one line of the results file; of a data set, a seed and a number of graphs the last
one counts.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from sklearn.tree import DecisionTreeClassifier

from benchmarks.tables import markdown, measured_on, read_runs, run_apart, write_between
from dignn.cli.rebuild import noted, subject_of
from dignn.core.code_version import commit
from dignn.core.machine import machine
from dignn.core.progress import Progress
from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.explainers.base import CANDIDATES, Explainer
from dignn.explainers.methods.dignnexplainer.explainer import STRUCTURE
from dignn.goes_by.agreement import balanced_agreement
from dignn.goes_by.fidelity import TOLD_TERMS, fidelity
from dignn.goes_by.finding import STUDIED_PLACES, find
from dignn.goes_by.phrases import phrase, words_of
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import truth
from dignn.goes_by.scorecards import MOST_TERMS
from dignn.goes_by.screening import screened
from dignn.graphs.batch import GraphBatch, spread
from dignn.graphs.validity import check_validity
from dignn.metrics.controls import control_sets
from dignn.metrics.judging import COLUMN_NOISE
from dignn.model.scores import Scores
from dignn.sampling.division import is_learned
from dignn.structure.registry import STRUCTURE_GENERATORS

RESULTS, PAGE = Path("docs/benchmarks/fidelity.jsonl"), Path("docs/fidelity.md")
BEGIN, END = "<!-- fidelity: written by python -m benchmarks.fidelity --table -->", "<!-- end of fidelity -->"
# What is to be reached with no more than twelve terms for each class.
GOALS = {
    "planted": 0.95,
    "dblp": 0.84,
    "ba-shapes": 0.92,
    "tree-cycle": 0.92,
    "tree-grids": 0.93,
    "ba-3motif": 0.97,
    "mutag": 0.88,
    "imdb": 0.53,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", nargs="+", type=Path, default=[], metavar="FOLDER")
    parser.add_argument("--out", type=Path, default=RESULTS, help="results file, one JSON object per line")
    parser.add_argument("--more", type=int, default=0, help="graphs that are generated beside those of the run")
    parser.add_argument("--words", action="store_true", help="show scorecards and rules in words, and keep nothing")
    parser.add_argument("--table", action="store_true", help=f"write the tables into {PAGE}, and stop")
    parser.add_argument("--one", action="store_true", help="one run in this process, its result to standard output")
    options = parser.parse_args()
    if options.table:
        write_between(PAGE, BEGIN, END, tables(read_runs(options.out)))
    elif options.words:
        for folder in options.runs:
            print(in_words(folder))
    elif options.one:
        print(json.dumps(measure(options.runs[0], options.more)))
    else:
        given = ["--one", "--more", str(options.more)]
        for folder in options.runs:
            found = run_apart("benchmarks.fidelity", [*given, "--runs", str(folder)], options.out)
            if found is not None:
                print(" | ".join(_row(found)), flush=True)


# -- one run ------------------------------------------------------------------------------------------


def measure(folder: Path, more: int = 0) -> dict[str, Any]:
    """Everything that is told of a run, for the results file; ``more`` graphs are generated for it."""
    explainer, content = rebuilt(folder)
    with single_thread():
        generated, scores = generated_of(folder, explainer)
        begin = time.process_time()
        if more:
            further = drawn_anew(folder, more, explainer.seed.child("goes by", "more"))
            both = [scores, explainer.adapter.score(further)]
            scores, generated = Scores.cat(both, [0, len(generated)]), GraphBatch.cat([generated, further])
        drawing = time.process_time() - begin
        test, test_scores = unseen(explainer)
        train, train_scores = explainer.real.train, explainer.train_scores
        train_scores = _as_many(train_scores, scores)
        seed = explainer.seed.child("goes by")
        sets = {"generated": (generated, scores), "floor": (train, train_scores)}
        told = {name: _found_on(*graphs, test, test_scores, seed) for name, graphs in sets.items()}
        told[COLUMN_NOISE] = None
        if generated.tables or generated.edge_tables:
            noise = control_sets(generated, train, seed.child("controls"))[COLUMN_NOISE]
            told[COLUMN_NOISE] = _found_on(noise, explainer.adapter.score(noise), test, test_scores, seed)
        tree = _tree(generated, scores, test, test_scores, seed)
    return {
        "dataset": content["dataset"],
        "seed": content["seed"],
        "graphs": len(generated),
        "drawing_cpu_seconds": round(drawing, 2),
        **told,
        "tree": tree,
        "machine": machine(),
        "commit": commit(),
    }


def rebuilt(folder: Path) -> tuple[Explainer, dict[str, Any]]:
    """The explainer of a run folder with its real graphs, without the folder."""
    content, config = noted(folder)
    subject = subject_of(folder, content, Progress(), data=None, model=None, trust=False, download=False)
    explainer = subject.explainer(content["explainer"], config, content["seed"], None, content["preset"], Progress())
    explainer.real.sample()
    return explainer, content


def generated_of(folder: Path, explainer: Explainer) -> tuple[GraphBatch, Scores]:
    """The valid graphs of a run, and what the model says of them."""
    graphs = GraphBatch.load(folder / CANDIDATES)
    graphs = graphs[check_validity(graphs).valid]
    return graphs, explainer.adapter.score(graphs)


def drawn_anew(folder: Path, number: int, seed: Seed) -> GraphBatch:
    """Valid ones of so many further graphs of the generators of a run, not refined; the folder stays as it is."""
    content, config = noted(folder)
    subject = subject_of(folder, content, Progress(), data=None, model=None, trust=False, download=False)
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        chosen = content["explainer"], config, content["seed"], Path(copy), content["preset"], Progress()
        explainer = subject.explainer(*chosen).fit()
        explainer.learn_features()
        structure = STRUCTURE_GENERATORS[config.structure].build(config)
        structure.load(Path(copy) / STRUCTURE, explainer.schema)
        made = structure.sample(explainer.real.like(number), seed=seed.child("structure"))
        made = explainer.bank.fill(made, seed=seed.child("features"))
    return made[check_validity(made).valid]


def unseen(explainer: Explainer) -> tuple[GraphBatch, Scores]:
    """Held-out graphs, and what the model says of the things in them that generators have not learned from."""
    graphs = explainer.real.held_out
    scores = explainer.adapter.score(graphs)
    return graphs, scores[~is_learned(graphs, scores.graph, scores.node, explainer.real.learned_rows)]


def _as_many(scores: Scores, others: Scores) -> Scores:
    return scores[torch.tensor(spread(len(scores), min(len(others), STUDIED_PLACES)), dtype=torch.long)]


def _found_on(
    graphs: GraphBatch, scores: Scores, test: GraphBatch, test_scores: Scores, seed: Seed
) -> dict[str, Any] | None:
    """What is found on graphs, tested on others; None where the model says the same of all graphs."""
    if len(scores.predicted.unique()) < 2:
        return None
    begin, used = time.perf_counter(), time.process_time()
    found = find(graphs, scores, seed)
    seconds = {"seconds": round(time.perf_counter() - begin, 2), "cpu_seconds": round(time.process_time() - used, 2)}
    return {"found_on": min(len(scores), STUDIED_PLACES), **seconds, **asdict(fidelity(found, test, test_scores, seed))}


def _tree(graphs: GraphBatch, scores: Scores, test: GraphBatch, test_scores: Scores, seed: Seed) -> dict[str, Any]:
    """A decision tree on the same predicates, with as many leaves as scorecards may have terms."""
    scores = scores[torch.tensor(spread(len(scores), STUDIED_PLACES), dtype=torch.long)]
    number, answers = scores.logits.size(1), scores.predicted.numpy()
    known = screened(Places.of(graphs, scores), answers, number)
    leaves = MOST_TERMS * number
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, class_weight="balanced", random_state=0)
    given = tree.fit(known.true, answers).predict(truth(Places.of(test, test_scores), known.predicates))
    said = test_scores.predicted.numpy()
    agreement = balanced_agreement(said, given, test_scores.graph.numpy(), number, seed.child("fidelity"))
    return {"leaves": leaves, "predicates": len(known.predicates), "agreement": asdict(agreement)}


def in_words(folder: Path) -> str:
    """The scorecards and rules of a run, to read."""
    explainer, _ = rebuilt(folder)
    with single_thread():
        found = find(*generated_of(folder, explainer), explainer.seed.child("goes by"))
    lines = [f"# {folder}"]
    for name, card, rules in zip(explainer.schema.classes, found.scorecards.cards, found.rules.by_class, strict=True):
        lines.append(f"{name}: {card.base:+.2f}")
        lines += [f"  {term.points:+.2f}  {phrase(term.predicate, explainer.schema)}" for term in card.terms]
        lines += [f"  if {words_of(rule.predicates, explainer.schema)} ({rule.precision:.2f})" for rule in rules]
    return "\n".join(lines)


# -- tables -------------------------------------------------------------------------------------------


def tables(runs: list[dict[str, Any]]) -> list[str]:
    """Scorecards by number of terms, then what stands beside them, then single rules; and where it was measured."""
    last = {(run["dataset"], run["seed"], run["graphs"]): run for run in runs}
    several = [last[key] for key in sorted(last, key=lambda key: (list(GOALS).index(key[0]), *key[1:]))]
    if not several:
        return ["No runs yet."]
    commits = sorted({str(run["commit"]) for run in several})
    return [
        markdown(_HEAD, [_row(run) for run in several]),
        markdown(_FRONTIER_HEAD, [_frontier(run) for run in several]),
        markdown(_RULES_HEAD, [_rules(run) for run in several]),
        f"{measured_on(several)} By the code of {', '.join(commits)}.",
    ]


_HEAD = (
    *("data set", "seed", "graphs", "goal", "scorecard", "terms", "AUC", "rules"),
    *("floor", "floor, rules", "noise", "tree", "one class", "CPU s"),
)
_FRONTIER_HEAD = ("data set", "seed", "graphs", "found on", *(f"{terms} terms" for terms in TOLD_TERMS), "tested on")
_RULES_HEAD = ("data set", "seed", "graphs", "rules", "precision", "recall")


def _row(run: dict[str, Any]) -> list[str]:
    own, floor, noise = run["generated"], run["floor"], run[COLUMN_NOISE]
    return [
        run["dataset"],
        str(run["seed"]),
        str(run["graphs"]),
        f"{GOALS[run['dataset']]:.2f}" if run["dataset"] in GOALS else "-",
        _with_interval(own["scorecard"]),
        str(own["terms"]),
        f"{own['auc']['value']:.3f}",
        _with_interval(own["rules"]),
        _value(floor, "scorecard"),
        _value(floor, "rules"),
        _value(noise, "scorecard"),
        f"{run['tree']['agreement']['value']:.3f}",
        f"{own['majority']:.3f}",
        f"{own['cpu_seconds']:.1f}",
    ]


def _value(told: dict[str, Any] | None, name: str) -> str:
    return "-" if told is None else f"{told[name]['value']:.3f}"


def _with_interval(found: dict[str, Any]) -> str:
    low, high = found["interval"]
    return f"{found['value']:.3f} ({low:.3f} to {high:.3f})"


def _frontier(run: dict[str, Any]) -> list[str]:
    own = run["generated"]
    shown = [f"{found['value']:.3f}" for found in own["frontier"].values()]
    return [run["dataset"], str(run["seed"]), str(run["graphs"]), str(own["found_on"]), *shown, str(own["places"])]


def _rules(run: dict[str, Any]) -> list[str]:
    rules = [rule for of_class in run["generated"]["by_rule"] for rule in of_class]
    parts = [[rule[name]["value"] for rule in rules if rule[name] is not None] for name in ("precision", "recall")]
    shown = [f"{mean(values):.3f} ({min(values):.3f} to {max(values):.3f})" if values else "-" for values in parts]
    return [run["dataset"], str(run["seed"]), str(run["graphs"]), str(len(rules)), *shown]


if __name__ == "__main__":
    main()
