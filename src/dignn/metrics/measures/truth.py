"""Planted truth: do explanations show what the data set's makers put around the members of a class?

Applies to data sets that know their truth (:class:`~dignn.graphs.motif.GroundTruth`). Explanations are given per class,
best first, each with its classified node. The class's *top k* are all that are given.

**A motif is found at an explanation's classified node** if it occurs in the graph with

* the classified node at position 0, where the motif has several node types (the planted bibliography). Types,
  relations and orientations must agree; further edges do no harm;
* the classified node at any position, where all nodes of the motif are of one type (houses, cycles, grids). The
  occurrence is node-induced, as in GF, since a dense graph would otherwise contain everything;
* no condition on its place, for graph classification.

**Motifs**, mean over the top k:

* recall: the share of the class's motifs that are found; None for a class without motifs.
* precision: of all motifs that the data set plants for any class, those that are found, the share that the class has.
  An explanation in which none is found says nothing, unless the class has none: then it is right (1). None if no
  explanation says anything.

**Keywords**, over the top k together, because a member has only some of its class's keywords:

* recall: the share of the class's keywords that the classified node of at least one explanation has.
* precision: of all occurrences of keywords of any class at the classified nodes, the share that are keywords of the
  class. Other words (common ones, side interests) count on neither side. None without any occurrence.

Keywords are None for classes without them, and where the graphs carry no features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from dignn.core.errors import DignnError
from dignn.graphs.motif import GroundTruth, Motif
from dignn.graphs.plain_graph import PlainGraph, plain_graphs
from dignn.graphs.schema import Schema
from dignn.metrics.counting import mean
from dignn.metrics.judging import Judge, Verdict
from dignn.metrics.measured import Explained, MeasuredGraphs, Reality
from dignn.metrics.metric import Figure, Metric, declare
from dignn.selection.motifs.matching import contains
from dignn.selection.motifs.sets import motif_graph

NAMES = ("motif_recall", "motif_precision", "keyword_recall", "keyword_precision")


def planted_truth(explanations: Sequence[Sequence[Explained]], truth: GroundTruth) -> dict[str, Any]:
    """Precision and recall of planted motifs and keywords, as this module defines them.

    Args:
        explanations: per class its graphs, each with the position of the classified node.
        truth: motifs and keywords of each class.

    Returns:
        ``by_class``, a dictionary of :data:`NAMES` per class, and ``mean``, the same over the classes to which a value
        applies. A value that does not apply is None.
    """
    if len(explanations) != len(truth.motifs):
        raise DignnError(
            f"There are explanations of {len(explanations)} classes, and the truth is about {len(truth.motifs)}; "
            "give a list for every class"
        )
    planted = list(dict.fromkeys(motif for motifs in truth.motifs for motif in motifs))
    by_class = []
    for number, several in enumerate(explanations):
        own = np.array([motif in truth.motifs[number] for motif in planted], dtype=bool)
        recall, precision = _motif_values(_found(several, planted), own)
        words = _keyword_values(several, number, truth)
        by_class.append(dict(zip(NAMES, (recall, precision, *words), strict=True)))
    return {"mean": {name: mean([values[name] for values in by_class]) for name in NAMES}, "by_class": by_class}


# -- motifs -------------------------------------------------------------------------------------------


def _motif_values(found: np.ndarray, own: np.ndarray) -> tuple[float | None, float | None]:
    """Recall and precision.  found: (k, motifs), own: (motifs,)"""
    if not len(found):
        return None, None
    recall = float(found[:, own].mean()) if own.any() else None
    number, right = found.sum(1), found[:, own].sum(1)
    speaks = number > 0
    values = right[speaks] / number[speaks]
    if not own.any():  # showing nothing is right where there is nothing to show
        values = np.concatenate([values, np.ones(int((~speaks).sum()))])
    return recall, mean(values.tolist())


def _found(several: Sequence[Explained], motifs: Sequence[Motif]) -> np.ndarray:
    """Which motifs are found at the classified nodes of which graphs.  (graphs, motifs) bool"""
    hosts = []
    for graph, node in several:
        (host,) = plain_graphs(graph)
        # positions among the graph's nodes, as in the plain graph
        hosts.append(host if node is None else _marked(host, int(graph.mask[0, :node].sum())))
    found = np.zeros((len(several), len(motifs)), dtype=bool)
    if hosts:
        schema, anywhere = several[0][0].schema, several[0][1] is None
        for number, motif in enumerate(motifs):
            found[:, number] = _occurs(hosts, motif, schema, anywhere)
    return found


def _occurs(hosts: Sequence[PlainGraph], motif: Motif, schema: Schema, anywhere: bool) -> np.ndarray:
    """Whether each graph has the motif, at its marked node unless it may be ``anywhere``.  (graphs,) bool"""
    pattern = motif_graph(motif, schema)
    plain = len(set(motif.node_types)) == 1
    places = range(len(pattern)) if plain else range(1)
    patterns = [pattern] if anywhere else [_marked(pattern, place) for place in places]
    return np.any(contains(hosts, patterns, typed=True, induced=plain), axis=1)


def _marked(graph: PlainGraph, node: int) -> PlainGraph:
    """The graph with a node that can only stand for another marked node of its type."""
    types = graph.types.copy()
    types[node] = -2 - types[node]
    return PlainGraph(graph.adjacency, types, graph.relation)


# -- keywords -----------------------------------------------------------------------------------------


def _keyword_values(several: Sequence[Explained], number: int, truth: GroundTruth) -> tuple[float | None, float | None]:
    """Recall and precision of a class's keywords."""
    if not several or not truth.keywords:
        return None, None
    target = str(several[0][0].schema.target)
    # Features of the classified nodes, (columns,) each.
    placed = [(graph, node) for graph, node in several if node is not None and target in graph.tables]
    known = [graph.tables[target][int(graph.row[0, node])] for graph, node in placed]
    if not known:
        return None, None
    names = several[0][0].schema.spec(target).names or ()
    # Words without a column, because it was not selected, are left out.
    columns = [{names.index(word) for word in words if word in names} for words in truth.keywords]
    own, planted = columns[number], sorted(set().union(*columns))
    if not own:
        return None, None
    present = torch.stack(known) != 0  # (k, columns)
    occurrences, right = int(present[:, planted].sum()), int(present[:, sorted(own)].sum())
    return float(present[:, sorted(own)].any(0).double().mean()), right / occurrences if occurrences else None


# -- the metric ---------------------------------------------------------------------------------------


def _by_class(measured: MeasuredGraphs, reality: Reality) -> dict[str, Any] | None:
    """Of the first ten explanations of each class: the ``mean``, and under each class's name its own."""
    if reality.truth is None:
        return None
    found = planted_truth(measured.explained, reality.truth)
    return {"mean": found["mean"], **dict(zip(measured.classes, found["by_class"], strict=True))}


def _at_least(whole: str, nearly: str, mostly: str, little: str) -> Judge:
    """Of a share of what was planted, in words: all, nine in ten, six in ten, less."""

    def judge(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
        if value >= 0.9:
            return Verdict("good", whole if value == 1 else nearly)
        return Verdict("fair", mostly) if value >= 0.6 else Verdict("poor", little)

    return judge


shown = _at_least("all of it is there", "nearly all of it is there", "most of it is there", "much of it is missing")
right = _at_least(
    "always the class's own", "nearly always the class's own", "mostly the class's own", "often another class's"
)


def _figure(title: str, what: str, name: str, judge: Judge) -> Figure:
    return Figure(title, what, f"mean.{name}", judge=judge, good=".9 or more")


declare(
    Metric("sound.planted", "truth", 10, {"model", "truth"}, _by_class, about="explanations"),
    _figure(
        "Pattern found",
        "Share of explanations whose classified node has the planted pattern (recall).",
        "motif_recall",
        shown,
    ),
    _figure(
        "Pattern right",
        "Of planted patterns that are there, the share that belong to the class (precision).",
        "motif_precision",
        right,
    ),
    _figure("Words found", "Share of the planted words that explanations show (recall).", "keyword_recall", shown),
    _figure(
        "Words right",
        "Of planted words that are there, the share that belong to the class (precision).",
        "keyword_precision",
        right,
    ),
)
