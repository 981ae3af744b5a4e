"""What metrics look at: a set of graphs, generated, real, a control or from a file, and what it is measured against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import torch

from dignn.core.seeds import Seed
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.isomorphism import fingerprints
from dignn.graphs.motif import GroundTruth
from dignn.graphs.plain_graph import PlainGraph, plain_graphs
from dignn.metrics.feature_rows import ClassRows, FeatureRows
from dignn.metrics.told_apart import Told, computed
from dignn.model.scores import Scores
from dignn.selection.highest import Choice
from dignn.selection.members import Members
from dignn.selection.motifs.sets import MotifSets

# Graphs that stand for a class, and training graphs, that the paper's MMD compares; so many are chosen.
PAPER_GRAPHS = 50
# Explanations of a class in which planted truth is sought.
TRUTH_GRAPHS = 10

_NO_MOTIFS = MotifSets(())

# What metrics need of the graphs: any graphs, a structure of their own, features of their own, what the model says; and
# of what they are measured against: motifs of each class, what was planted.
Need = Literal["graphs", "structure", "features", "model", "motifs", "truth", "fidelity"]
# A graph (a batch of one) and the position of its classified node; None for graph classification.
Explained = tuple[GraphBatch, int | None]


@dataclass(frozen=True, eq=False)
class MeasuredGraphs:
    """A set of graphs. What it does not have is empty, and metrics that need it are not measured.

    Args:
        has: what metrics may ask of it.
        classes: names of the classes.
        valid: share of the graphs made that are connected and consistent.
        plain: the graphs, or as many of them as are compared.
        names: their fingerprints.
        best: per class the graphs that stand for it, best first.
        best_as_seen: the same; the class that the model sees is part of a target node's type.
        shown: of these so many, from the first, are looked at for motifs; None for all.
        explained: per class the first ten of these with their features and classified nodes.
        embeddings: per class (k, D), where the model puts their classified nodes.
        scores: what the model says of all graphs.
        rows: by node type, feature rows beside real ones.
        class_rows: per class the features of target nodes beside those of training graphs.
        fidelity: how well words that were found on them give the model's answers on real graphs.
    """

    has: frozenset[Need]
    classes: Sequence[str] = ()
    valid: float | None = None
    plain: Sequence[PlainGraph] = ()
    names: Sequence[str] = ()
    best: Sequence[Sequence[PlainGraph]] = ()
    best_as_seen: Sequence[Sequence[PlainGraph]] = ()
    shown: int | None = 1
    explained: Sequence[Sequence[Explained]] = ()
    embeddings: Sequence[np.ndarray] = ()
    scores: Scores | None = None
    rows: Mapping[str, FeatureRows] = field(default_factory=dict)
    class_rows: Sequence[ClassRows] = ()
    fidelity: Mapping[str, float] = field(default_factory=dict)

    def with_fidelity(self, fidelity: Mapping[str, float] | None) -> MeasuredGraphs:
        """The same graphs with what was found on them, where something was."""
        return replace(self, has=self.has | {"fidelity"}, fidelity=fidelity) if fidelity else self

    def first(self, *, as_seen: bool = False) -> list[Sequence[PlainGraph]]:
        """Per class the graphs in which motifs are sought."""
        return [several[: self.shown] for several in (self.best_as_seen if as_seen else self.best)]


@dataclass(frozen=True, eq=False)
class Reality:
    """What graphs are measured against.

    Args:
        seed: of everything that is drawn for measuring.
        held_out: real graphs that nothing was learned from, as many as are compared.
        train: 50 of those that generators learned from.
        train_names: fingerprints of all of these.
        motifs: what each class has around it, from held-out graphs; empty where nobody knows.
        class_typed: the same with the class of a node in its type.
        members: real members of each class, which say where these lie.
        new_members: members among held-out graphs, without those that were learned from.
        truth: what was planted, where that is known.
        told: how well a classifier tells rows or graphs apart; by default computed when it is asked.
    """

    seed: Seed
    held_out: Sequence[PlainGraph] = ()
    train: Sequence[PlainGraph] = ()
    train_names: frozenset[str] = frozenset()
    motifs: MotifSets = _NO_MOTIFS
    class_typed: MotifSets = _NO_MOTIFS
    members: Sequence[Members] = ()
    new_members: Sequence[Members] = ()
    truth: GroundTruth | None = None
    told: Told = computed

    @property
    def has(self) -> frozenset[Need]:
        """What metrics may ask of it."""
        there: dict[Need, object] = {"motifs": self.motifs, "truth": self.truth}
        return frozenset(need for need, found in there.items() if found)


@dataclass(frozen=True, eq=False)
class Structures:
    """Graphs whose structure is compared with that of real graphs.

    Args:
        graphs: as many as are compared.
    """

    graphs: GraphBatch

    @cached_property
    def plain(self) -> tuple[PlainGraph, ...]:
        """As plain graphs."""
        return tuple(plain_graphs(self.graphs))

    @cached_property
    def names(self) -> list[str]:
        """Their fingerprints."""
        return names_of(self.graphs)


class Compared(NamedTuple):
    """What of a set of graphs is compared with real graphs, whichever of them stand for a class.

    Args:
        structures: None where they are not their own.
        rows: by node type, feature rows beside real ones; None where they are not their own.
    """

    structures: Structures | None = None
    rows: Mapping[str, FeatureRows] | None = None


_NOTHING = Compared()


def measured_graphs(
    graphs: GraphBatch,
    scores: Scores,
    chosen: Sequence[Sequence[Choice]],
    *,
    compared: Compared = _NOTHING,
    valid: float | None = None,
    shown: int | None = 1,
    class_rows: Sequence[ClassRows] = (),
) -> MeasuredGraphs:
    """Graphs of a run.

    Args:
        graphs, scores: the graphs, and what the model says of them.
        chosen: which of them stand for each class, best first.
        compared: what of them is compared with real graphs.
        valid, shown, class_rows: as :class:`MeasuredGraphs` has them; no rows where features are not their own.
    """
    structures, rows = compared
    has: dict[Need, object] = {"graphs": True, "model": True, "structure": structures, "features": rows or class_rows}
    best = [[choice.graph for choice in several[:PAPER_GRAPHS]] for several in chosen]
    nodes = [None if node < 0 else node for node in scores.node.tolist()]
    as_seen = _as_seen(graphs, scores)
    used = sorted({number for several in best for number in several})
    plain = dict(zip(used, plain_graphs(graphs[used]), strict=True))  # a graph may stand for several classes
    seen = {
        first: plain_graphs(as_seen[list(first)], class_typed=True) for first in {tuple(each[:shown]) for each in best}
    }
    told = {number: graphs[number] for number in {one.graph for several in chosen for one in several[:TRUTH_GRAPHS]}}
    return MeasuredGraphs(
        has=frozenset(need for need, there in has.items() if there),
        classes=graphs.schema.classes,
        valid=valid,
        plain=() if structures is None else structures.plain,
        names=() if structures is None else structures.names,
        best=[[plain[number] for number in several] for several in best],
        best_as_seen=[seen[tuple(several[:shown])] for several in best],
        shown=shown,
        explained=[[(told[one.graph], nodes[one.score]) for one in several[:TRUTH_GRAPHS]] for several in chosen],
        embeddings=[scores.embedding[[choice.score for choice in several]].double().numpy() for several in chosen],
        scores=scores,
        rows=rows or {},
        class_rows=class_rows,
    )


def _as_seen(graphs: GraphBatch, scores: Scores) -> GraphBatch:
    """Graphs whose target nodes have the class that the model gives them."""
    label = torch.full_like(graphs.label, PADDING)
    at_node = scores.node >= 0
    label[scores.graph[at_node], scores.node[at_node]] = scores.predicted[at_node]
    return replace(graphs, label=label)


def names_of(graphs: GraphBatch) -> list[str]:
    """Fingerprints that do not look at the class of the whole graph, which is no structure."""
    return fingerprints(replace(graphs, graph_label=torch.full_like(graphs.graph_label, PADDING)))
