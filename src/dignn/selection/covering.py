"""Graphs that stand for most members of a class: the one that most members are near to, then the one that most of the
rest are near to, and so on (greedy maximum coverage in the model's embedding space).

How sure the model is plays no part, as long as it puts a graph into the class that was meant.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy.spatial.distance import cdist

from dignn.model.scores import Scores
from dignn.selection.candidates import Candidates
from dignn.selection.highest import Choice
from dignn.selection.members import LEAST, NEAR, Members

# Target nodes of a class that are looked at, at most: the first.
MOST_LOOKED_AT = 2000


def select_covering(
    candidates: Candidates, scores: Scores, members: Sequence[Members], top_k: int
) -> list[list[Choice]]:
    """For each class ``top_k`` candidates, no two of them isomorphic; a longer list begins like a shorter one."""
    return [_select(candidates, scores, known, top_k) for known in members]


def _select(candidates: Candidates, scores: Scores, members: Members, top_k: int) -> list[Choice]:
    labels, number = scores.labels(candidates.graphs), members.class_index
    predicted = scores.predicted == number
    meant = predicted & ((labels == number) | (labels < 0))
    # As with members: where few are meant for the class, all count that the model puts there.
    rows = (meant if int(meant.sum()) >= LEAST else predicted).nonzero()[:, 0][:MOST_LOOKED_AT]
    radius = float(np.quantile(members.apart, NEAR)) if len(members) else 0.0
    order = rows[covering(scores.embedding[rows].double().numpy(), members.embedding, radius)]
    row: dict[int, int] = {}
    for graph, place in zip(scores.graph[order].tolist(), order.tolist(), strict=True):
        row.setdefault(graph, place)
    return [Choice(graph, row[graph]) for graph in candidates.distinct(list(row), top_k)]


def covering(embedding: np.ndarray, members: np.ndarray, radius: float) -> torch.Tensor:
    """Places of all embeddings (n, D), each the one that most members (m, D) are within the radius of.

    What is covered counts no more; once all is covered that can be, everything counts again.
    """
    chosen: list[int] = []
    if len(embedding) and len(members):
        near = (cdist(embedding, members) <= radius).astype(np.float32)
        left, free = np.ones(len(members), dtype=np.float32), np.ones(len(embedding), dtype=bool)
        while free.any():
            gain = np.where(free, near @ left, -1.0)
            place = int(gain.argmax())
            if gain[place] <= 0:
                if left.all():  # nobody is near to those that remain
                    break
                left[:] = 1.0
                continue
            chosen.append(place)
            free[place] = False
            left[near[place] > 0] = 0.0
    rest = sorted(set(range(len(embedding))) - set(chosen))
    return torch.tensor([*chosen, *rest], dtype=torch.long)
