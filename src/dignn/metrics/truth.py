"""Planted truth: do explanations show what the data set's makers put around the members of a class?

Applies to data sets that know their truth (:class:`~dignn.data.base.GroundTruth`). Explanations are given per class,
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

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from dignn.batch import GraphBatch
from dignn.data.base import GroundTruth, Motif
from dignn.errors import DignnError
from dignn.motifs.matching import contains
from dignn.motifs.sets import motif_graph
from dignn.plain import PlainGraph, plain_graphs
from dignn.schema import Schema

# A graph (a batch of one) and the position of its classified node; None for graph classification.
Explained = tuple[GraphBatch, int | None]
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
        own = [motif in truth.motifs[number] for motif in planted]
        found = np.array([_found(graph, node, planted) for graph, node in several], dtype=bool)
        recall, precision = _motif_values(found.reshape(len(several), len(planted)), np.array(own, dtype=bool))
        words = _keyword_values(several, number, truth)
        by_class.append(dict(zip(NAMES, (recall, precision, *words), strict=True)))
    return {"mean": {name: _mean([values[name] for values in by_class]) for name in NAMES}, "by_class": by_class}


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
    return recall, _mean(values.tolist())


def _found(graph: GraphBatch, node: int | None, motifs: Sequence[Motif]) -> list[bool]:
    """Which motifs are found at the classified node of one graph."""
    (host,) = plain_graphs(graph)
    if node is not None:  # positions among the graph's nodes, as in the plain graph
        node = int(graph.mask[0, :node].sum())
    return [_occurs(host, node, motif, graph.schema) for motif in motifs]


def _occurs(host: PlainGraph, node: int | None, motif: Motif, schema: Schema) -> bool:
    pattern = motif_graph(motif, schema)
    plain = len(set(motif.node_types)) == 1
    if node is None:
        return bool(contains([host], [pattern], typed=True, induced=plain).any())
    places = range(len(pattern)) if plain else range(1)
    there = [_marked(pattern, place) for place in places if pattern.types[place] == host.types[node]]
    return bool(contains([_marked(host, node)], there, typed=True, induced=plain).any())


def _marked(graph: PlainGraph, node: int) -> PlainGraph:
    """The graph with a node of a type of its own, so that it can only stand for another marked node."""
    types = graph.types.copy()
    types[node] = -2
    return PlainGraph(graph.adjacency, types, graph.relation)


# -- keywords -----------------------------------------------------------------------------------------


def _keyword_values(several: Sequence[Explained], number: int, truth: GroundTruth) -> tuple[float | None, float | None]:
    """Recall and precision of a class's keywords."""
    if not several or not truth.keywords:
        return None, None
    schema = several[0][0].schema
    columns = [_columns(schema, words) for words in truth.keywords]
    own, planted = columns[number], sorted(set().union(*columns))
    rows = [_row(graph, node) for graph, node in several]
    known = [row for row in rows if row is not None]
    if not own or not known:
        return None, None
    present = torch.stack(known) != 0  # (k, columns)
    occurrences, right = int(present[:, planted].sum()), int(present[:, sorted(own)].sum())
    return float(present[:, sorted(own)].any(0).double().mean()), right / occurrences if occurrences else None


def _columns(schema: Schema, words: Sequence[str]) -> set[int]:
    """Columns of the classified type that these words name; words without a column (not selected) are left out."""
    names = schema.spec(schema.target).names if schema.target is not None else None
    return {names.index(word) for word in words if word in names} if names is not None else set()


def _row(graph: GraphBatch, node: int | None) -> torch.Tensor | None:
    """Features of the classified node.  (columns,)"""
    target = graph.schema.target
    if node is None or target is None or target not in graph.tables:
        return None
    return graph.tables[target][int(graph.row[0, node])]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
