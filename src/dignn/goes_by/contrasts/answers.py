"""What the model says of variants of graphs, and how far they are from being what is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dignn.graphs.batch import GraphBatch
from dignn.graphs.validity import check_validity
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from dignn.selection.members import LOWER, UPPER, Members

# By how much the raw score of a class must be above all others for it to be the answer, whatever sums round to.
CLEARLY = 1e-4
_TINY = 1e-6  # below distances whose ratio is taken


@dataclass(frozen=True, eq=False)
class Answer:
    """Of n graphs, as far as one class is concerned.

    Args:
        graphs: the graphs, with the rows that were drawn for them.
        ok: (n,) whether they are what is wanted: of the class to the model, inside its real range, valid.
        margin: (n,) by how much the raw score of the class is above all others.
        gap: (n,) how far they are from that: what is missing of the margin and of the range; infinite if not valid.
        probability: (n, C).
    """

    graphs: GraphBatch
    ok: Tensor
    margin: Tensor
    gap: Tensor
    probability: Tensor

    def __getitem__(self, rows: slice) -> Answer:
        several = (self.ok, self.margin, self.gap, self.probability)
        return Answer(self.graphs[rows], *(values[rows] for values in several))


class Judge:
    """Asks the model about single places of graphs.

    Args:
        adapter: asks the model.
        members: real members of every class.
    """

    def __init__(self, adapter: GNNAdapter, members: Sequence[Members]) -> None:
        self.adapter, self.members = adapter, members

    def answer(self, graphs: GraphBatch, node: Tensor, wanted: Tensor) -> Answer:
        """What the model says of a node (B,), -1 for the graph, of each graph, for the class (B,) that is wanted."""
        count, classes = len(graphs), graphs.schema.num_classes
        valid = check_validity(graphs).valid
        ok = torch.zeros(count, dtype=torch.bool)
        margin, gap = torch.full((2, count), -torch.inf, dtype=torch.float64)
        gap = gap.neg()
        probability = torch.zeros(count, classes, dtype=torch.float64)
        index = valid.nonzero()[:, 0]
        if len(index):
            scores = at_places(self.adapter.score(graphs[index]), node[index])
            own = scores.logits.double()
            chosen = own.gather(1, wanted[index, None])[:, 0]
            margin[index] = chosen - own.scatter(1, wanted[index, None], -torch.inf).max(1).values
            probability[index] = scores.probability.double()
            for label in wanted[index].unique().tolist():
                rows = (wanted[index] == label).nonzero()[:, 0]
                inside, outside = _range(self.members[label], scores, rows)
                some = index[rows]
                ok[some] = inside & (margin[some] > CLEARLY)
                gap[some] = outside + (CLEARLY - margin[some]).clamp_min(0)
        return Answer(graphs, ok, margin, gap, probability)


def at_places(scores: Scores, node: Tensor) -> Scores:
    """Of scores of a batch those at one node (B,) of each graph, -1 for the graph itself."""
    return scores[(scores.node == node[scores.graph]).nonzero()[:, 0]]


def _range(members: Members, scores: Scores, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Whether scored places are inside the real range of a class, and how far outside, in units of the score.

    A distance counts by its logarithm, as scores are logarithms.
    """
    place = members.place(scores, rows)
    inside = torch.from_numpy(place.inside())
    if not len(members):
        return torch.zeros_like(inside), torch.full(inside.shape, torch.inf, dtype=torch.float64)
    logit = scores.logits[rows, members.class_index].double().numpy()
    low, high = np.quantile(members.logit, [LOWER, UPPER])
    far = np.log((place.distance + _TINY) / (float(np.quantile(members.apart, UPPER)) + _TINY))
    outside = np.maximum(low - logit, 0) + np.maximum(logit - high, 0) + np.maximum(far, 0)
    return inside, torch.from_numpy(outside)
