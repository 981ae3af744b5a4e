"""What the data gives no label gets the class that the model sees there.

What a model goes by shows in all that it answers about, labelled or not, and generators must know of which class their
examples are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from torch import Tensor

from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.sampling.division import RealGraphs

Answer = Callable[[GraphBatch], tuple[Tensor, Tensor, Tensor]]
"""Graphs -> graph (m,), position (m,) and class (m,) of everything in them that a model answers about."""


def label_unlabelled(real: RealGraphs, answer: Answer) -> None:
    """Labels what has none in the graphs of a run, and in its data, where a node gets the class that it has most often.

    Args:
        real: the graphs, sampled. How many things had no label in them is noted in its report.
        answer: asks the model; it is not asked where everything has a label.
    """
    unlabelled = 0
    for name in ("train", "held_out"):
        batch: GraphBatch = getattr(real, name)
        task = batch.schema.task
        if not bool((task.labels(batch, *task.answers(batch)) < 0).any()):
            continue
        graph, node, seen = answer(batch)
        lacks = task.labels(batch, graph, node) < 0
        batch = task.with_labels(batch, graph[lacks], node[lacks], seen[lacks])
        setattr(real, name, batch)
        real.data = _labelled_as(real.data, batch)
        unlabelled += int(lacks.sum())
    if unlabelled:
        real.report["unlabelled"] = unlabelled


def _labelled_as(data: Adjacency, batch: GraphBatch) -> Adjacency:
    """Data whose nodes without a label have the one that they have most often in subgraphs; the first of equals."""
    numbers = data.numbers(batch)
    found = {}
    for name, seen in (("label", batch.label), ("graph_label", batch.graph_label[:, None].expand_as(batch.label))):
        values, own = getattr(data, name).copy(), seen.numpy()
        known = (numbers >= 0) & (own >= 0)
        pairs, count = np.unique(np.stack([numbers[known], own[known]]), axis=1, return_counts=True)
        order = np.lexsort((pairs[1], -count, pairs[0]))
        node, first = np.unique(pairs[0][order], return_index=True)
        lacks = values[node] < 0
        values[node[lacks]] = pairs[1][order][first][lacks]
        found[name] = values
    return replace(data, **found)
