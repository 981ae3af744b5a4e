"""What real members of a class look like to the model: how sure it is of them, and where their embeddings lie.

A model can be sure of graphs that are like nothing it was trained on; noise scores as high as the best real graph. So
an explanation is compared with real target nodes (or graphs): it lies inside the real range if the model's raw score of
the class is not lower or higher than it is for nearly all members, and its embedding is no farther from members than
they are from each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from dignn.core.seeds import Seed
from dignn.graphs.batch import GraphBatch
from dignn.model.scores import Scores

# Members of which a distance is the mean: a single one may be an odd one.
NEIGHBOURS = 10
# Members of a class at most.
MOST_MEMBERS = 2000
# With fewer members that also have the class as their label, all that the model puts there count.
LEAST = 20
# The real range: between these shares of the members' scores, and below the upper share of their distances.
LOWER, UPPER = 0.01, 0.99
# What is near to a member: as near as this share of the members are to their nearest ones.
NEAR = 0.9


@dataclass(frozen=True, eq=False)
class Members:
    """Real members of one class, each node of the data once.

    Args:
        class_index: the class.
        logit: (m,) the model's raw score of the class, ascending.
        log_odds: (m,) of the class, ascending.
        embedding: (m, D).
        apart: (m,) mean distance of each to the nearest ten others, ascending.
    """

    class_index: int
    logit: np.ndarray
    log_odds: np.ndarray
    embedding: np.ndarray
    apart: np.ndarray

    def __len__(self) -> int:
        return len(self.embedding)

    @classmethod
    def of(
        cls, class_index: int, scores: Scores, graphs: GraphBatch, seed: Seed, rows: torch.Tensor | None = None
    ) -> Members:
        """Members among real graphs: what the model puts into the class and what has it as label.

        Where these are few, what the model puts there; where it puts nothing there, what has the label. Of a node that
        stands in many graphs the seed decides in which of them it counts. ``rows``: what :func:`_once` gave, where it
        was asked before.
        """
        rows = _once(scores, graphs, seed) if rows is None else rows
        predicted = scores.predicted[rows] == class_index
        labelled = scores.labels(graphs)[rows] == class_index
        chosen = predicted & labelled
        if int(chosen.sum()) < LEAST:
            chosen = predicted if bool(predicted.any()) else labelled
        rows = rows[chosen][:MOST_MEMBERS]
        embedding = scores.embedding[rows].double().numpy()
        logit = np.sort(scores.logits[rows, class_index].double().numpy())
        log_odds = np.sort(scores.log_odds[rows, class_index].numpy())
        apart = np.sort(_mean_distance(embedding, embedding, itself=True))
        return cls(class_index, logit, log_odds, embedding, apart)

    def place(self, scores: Scores, rows: torch.Tensor | None = None) -> Place:
        """Where scored nodes (all rows of the scores, or these) lie among the members."""
        rows = torch.arange(len(scores.graph)) if rows is None else rows
        logit = scores.logits[rows, self.class_index].double().numpy()
        embedding = scores.embedding[rows].double().numpy()
        distance = _mean_distance(embedding, self.embedding) if len(self) else np.full(len(rows), np.inf)
        return Place(_rank(self.logit, logit), _rank(self.apart, distance), distance)


@dataclass(frozen=True, eq=False)
class Place:
    """Where n nodes lie among the members of a class.

    Args:
        logit_rank: (n,) share of members with a lower score.
        distance_rank: (n,) share of members that are nearer to others than this node is to them.
        distance: (n,) mean distance to the nearest ten members.
    """

    logit_rank: np.ndarray
    distance_rank: np.ndarray
    distance: np.ndarray

    def inside(self, upper_distance: float = UPPER) -> np.ndarray:
        """(n,) whether score and distance are like those of members."""
        score = (self.logit_rank >= LOWER) & (self.logit_rank <= UPPER)
        return score & (self.distance_rank <= upper_distance)


def all_members(scores: Scores, graphs: GraphBatch, *, seed: Seed) -> list[Members]:
    """Members of each class."""
    rows = _once(scores, graphs, seed)
    return [Members.of(number, scores, graphs, seed, rows) for number in range(graphs.schema.num_classes)]


def _once(scores: Scores, graphs: GraphBatch, seed: Seed) -> torch.Tensor:
    """Rows of the scores, in random order and one for each node of the data: a node stands in many subgraphs."""
    order = seed.child("members").numpy().permutation(len(scores))
    thing = scores.identities(graphs).numpy()[order]
    return torch.from_numpy(order[np.sort(np.unique(thing, return_index=True)[1])])


def _mean_distance(points: np.ndarray, others: np.ndarray, itself: bool = False) -> np.ndarray:
    """(n,) mean distance of each point to the nearest others; ``itself``: the points are the others."""
    from sklearn.neighbors import NearestNeighbors

    number = min(NEIGHBOURS, len(others) - itself)
    if not len(points) or number < 1:
        return np.zeros(len(points))
    search = NearestNeighbors(n_neighbors=number, algorithm="brute").fit(others)
    distance, _ = search.kneighbors() if itself else search.kneighbors(points)
    return distance.mean(1)


def _rank(known: np.ndarray, values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Share of the known values, ascending, that are lower than each value; between equal ones the middle."""
    if not len(known):
        return np.ones(len(values))
    low, high = (np.searchsorted(known, values, side=side) for side in ("left", "right"))
    return (low + high) / (2 * len(known))
