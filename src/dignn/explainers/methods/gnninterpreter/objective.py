"""The objective, and the rule by which the weight of the budget changes."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, logsigmoid, softplus

# The discretised graph is sure enough of its class for the budget to become stricter; by how much, else how much less.
_SURE, _STRICTER, _LAXER = 0.9, 1.05, 0.99
# The budget's weight stays below so many times the least. At the least, an edge at the budget costs .7 of a raw score;
# at this, more than lies between a probability of .9 and one of 1e-29. Beyond, steps only become too long.
_STRICTEST = 100


def class_terms(score: Tensor, embedding: Tensor, centre: Tensor, embedding_weight: float) -> Tensor:
    """(B,) what the model says against graphs: minus the class's raw score, and how far their embeddings point away.

    Args:
        score: (B,) raw scores of the class.
        embedding: (B, D).
        centre: (D,) mean embedding of the class's real members; empty where it has none.
        embedding_weight: of the cosine distance.
    """
    if not len(centre):
        return -score
    return embedding_weight * (1 - cosine_similarity(embedding, centre, dim=1)) - score


def norms(logits: Tensor, counted: Tensor, l1_weight: float, l2_weight: float) -> Tensor:
    """(P,) weighted mean absolute value and mean square of the logits (P, M) that are counted (P, M)."""
    number = counted.sum(1).clamp_min(1)
    size = logits.where(counted, 0.0)
    return (l1_weight * size.abs().sum(1) + l2_weight * size.square().sum(1)) / number


def connectivity(logits: Tensor, counted: Tensor, ends: Tensor) -> Tensor:
    """(P,) mean Kullback-Leibler divergence between the Bernoullis of any two edges that share an endpoint.

    Around a node with n possible edges, over ordered pairs: n sum(p log p) - sum(p) sum(log p), and the same of 1 - p.

    Args:
        logits: (P, M) of possible edges.
        counted: (P, M) which of them there are.
        ends: (2, M) their nodes.
    """
    there = counted.float()
    nodes = int(ends.max()) + 1 if ends.numel() else 0

    def around(values: Tensor) -> Tensor:  # (P, M) -> (P, N), sums over the possible edges of each node
        both = (values * there).repeat(1, 2)
        return both.new_zeros(len(both), nodes).index_add(1, ends.reshape(-1), both)

    number = around(torch.ones_like(logits))
    total = torch.zeros_like(number)
    for probability, logarithm in ((logits.sigmoid(), logsigmoid(logits)), ((-logits).sigmoid(), logsigmoid(-logits))):
        total = total + number * around(probability * logarithm) - around(probability) * around(logarithm)
    pairs = (number * (number - 1)).sum(1)
    return total.sum(1) / pairs.clamp_min(1)


def beyond_budget(logits: Tensor, counted: Tensor, budget: Tensor) -> Tensor:
    """(P,) softplus(expected edges - budget)^2.  logits, counted: (P, M); budget: (P,)"""
    return softplus((logits.sigmoid() * counted).sum(1) - budget).square()


def sure(probability: Tensor) -> Tensor:
    """Whether discretised graphs with these probabilities of the class are sure of it."""
    return probability >= _SURE


def next_budget_weight(weight: Tensor, probability: Tensor, least: float, steps: int = 1) -> Tensor:
    """(P,) the budget's weights after so many steps.

    Args:
        weight: (P,) before.
        probability: (P,) of the class of each discretised graph.
        least: they do not fall below.
        steps: since the last look.
    """
    change = torch.where(sure(probability), _STRICTER**steps, _LAXER**steps)
    return (weight * change).clamp(least, _STRICTEST * least)
