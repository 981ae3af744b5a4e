"""All metrics of a run in the shape of ``metrics.json``: columns of a table that rest on as many graphs each.

``paper`` and ``sound`` are of random candidates before refinement. They stand beside ``candidates``, all candidates
from which explanations are chosen, beside their ``floor``, what real graphs score, and beside controls, what graphs
score that are wrong in one known way. In every column but the floor the run's own rule chooses what stands for a class.
A value that does not apply is null.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch

from dignn.core.progress import Tick
from dignn.core.seeds import Seed
from dignn.graphs.batch import GraphBatch, spread
from dignn.graphs.motif import GroundTruth
from dignn.graphs.plain_graph import plain_graphs
from dignn.graphs.validity import Validity, check_validity
from dignn.metrics.controls import CONTROLS, control_sets
from dignn.metrics.counting import some
from dignn.metrics.details import by_rule, details
from dignn.metrics.feature_rows import RealRows
from dignn.metrics.measured import (
    PAPER_GRAPHS,
    TRUTH_GRAPHS,
    Compared,
    MeasuredGraphs,
    Reality,
    Structures,
    measured_graphs,
    names_of,
)
from dignn.metrics.measures.feature_errors import foreseen_tests
from dignn.metrics.measures.graph_c2st import foreseen_graph_tests
from dignn.metrics.metric import Metric, columns
from dignn.metrics.told_apart import ToldApart, TwoSamples
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from dignn.sampling.division import RealGraphs, is_learned
from dignn.selection.highest import Choice
from dignn.selection.members import Members, all_members
from dignn.selection.motifs.mining import Parts, graph_classes
from dignn.selection.ranking import Ranker, Ranking

# Graphs that every column of the table rests on, and held-out graphs that they are compared with, at most.
COMPARED = 300
# Names of columns beside those of controls: our graphs, and real ones.
OURS, FLOOR = "ours", "floor"


def drawn(graphs: GraphBatch, seed: Seed, most: int | None = None) -> GraphBatch:
    """At most ``most`` graphs, at random; by default as many as every column of the table rests on."""
    return graphs[some(len(graphs), COMPARED if most is None else most, seed.numpy()).tolist()]


@dataclass(frozen=True, eq=False)
class Measuring:
    """Measures a run.

    Args:
        adapter: asks the model.
        real: the real graphs, divided.
        train_scores: what the model says of those to learn from.
        ranker: chooses explanations, for every column of the table by the same rule.
        truth: what was planted, where that is known.
        seed: of everything that is drawn.
        fidelity: ``sound.fidelity`` of the candidates (:data:`OURS`), of real graphs (:data:`FLOOR`) and of controls,
            as far as it is known.
    """

    adapter: GNNAdapter
    real: RealGraphs
    train_scores: Scores
    ranker: Ranker
    truth: GroundTruth | None
    seed: Seed
    fidelity: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def measure(
        self, ranking: Ranking, unrefined: GraphBatch, validity: Validity, fresh: RealGraphs | None, tick: Tick
    ) -> dict[str, Any]:
        """The content of ``metrics.json``.

        Args:
            ranking: of all valid candidates.
            unrefined: some random valid candidates before refinement.
            validity: of all candidates.
            fresh: real graphs that nothing has seen, of data of the same kind.
            tick: progress.
        """
        counts = validity.counts()
        made = counts["valid"] / counts["generated"] if counts["generated"] else None
        few = drawn(unrefined, self.seed.child("compared"), self.number)
        controls = control_sets(few, self.real.train, self.seed.child("controls")) if len(few) else {}
        ours, shown = self.compared(few), self.compared(ranking.candidates)
        others = {
            name: self.compared(graphs, structure=not CONTROLS[name].features, features=CONTROLS[name].features)
            for name, graphs in controls.items()
        }
        unseen = None if fresh is None else self._fresh(fresh, few, ours)
        tests = foreseen([ours, shown, self._floor_compared, *others.values()], self.reality)
        with ToldApart(tests if unseen is None else tests | foreseen(unseen[1:], unseen[0])) as told:
            reality = replace(self.reality, told=told)
            mine = self.ranked(few, ours, valid=made)
            best = self.measured(ranking, shown, valid=made)
            sets = {
                OURS: of_set(mine.with_fidelity(self.fidelity.get(OURS)), reality),
                "shown": of_set(best.with_fidelity(self.fidelity.get(OURS)), reality),
                FLOOR: of_floor(self.floor[0].with_fidelity(self.fidelity.get(FLOOR)), self.floor[1], reality),
            }
            for name, graphs in controls.items():
                valid = float(check_validity(graphs).valid.double().mean())
                wrong = self.ranked(graphs, others[name], valid=valid).with_fidelity(self.fidelity.get(name))
                sets[name] = of_set(wrong, reality)
            if unseen is not None:
                new, own, floor = replace(unseen[0], told=told), unseen[1].rows or {}, unseen[2].rows or {}
                sets["fresh"] = of_set(replace(mine, rows=own), new)
                sets["fresh floor"] = of_floor(replace(self.floor[0], rows=floor), self.floor[1], new)
            selection = by_rule(ranking, reality)
            further = {"compared": self.number, **details(ranking, best, reality, self.real)}
            table = columns(sets, tick)
        if unseen is not None:
            table[FLOOR]["fresh"] = table["fresh floor"]["sound"]
        return {
            **table[OURS],
            "candidates": table["shown"],
            "floor": table[FLOOR],
            "control": {name: table[name] for name in controls},
            "fresh": None if unseen is None else table["fresh"]["sound"],
            "selection": selection,
            "details": further,
        }

    # -- what graphs are measured against -------------------------------------------------------------

    @cached_property
    def number(self) -> int:
        """Graphs that every column rests on: no more than there are real ones for the floor."""
        return min(COMPARED, len(self.real.train))

    @cached_property
    def rows(self) -> RealRows:
        """Real rows of features."""
        learned = self.real.learned_rows
        return RealRows(self.real.train, self.real.held_out, learned, learned)

    @cached_property
    def reality(self) -> Reality:
        """The held-out graphs."""
        graphs = GraphBatch.cat([self.real.train, self.real.held_out])
        scores = self.adapter.score(self.real.held_out)
        both = Scores.cat([self.train_scores, scores], [0, len(self.real.train)])
        return self._reality(self.rows, scores, all_members(both, graphs, seed=self.seed))

    def _reality(self, rows: RealRows, scores: Scores, members: Sequence[Members]) -> Reality:
        """Held-out graphs of which the model says ``scores``."""
        held_out, train = rows.held_out, self.real.train
        new = ~is_learned(held_out, scores.graph, scores.node, rows.held_out_learned)
        parts = Parts(held_out, seed=self.seed.child("motifs"))
        return Reality(
            seed=self.seed.child("metrics"),
            held_out=plain_graphs(held_out[spread(len(held_out), self.number)]),
            train=plain_graphs(train[spread(len(train), PAPER_GRAPHS)]),
            train_names=frozenset(names_of(train)),
            motifs=parts.motifs(self.truth),
            class_typed=parts.class_typed(),
            members=members,
            new_members=all_members(scores[new], held_out, seed=self.seed),
            truth=self.truth,
        )

    # -- columns --------------------------------------------------------------------------------------

    def compared(self, graphs: GraphBatch, *, structure: bool = True, features: bool = True) -> Compared:
        """What of some graphs is compared with real graphs: structures and features, where these are their own."""
        few = graphs[spread(len(graphs), self.number)] if structure else None
        rows = self.rows.compared_with(graphs) if features else None
        return Compared(None if few is None else Structures(few), rows)

    def ranked(self, graphs: GraphBatch, compared: Compared, *, valid: float | None = None) -> MeasuredGraphs:
        """Graphs of which the run's rule chooses what stands for each class."""
        return self.measured(self.ranker.rank(graphs, self.adapter.score(graphs)), compared, valid=valid)

    def measured(self, ranking: Ranking, compared: Compared, *, valid: float | None = None) -> MeasuredGraphs:
        """Graphs that were ranked.

        Args:
            ranking: the graphs.
            compared: what of them is compared with real graphs.
            valid: share of those made that are valid.
        """
        rows = self.rows.class_rows(ranking.candidates) if compared.rows is not None else ()
        return measured_graphs(
            ranking.candidates, ranking.scores, ranking.chosen, compared=compared, valid=valid, class_rows=rows
        )

    @cached_property
    def floor(self) -> tuple[MeasuredGraphs, MeasuredGraphs]:
        """Random training graphs, of which nobody chose what stands for a class, and held-out graphs."""
        train, held_out = self._floor_graphs, self.real.held_out
        scores = self.adapter.score(train)
        few = held_out[spread(len(held_out), self.number)]
        return measured_graphs(
            train,
            scores,
            random_members(train, scores, self.seed.child("floor")),
            compared=self._floor_compared,
            valid=float(check_validity(train).valid.double().mean()),
            shown=PAPER_GRAPHS,
        ), MeasuredGraphs(
            has=frozenset({"graphs", "structure", "features"}),
            plain=plain_graphs(few),
            names=names_of(few),
            best=[plain_graphs(held_out[spread(len(held_out), PAPER_GRAPHS)])],
            class_rows=self.rows.class_rows(held_out),
        )

    @cached_property
    def _floor_graphs(self) -> GraphBatch:
        return drawn(self.real.train, self.seed.child("floor"), self.number)

    @cached_property
    def _floor_compared(self) -> Compared:
        graphs = self._floor_graphs
        return Compared(Structures(graphs), self.rows.compared_with(graphs, learned=True))

    def _fresh(self, fresh: RealGraphs, graphs: GraphBatch, ours: Compared) -> tuple[Reality, Compared, Compared]:
        """Data that nothing has seen, and what of our graphs, and of training graphs, is compared with it."""
        unseen = {name: torch.zeros_like(learned) for name, learned in fresh.learned_rows.items()}
        rows = RealRows(self.real.train, fresh.held_out, self.real.learned_rows, unseen)
        reality = self._reality(rows, self.adapter.score(fresh.held_out), self.reality.members)
        floor = rows.compared_with(self._floor_graphs, learned=True)
        return (
            reality,
            ours._replace(rows=rows.compared_with(graphs)),
            self._floor_compared._replace(rows=floor),
        )


def foreseen(compared: Iterable[Compared], reality: Reality) -> dict[Hashable, TwoSamples]:
    """Which classifier tests metrics will ask for."""
    several = list(compared)
    tests = foreseen_tests([each.rows for each in several if each.rows is not None], reality)
    return tests | foreseen_graph_tests([each.structures.plain for each in several if each.structures], reality)


def of_set(measured: MeasuredGraphs, reality: Reality) -> Callable[[Metric], Any]:
    """The values of metrics of a set of graphs."""
    return lambda metric: metric.of(measured, reality)


def of_floor(train: MeasuredGraphs, held_out: MeasuredGraphs, reality: Reality) -> Callable[[Metric], Any]:
    """The same of real graphs: training graphs against held-out ones, or the other way round."""
    sides = {"held-out": train, "training": held_out}
    return lambda metric: metric.of(sides[metric.against], reality)


def random_members(graphs: GraphBatch, scores: Scores, seed: Seed) -> list[list[Choice]]:
    """Per class at most 50 random graphs of it, all of whose target nodes are of the class where there are ten such."""
    whole = graph_classes(graphs)[scores.graph]
    own = scores.labels(graphs)
    chosen = []
    for number in range(graphs.schema.num_classes):
        rows = ((own == number) & (whole == number)).nonzero()[:, 0]
        rows = rows if len(rows) >= TRUTH_GRAPHS else (own == number).nonzero()[:, 0]
        of_graph = {int(scores.graph[row]): int(row) for row in rows}
        order = seed.child(number).numpy().permutation(list(of_graph))[:PAPER_GRAPHS].tolist()
        chosen.append([Choice(graph, of_graph[graph]) for graph in order])
    return chosen
