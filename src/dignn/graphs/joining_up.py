"""Edges that are drawn, and those that it takes beside them to connect a graph."""

from __future__ import annotations

import torch
from torch import Tensor


def joined_up(score: Tensor, size: int) -> Tensor:
    """The pairs whose score is above 0, and as many more as it takes to connect the graph, those of highest score.

    The latter are of the spanning tree of highest scores. With log-odds plus logistic noise for scores the former are
    independent draws, and the latter come nearest to being drawn. A graph whose parts cannot be joined stays in parts.

    Args:
        score: (B, P) of pairs i < j, row by row; -inf for those that must not be joined.
        size: nodes of a graph, N.

    Returns:
        (B, P) bool.
    """
    i, j = torch.triu_indices(size, size, 1, device=score.device)
    cells = score.new_full((len(score), size, size), -torch.inf)
    cells[:, i, j] = cells[:, j, i] = score
    graph = torch.arange(len(score), device=score.device)
    taken, grown = cells > 0, torch.zeros(len(score), size, dtype=torch.bool, device=score.device)
    grown[:, :1] = True
    for _ in range(size - 1):
        leaving = cells.masked_fill(~grown[:, :, None] | grown[:, None, :], -torch.inf)
        highest, place = leaving.flatten(1).max(1)
        found, source, target = highest > -torch.inf, place // size, place % size
        taken[graph, source, target] |= found
        taken[graph, target, source] |= found
        grown[graph, target.where(found, (~grown).long().argmax(1))] = True  # or a further part begins
    return taken[:, i, j]
