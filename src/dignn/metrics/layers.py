"""One set of graphs, generated, real or a control, as both layers measure it.

The paper layer follows the paper's formulas, so that values can be compared with its tables; the sound layer mends what
those cannot see. A value that does not apply is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from dignn.batch import PADDING, GraphBatch, spread
from dignn.data.base import GroundTruth
from dignn.gnn.adapter import Scores
from dignn.members import Members, all_members
from dignn.metrics.cosine import mean_cosine
from dignn.metrics.coverage import NUMBERS, coverage
from dignn.metrics.faithfulness import (
    class_faithfulness,
    contrast,
    ground_truth_faithfulness,
    motif_statistics,
    predictive_faithfulness,
)
from dignn.metrics.graph_c2st import graph_c2st
from dignn.metrics.graph_features import Learned
from dignn.metrics.mmd import METRICS, mmd
from dignn.metrics.structure import novelty, uniqueness
from dignn.metrics.truth import planted_truth
from dignn.motifs.sets import MotifSets
from dignn.plain import PlainGraph, plain_graphs
from dignn.runtime.seeds import Seed
from dignn.schema import Schema
from dignn.selection import Choice

# Graphs per class, and real graphs, that the paper's MMD compares; so many are chosen.
PAPER_GRAPHS = 50
# Graphs of a set that the sound MMD and the classifier compare at most.
SOUND_GRAPHS = 400
# Rows of a class of each set that the mean cosine compares at most.
COSINE_ROWS = 2000
# Nodes whose place among members is looked up at once, surest first, until one lies inside their range.
AT_ONCE = 512
# Explanations of a class in which planted truth is sought.
TRUTH_GRAPHS = 10


@dataclass(frozen=True, eq=False)
class Reality:
    """What graphs are measured against.

    Args:
        train, train_scores: real graphs that generators learned from, and what the model says of them.
        held_out, held_out_scores: real graphs that they did not learn from.
        learned: by node type, which rows generators learned from: held-out graphs have nodes that were learned, and
            training graphs nodes that were not.
        motifs: what each class has around it, from held-out graphs.
        class_typed: the same with the class of a node in its type.
        truth: what was planted, where that is known.
    """

    train: GraphBatch
    train_scores: Scores
    held_out: GraphBatch
    held_out_scores: Scores
    learned: Learned
    motifs: MotifSets
    class_typed: MotifSets
    truth: GroundTruth | None = None

    @cached_property
    def members(self) -> list[Members]:
        """Members of each class among all real graphs."""
        graphs = GraphBatch.cat([self.train, self.held_out])
        parts = (self.train_scores, self.held_out_scores)
        shift = (0, len(self.train))
        scores = Scores(
            torch.cat([part.graph + first for part, first in zip(parts, shift, strict=True)]),
            *(torch.cat([getattr(part, name) for part in parts]) for name in ("node", "logits", "embedding")),
        )
        return all_members(scores, graphs)

    @cached_property
    def new_members(self) -> list[Members]:
        """Members of each class among held-out graphs, without the nodes in them that were learned from."""
        scores = self.held_out_scores
        target = self.held_out.schema.target
        if target is not None:
            new = ~self.learned[target][self.held_out.row[scores.graph, scores.node]]
            scores = Scores(*(getattr(scores, name)[new] for name in ("graph", "node", "logits", "embedding")))
        return all_members(scores, self.held_out)


@dataclass(frozen=True, eq=False)
class Answer:
    """Graphs, what the model says of them, and which of them stand for each class, best first."""

    graphs: GraphBatch
    scores: Scores
    chosen: Sequence[Sequence[Choice]]

    def best(self, number: int | None = None, *, class_typed: bool = False) -> list[list[PlainGraph]]:
        """Per class its first graphs; ``class_typed`` puts the class that the model sees into a target node's type."""
        graphs = self._as_seen if class_typed else self.graphs
        return [
            plain_graphs(graphs[[choice.graph for choice in several[:number]]], class_typed=class_typed)
            for several in self.chosen
        ]

    @cached_property
    def _as_seen(self) -> GraphBatch:
        label = torch.full_like(self.graphs.label, PADDING)
        if self.graphs.schema.target is not None:
            label[self.scores.graph, self.scores.node] = self.scores.logits.argmax(1)
        return replace(self.graphs, label=label)


def paper_layer(answer: Answer, reality: Reality, *, shown: int = 1) -> dict[str, Any]:
    """MMD of each class's first 50 graphs from 50 training graphs, cosine, PF, and GF of the ``shown`` first graphs."""
    reference = plain_graphs(reality.train[spread(len(reality.train), PAPER_GRAPHS)])
    sets = [graphs for graphs in answer.best(PAPER_GRAPHS) if graphs]
    return {
        "mmd": {
            name: _mean([mmd(graphs, reference, metric) for graphs in sets])
            for name, metric in METRICS["paper"].items()
        },
        "cosine": class_cosine(answer.graphs, reality.train),
        "pf": predictive_faithfulness(answer.scores),
        "gf": ground_truth_faithfulness(answer.best(shown), reality.motifs, typed=False),
    }


def sound_layer(
    answer: Answer,
    reality: Reality,
    *,
    graph_yield: float | None,
    features: dict[str, Any] | None,
    structure: bool = True,
    shown: int = 1,
) -> dict[str, Any]:
    """The sound layer.

    Args:
        answer: the graphs.
        reality: what they are measured against.
        graph_yield: share of the graphs made that are valid.
        features: of :func:`~dignn.metrics.graph_features.graph_features`.
        structure: whether the structure is the answer's own; else what is measured of it is left out.
        shown: graphs of each class in which motifs are sought.
    """
    return {
        "yield": graph_yield,
        **_structure(answer.graphs, reality, structure),
        "features": features,
        **of_choice(answer, reality, shown=shown),
        "pf_in_distribution": in_distribution(answer.scores, reality.members),
    }


def of_choice(answer: Answer, reality: Reality, *, shown: int = 1) -> dict[str, Any]:
    """The part of the sound layer that depends on which graphs stand for each class."""
    truth = None if reality.truth is None else planted_truth(_truth_graphs(answer), reality.truth)
    by_class = contrast(answer.best(shown, class_typed=True), reality.class_typed)
    classes = answer.graphs.schema.classes
    return {
        "typed_gf": ground_truth_faithfulness(answer.best(shown), reality.motifs, typed=True),
        "contrast": None if reality.class_typed.common else dict(zip(classes, by_class, strict=True)),
        "coverage": _coverage(answer, reality)["mean"][str(NUMBERS[0])],
        "planted": truth and {"mean": truth["mean"], **dict(zip(classes, truth["by_class"], strict=True))},
    }


def details(answer: Answer, reality: Reality) -> dict[str, Any]:
    """What the two layers sum up: values by class, motif statistics, and distances of the explanations themselves."""
    classes = answer.graphs.schema.classes
    sets = [graphs for graphs in answer.best(PAPER_GRAPHS) if graphs]
    held_out = plain_graphs(reality.held_out[spread(len(reality.held_out), SOUND_GRAPHS)])
    covered = _coverage(answer, reality)
    return {
        "gf": dict(zip(classes, class_faithfulness(answer.best(1), reality.motifs, typed=False), strict=True)),
        "typed_gf": dict(zip(classes, class_faithfulness(answer.best(1), reality.motifs, typed=True), strict=True)),
        "motifs": motif_statistics(answer.best(1), reality.motifs),
        "different_motifs": _different_motifs(answer, reality),
        "coverage": {"mean": covered["mean"], **dict(zip(classes, covered["by_class"], strict=True))},
        "distinct": {name: len(several[:PAPER_GRAPHS]) for name, several in zip(classes, answer.chosen, strict=True)},
        "mmd_of_explanations": {
            name: _mean([mmd(graphs, held_out, metric) for graphs in sets]) for name, metric in METRICS["sound"].items()
        },
        "members": {name: len(members) for name, members in zip(classes, reality.members, strict=True)},
    }


def _different_motifs(answer: Answer, reality: Reality) -> dict[str, Any]:
    """GF where each kind of motif counts once, however often it occurs, and how many kinds each class has."""
    kinds = reality.motifs.different()
    return {
        "number": [len(motifs) for motifs in kinds.by_class],
        "gf": ground_truth_faithfulness(answer.best(1), kinds, typed=False),
        "typed_gf": ground_truth_faithfulness(answer.best(1), kinds, typed=True),
    }


def in_distribution(scores: Scores, members: Sequence[Members]) -> float | None:
    """PF over what lies inside the real range; a class of which nothing does counts 0."""
    if not len(scores.graph):
        return None
    probability = scores.probability
    best = []
    for number, known in enumerate(members):
        found = 0.0
        for rows in probability[:, number].argsort(descending=True, stable=True).split(AT_ONCE):
            inside = torch.from_numpy(known.place(scores, rows).inside())
            if bool(inside.any()):
                found = float(probability[rows[inside], number].max())
                break
        best.append(found)
    return sum(best) / len(best)


def class_cosine(generated: GraphBatch, real: GraphBatch) -> float | None:
    """Mean over classes of the mean cosine between target rows of that class; None without target features.

    A real node stands in many graphs, and every time counts; of many thousands evenly spread ones are compared.
    """
    schema: Schema = generated.schema
    if schema.target is None or not schema.spec(schema.target).generated:
        return None
    return _mean(
        [mean_cosine(_class_rows(generated, c), _class_rows(real, c)) for c in range(schema.num_classes)],
    )


def _class_rows(batch: GraphBatch, number: int) -> torch.Tensor:
    assert batch.schema.target is not None  # the caller asked
    rows = batch.row[batch.label == number]
    return batch.tables[batch.schema.target][rows[spread(len(rows), COSINE_ROWS)]]


def _structure(graphs: GraphBatch, reality: Reality, wanted: bool) -> dict[str, Any]:
    if not wanted:
        nothing = dict.fromkeys(METRICS["sound"])
        return {"mmd": nothing, "graphs": dict.fromkeys(("novelty", "uniqueness", "c2st"))}
    one, other = (plain_graphs(batch[spread(len(batch), SOUND_GRAPHS)]) for batch in (graphs, reality.held_out))
    # Uniqueness falls with the number of graphs, so it is that of as many as are held out.
    some = graphs[spread(len(graphs), len(reality.held_out))]
    return {
        "mmd": {name: mmd(one, other, metric) for name, metric in METRICS["sound"].items()},
        "graphs": {
            "novelty": novelty(graphs, reality.train),
            "uniqueness": uniqueness(some) if len(some) else None,
            "c2st": graph_c2st(one, other, seed=Seed(0).child("c2st")),
        },
    }


def _coverage(answer: Answer, reality: Reality) -> dict[str, Any]:
    rows = [[choice.score for choice in several[: max(NUMBERS)]] for several in answer.chosen]
    embeddings: list[np.ndarray] = [answer.scores.embedding[several].double().numpy() for several in rows]
    return coverage(embeddings, reality.members, reality.new_members)


def _truth_graphs(answer: Answer) -> list[list[tuple[GraphBatch, int | None]]]:
    target = answer.graphs.schema.target is not None
    return [
        [
            (answer.graphs[choice.graph], int(answer.scores.node[choice.score]) if target else None)
            for choice in several[:TRUTH_GRAPHS]
        ]
        for several in answer.chosen
    ]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
