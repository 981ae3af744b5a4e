"""What a run's model goes by: found on its candidates, tested on held-out real graphs, and kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import torch

from dignn.core.background import Background
from dignn.core.files import read_json, write_json
from dignn.core.one_thread import one_thread
from dignn.core.processes import map_processes
from dignn.core.progress import Tick, part_of
from dignn.core.seeds import Seed
from dignn.core.threads import cores
from dignn.explanations.explanation_files import CONTRASTS
from dignn.features.bank import FeatureBank
from dignn.goes_by.boundary import undecided
from dignn.goes_by.counterfactuals import counterfactuals
from dignn.goes_by.fidelity import Fidelity, fidelity
from dignn.goes_by.finding import STUDIED_PLACES, find
from dignn.goes_by.finding_causes import find_with_effects
from dignn.goes_by.telling import terms_told, tested_told
from dignn.goes_by.telling_contrasts import contrasts_told
from dignn.graphs.batch import GraphBatch, spread
from dignn.graphs.schema import Schema
from dignn.metrics.controls import control_set
from dignn.metrics.judging import COLUMN_NOISE, RANDOM_TREES
from dignn.metrics.run import FLOOR, OURS
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from dignn.sampling.division import RealGraphs, is_learned
from dignn.selection.members import Members

STUDY_FILE = "goes_by.json"
# Columns of all tables together from which on processes are worth their start.
_WORTH_COLUMNS = 500


@dataclass(frozen=True, eq=False)
class Study:
    """What a model goes by.

    Args:
        told: what stands in ``explanations.json``: ``goes_by``, ``studied`` and what else was found.
        fidelity: by column of ``metrics.json`` the value of ``sound.fidelity`` there.
        contrasts: the graphs of counterfactual pairs and those between classes, by number in ``told``.
    """

    told: dict[str, Any]
    fidelity: dict[str, dict[str, float]]
    contrasts: GraphBatch | None = None

    def save(self, path: Path) -> None:
        """Writes the file, and before it the graphs beside it."""
        if self.contrasts is not None:
            self.contrasts.save(path.with_name(CONTRASTS))
        write_json(path, {"told": self.told, "fidelity": self.fidelity})

    @classmethod
    def kept_in(cls, folder: Path) -> bool:
        """Whether a run folder has all of it."""
        if not (folder / STUDY_FILE).exists():
            return False
        told = read_json(folder / STUDY_FILE, "told")["told"]
        return not (told.get("counterfactuals") or told.get("undecided")) or (folder / CONTRASTS).exists()

    @classmethod
    def load(cls, path: Path) -> Study:
        """Reads what :meth:`save` wrote."""
        found, graphs = read_json(path, "told", "fidelity"), path.with_name(CONTRASTS)
        return cls(found["told"], found["fidelity"], GraphBatch.load(graphs) if graphs.exists() else None)


@one_thread()
def study(
    graphs: GraphBatch,
    scores: Scores,
    adapter: GNNAdapter,
    bank: FeatureBank | None,
    *,
    real: RealGraphs,
    train_scores: Scores,
    members: Sequence[Members],
    seed: Seed,
    tick: Tick,
) -> Study:
    """Finds what a model goes by on generated graphs, tries its effects, and tests it on held-out real ones.

    Beside it stand a floor, what is found on as many places of real training graphs, and a control, what is found on
    generated structures with noise in every column, or on random trees where nothing carries columns.

    Args:
        graphs, scores: valid candidates, and what the model says of them.
        adapter: asks the model.
        bank: generators of features that have learned; None where none has.
        real, train_scores: real graphs, and what the model says of those to learn from.
        members: real members of each class among them.
        seed: of everything that is drawn.
        tick: progress.
    """
    if len(scores.predicted.unique()) < 2:
        return Study({}, {})
    test = unseen(real, adapter)
    noise = COLUMN_NOISE if graphs.tables or graphs.edge_tables else RANDOM_TREES
    wrong = control_set(noise, graphs, real.train, seed.child("controls"))
    others = {
        FLOOR: (real.train, learned_from(real, train_scores, min(len(scores), STUDIED_PLACES))),
        noise: (wrong, adapter.score(wrong, counted=False)),
    }
    with _Beside([(*given, *test, seed) for given in others.values()], graphs.schema) as beside:
        causes = find_with_effects(graphs, scores, adapter, bank, seed, part_of(tick, 0, 2))
        found = causes.goes_by
        tested = fidelity(found, *test, seed) if len(test[1]) else None
        pairs, between, contrasts = _contrasts(graphs, scores, members, adapter, bank, seed)
        several = {OURS: tested, **dict(zip(others, beside(), strict=True))}
        figures = {name: None if each is None else _figures(each) for name, each in several.items()}
    tick(2, 2)
    told: dict[str, Any] = {
        "goes_by": terms_told(causes, graphs.schema),
        "counterfactuals": pairs,
        "undecided": between,
    }
    if tested is not None:
        by_others = {"floor": figures[FLOOR], "noise": figures[noise]}
        told["studied"] = tested_told(found, tested, graphs.schema) | by_others
    kept = {name: value for name, value in figures.items() if value is not None}
    return Study(json.loads(json.dumps(told)), kept, contrasts)  # as a file gives it back


def _contrasts(
    graphs: GraphBatch,
    scores: Scores,
    members: Sequence[Members],
    adapter: GNNAdapter,
    bank: FeatureBank | None,
    seed: Seed,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], GraphBatch | None]:
    """What would change the model's mind, and what it cannot decide; nothing where no generator could edit graphs."""
    if bank is None and (graphs.tables or graphs.edge_tables):
        return [], [], None
    own = seed.child("contrasts")
    pairs = counterfactuals(graphs, scores, members, adapter, bank, own)
    between = undecided(graphs, scores, members, own, pairs=pairs, adapter=adapter)
    return contrasts_told(pairs, between, graphs.schema)


# -- real graphs --------------------------------------------------------------------------------------


def unseen(real: RealGraphs, adapter: GNNAdapter) -> tuple[GraphBatch, Scores]:
    """Held-out graphs, and what the model says of the things in them that generators have not learned from."""
    graphs = real.held_out
    scores = adapter.score(graphs, counted=False)
    return graphs, scores[~is_learned(graphs, scores.graph, scores.node, real.learned_rows)]


def learned_from(real: RealGraphs, train_scores: Scores, most: int) -> Scores:
    """Of what the model says of training graphs that of things to learn from, of so many at most.

    Fires of training graphs reach held-out things too, on which what is found is tested.
    """
    known = is_learned(real.train, train_scores.graph, train_scores.node, real.learned_rows)
    scores = train_scores[known]
    return scores[torch.tensor(spread(len(scores), most), dtype=torch.long)]


# -- beside -------------------------------------------------------------------------------------------


class _Beside:
    """What is found on other graphs, as a context in which it is found beside other work where that takes long.

    Args:
        jobs: arguments of :func:`found_on`.
        schema: of the graphs.
    """

    def __init__(self, jobs: Sequence[tuple[Any, ...]], schema: Schema) -> None:
        self._jobs = jobs
        wide = sum(spec.width for spec in schema.features) >= _WORTH_COLUMNS
        work = partial(map_processes, found_on, jobs, apart=True)
        self._work = Background(work) if wide and cores() > 1 else None

    def __enter__(self) -> Self:
        if self._work is not None:
            self._work.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._work is not None:
            self._work.__exit__(*error)

    def __call__(self) -> list[Fidelity | None]:
        """Waits for it, and takes part in it meanwhile."""
        return [found_on(*job) for job in self._jobs] if self._work is None else self._work.result()


@one_thread()
def found_on(graphs: GraphBatch, scores: Scores, test: GraphBatch, test_scores: Scores, seed: Seed) -> Fidelity | None:
    """How what is found on graphs does on others; None where there is nothing to find or to test on."""
    if len(scores.predicted.unique()) < 2 or not len(test_scores):
        return None
    return fidelity(find(graphs, scores, seed), test, test_scores, seed)


def _figures(tested: Fidelity) -> dict[str, float]:
    """``sound.fidelity``"""
    return {"scorecard": tested.scorecard.value, "rules": tested.rules.value, "auc": tested.auc.value}
