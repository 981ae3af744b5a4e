"""All metrics of a run in the shape of ``metrics.json``: columns of a table that rest on as many graphs each.

``paper`` and ``sound`` are of random candidates before refinement. They stand beside ``candidates``, all candidates
from which explanations are chosen, beside their ``floor``, what real graphs score, and beside controls, what graphs
score that are wrong in one known way. In every column but the floor the run's own rule chooses what stands for a class.
A value that does not apply is null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from dignn.metrics.feature_rows import FeatureRows, RealRows
from dignn.metrics.measured import PAPER_GRAPHS, TRUTH_GRAPHS, MeasuredGraphs, Reality, measured_graphs, names_of
from dignn.metrics.measures.feature_errors import foreseen_tests
from dignn.metrics.metric import layers
from dignn.metrics.told_apart import ToldApart
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from dignn.sampling.division import RealGraphs, is_learned
from dignn.selection.highest import Choice
from dignn.selection.members import Members, all_members
from dignn.selection.motifs.mining import Parts, graph_classes
from dignn.selection.ranking import Ranker, Ranking

# Graphs that every column of the table rests on, and held-out graphs that they are compared with, at most.
COMPARED = 300
# Parts of measuring: three columns, four controls, fresh data, the rest.
MEASURED_PARTS = 9


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
    """

    adapter: GNNAdapter
    real: RealGraphs
    train_scores: Scores
    ranker: Ranker
    truth: GroundTruth | None
    seed: Seed

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
        compared = drawn(unrefined, self.seed.child("compared"), self.number)
        controls = control_sets(compared, self.real.train, self.seed.child("controls")) if len(compared) else {}
        sets = {"ours": compared, "shown": ranking.candidates, **controls}
        bare = [name for name in controls if not CONTROLS[name].features]  # of which no features are measured
        rows = {name: {} if name in bare else self.rows.compared_with(graphs) for name, graphs in sets.items()}
        foreseen = [rows["ours"], rows["shown"], self.floor[0].rows, *rows.values()]
        with ToldApart(foreseen_tests(foreseen, self.reality)) as told:
            reality = replace(self.reality, told=told)
            ours = self.ranked(compared, valid=made, rows=rows["ours"])
            shown = self.measured(ranking, valid=made, rows=rows["shown"])
            found = column(ours, reality)
            tick(1, MEASURED_PARTS)
            found["candidates"] = column(shown, reality)
            tick(2, MEASURED_PARTS)
            found["floor"] = floor_column(*self.floor, reality)
            found["control"] = {}
            for done, (name, control) in enumerate(controls.items()):
                tick(3 + done, MEASURED_PARTS)
                found["control"][name] = column(self._control(name, control, rows[name]), reality)
            found["fresh"] = None if fresh is None else self._fresh(ours, compared, fresh, found["floor"])
            tick(MEASURED_PARTS - 1, MEASURED_PARTS)
            found["selection"] = by_rule(ranking, reality)
            found["details"] = {"compared": self.number, **details(ranking, shown, reality, self.real)}
            tick(MEASURED_PARTS, MEASURED_PARTS)
        return found

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

    def ranked(self, graphs: GraphBatch, **options: Any) -> MeasuredGraphs:
        """Graphs of which the run's rule chooses what stands for each class; options as of :meth:`measured`."""
        return self.measured(self.ranker.rank(graphs, self.adapter.score(graphs)), **options)

    def measured(
        self,
        ranking: Ranking,
        *,
        valid: float | None = None,
        structure: bool = True,
        features: bool = True,
        rows: Mapping[str, FeatureRows] | None = None,
    ) -> MeasuredGraphs:
        """Graphs that were ranked.

        Args:
            ranking: the graphs.
            valid: share of those made that are valid.
            structure, features: whether these are their own.
            rows: of their features beside real ones, where these are there already.
        """
        graphs = ranking.candidates
        return measured_graphs(
            graphs,
            ranking.scores,
            ranking.chosen,
            compared=self.number if structure else 0,
            valid=valid,
            rows=self.rows.compared_with(graphs) if features and rows is None else rows,
            class_rows=self.rows.class_rows(graphs) if features else (),
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
            compared=self.number,
            valid=float(check_validity(train).valid.double().mean()),
            shown=PAPER_GRAPHS,
            rows=self.rows.compared_with(train, learned=True),
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

    def _control(self, name: str, graphs: GraphBatch, rows: Mapping[str, FeatureRows]) -> MeasuredGraphs:
        """A control as an explainer would use it."""
        own, valid = CONTROLS[name].features, float(check_validity(graphs).valid.double().mean())
        return self.ranked(graphs, valid=valid, structure=not own, features=own, rows=rows)

    def _fresh(
        self, ours: MeasuredGraphs, graphs: GraphBatch, fresh: RealGraphs, floor: dict[str, Any]
    ) -> dict[str, Any]:
        """Our graphs against graphs of data that nothing has seen; the floor gets what training graphs score there."""
        unseen = {name: torch.zeros_like(learned) for name, learned in fresh.learned_rows.items()}
        rows = RealRows(self.real.train, fresh.held_out, self.real.learned_rows, unseen)
        reality = self._reality(rows, self.adapter.score(fresh.held_out), self.reality.members)
        train, held_out = self.floor
        train = replace(train, rows=rows.compared_with(self._floor_graphs, learned=True))
        floor["fresh"] = floor_column(train, held_out, reality)["sound"]
        return column(replace(ours, rows=rows.compared_with(graphs)), reality)["sound"]


def column(measured: MeasuredGraphs, reality: Reality) -> dict[str, Any]:
    """Both layers of a set of graphs."""
    return layers(lambda metric: metric.of(measured, reality))


def floor_column(train: MeasuredGraphs, held_out: MeasuredGraphs, reality: Reality) -> dict[str, Any]:
    """Both layers of real graphs: training graphs against held-out ones, or the other way round."""
    sides = {"held-out": train, "training": held_out}
    return layers(lambda metric: metric.of(sides[metric.against], reality))


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
