"""The paper's rule: per class the graphs, and their target nodes, that the model scores highest."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch

from dignn.model.scores import Scores
from dignn.selection.candidates import Candidates


class Choice(NamedTuple):
    """A candidate chosen for a class: which graph, and which row of the scores (its target node)."""

    graph: int
    score: int


def select_highest(candidates: Candidates, scores: Scores, top_k: int) -> list[list[Choice]]:
    """For each class the ``top_k`` candidates with the highest probability, of isomorphic ones the first."""
    chosen = []
    for number in range(candidates.graphs.schema.num_classes):
        ranked = by_score(candidates, scores, number)
        row = {choice.graph: choice for choice in ranked}
        kept = candidates.distinct([choice.graph for choice in ranked], top_k)
        chosen.append([row[graph] for graph in kept])
    return chosen


def by_score(candidates: Candidates, scores: Scores, number: int, rows: torch.Tensor | None = None) -> list[Choice]:
    """Candidates by their score of a class, highest first.

    A candidate counts once, with its best target node. Candidates are ordered by log-odds, which order like
    probabilities and do not tie at 1.0; equal ones by what the graphs are, so that the order in which candidates are
    stored does not matter.

    Args:
        candidates: the graphs.
        scores: what the model says of them.
        number: the class.
        rows: of the scores, those that count; by default all.
    """
    log_odds = scores.log_odds[:, number]
    rows = torch.arange(len(scores.graph)) if rows is None else rows
    ordered = rows[torch.argsort(log_odds[rows], descending=True, stable=True)]
    first = np.sort(np.unique(scores.graph[ordered].numpy(), return_index=True)[1])  # the best target node of a graph
    best = ordered[torch.from_numpy(first)]
    row = dict(zip(scores.graph[best].tolist(), best.tolist(), strict=True))
    ranked = _break_ties(candidates, list(row), log_odds[best].tolist())
    return [Choice(graph, row[graph]) for graph in ranked]


def _break_ties(candidates: Candidates, ranked: list[int], values: list[float]) -> list[int]:
    """Equal values in the order of what the graphs are: structure first, then features."""
    tied = {value for value, following in pairwise(values) if value == following}
    if not tied:
        return ranked
    names = {graph: candidates.name(graph) for graph, value in zip(ranked, values, strict=True) if value in tied}
    keyed = [(-value, names.get(graph, ("", "")), graph) for graph, value in zip(ranked, values, strict=True)]
    return [graph for _, _, graph in sorted(keyed)]
