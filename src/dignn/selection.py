"""Step 4: per class the graphs, and their target nodes, that the model scores highest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from itertools import pairwise

import torch

from dignn.batch import PADDING, GraphBatch
from dignn.gnn.adapter import Scores
from dignn.isomorphism import distinct, fingerprints


@dataclass(frozen=True)
class Choice:
    """A candidate chosen for a class: which graph, and which row of the scores (its target node)."""

    graph: int
    score: int


def select_highest(candidates: GraphBatch, scores: Scores, top_k: int) -> list[list[Choice]]:
    """The paper's rule: for each class the ``top_k`` candidates with the highest probability.

    A candidate counts once per class, with its best target node. Candidates are ordered by log-odds, which
    order like probabilities and do not tie at 1.0; equal ones by what the graphs are, so that the order in which
    candidates are stored does not matter. Of isomorphic candidates the first is kept.
    """
    chosen = []
    log_odds = scores.log_odds
    shown = replace(  # labels are the generator's intention; neither the model nor the reader sees them
        candidates,
        label=torch.full_like(candidates.label, PADDING),
        graph_label=torch.full_like(candidates.graph_label, PADDING),
    )
    for number in range(candidates.schema.num_classes):
        best: dict[int, int] = {}  # graph -> row of its best target node
        for row in torch.argsort(log_odds[:, number], descending=True, stable=True).tolist():
            best.setdefault(int(scores.graph[row]), row)
        ranked = sorted(best, key=lambda graph: -float(log_odds[best[graph], number]))
        ranked = _break_ties(shown, ranked, [float(log_odds[best[graph], number]) for graph in ranked])
        chosen.append([Choice(graph, best[graph]) for graph in distinct(shown, ranked, top_k)])
    return chosen


def _break_ties(candidates: GraphBatch, ranked: list[int], values: list[float]) -> list[int]:
    """Equal values in the order of what the graphs are: structure first, then features."""
    tied = {value for value, following in pairwise(values) if value == following}
    if not tied:
        return ranked
    names = {
        graph: (fingerprints(candidates[graph])[0], _feature_digest(candidates[graph]))
        for graph, value in zip(ranked, values, strict=True)
        if value in tied
    }
    keyed = [(-value, names.get(graph, ("", "")), graph) for graph, value in zip(ranked, values, strict=True)]
    return [graph for _, _, graph in sorted(keyed)]


def _feature_digest(graph: GraphBatch) -> str:
    """A text that depends on the feature rows of a graph and not on the order of its nodes."""
    rows = [row.numpy().tobytes() for name in sorted(graph.tables) for row in graph.features(name)]
    return hashlib.blake2b(b"".join(sorted(rows)), digest_size=16).hexdigest()
