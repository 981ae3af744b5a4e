"""No choice at all: candidates as they come."""

from __future__ import annotations

import torch

from dignn.model.scores import Scores
from dignn.selection.candidates import Candidates
from dignn.selection.highest import Choice


def select_proposed(candidates: Candidates, scores: Scores, top_k: int) -> list[list[Choice]]:
    """For each class the first ``top_k`` candidates that are meant for it, of isomorphic ones the first.

    A graph is meant for a class by a target node of it (or by its own class). Of several such nodes the one counts that
    the model takes for the class most surely.
    """
    labels = scores.labels(candidates.graphs)
    chosen = []
    for number in range(candidates.graphs.schema.num_classes):
        rows = (labels == number).nonzero()[:, 0]
        ascending = rows[torch.argsort(scores.log_odds[rows, number], stable=True)]
        row = dict(zip(scores.graph[ascending].tolist(), ascending.tolist(), strict=True))  # the last of a graph stays
        kept = candidates.distinct(sorted(row), top_k)
        chosen.append([Choice(graph, row[graph]) for graph in kept])
    return chosen
