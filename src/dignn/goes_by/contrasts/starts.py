"""Which pairs of classes are looked at, and the graphs that searches start from."""

from __future__ import annotations

import numpy as np
import torch

from dignn.model.scores import Scores
from dignn.selection.members import Members
from dignn.selection.representative import NEARER_SHARE

# Ordered pairs of classes at most.
MOST_PAIRS = 24
# Graphs that searches for one pair start from.
STARTS = 4


def asked_pairs(scores: Scores) -> list[tuple[int, int]]:
    """Ordered pairs of classes (source, target), at most :data:`MOST_PAIRS`.

    With many classes each comes first with the one that the model most often confuses it with: the one that is most
    probable on average where the model says the first.
    """
    number = scores.logits.size(1)
    ranked: list[tuple[int, float, int, int]] = []
    for source in range(number):
        mine = scores.probability[scores.predicted == source].double()
        if not len(mine):
            continue
        confused = mine.mean(0)
        confused[source] = -torch.inf
        order = torch.argsort(confused, descending=True, stable=True).tolist()[: min(number - 1, MOST_PAIRS)]
        ranked += [(place, -float(confused[target]), source, target) for place, target in enumerate(order)]
    return sorted((source, target) for _, _, source, target in sorted(ranked)[:MOST_PAIRS])


def typical_starts(scores: Scores, members: Members) -> list[int]:
    """Rows of the scores of typical places of a class, the most typical first, one for each graph.

    They are inside the real range, and the model is as sure of them as of the surer half of real members; of these they
    are the nearest to members. Where there is none of which the model is so sure, it may be any inside the range.
    """
    rows = (scores.predicted == members.class_index).nonzero()[:, 0]
    if not len(members) or not len(rows):
        return []
    place = members.place(scores, rows)
    inside = place.inside(NEARER_SHARE)
    sure = inside & (scores.log_odds[rows, members.class_index].numpy() >= np.median(members.log_odds))
    chosen = np.flatnonzero(sure if sure.any() else inside)
    order = chosen[np.argsort(place.distance[chosen], kind="stable")]
    first: dict[int, int] = {}
    for row in rows[torch.from_numpy(order)].tolist():
        first.setdefault(int(scores.graph[row]), row)
    return list(first.values())[:STARTS]
