"""Draws as connected graphs: the most probable of the missing edges join the parts of a graph."""

from __future__ import annotations

import torch
from torch import Tensor


def connected_tokens(perturbed: Tensor, token: Tensor, ends: Tensor) -> Tensor:
    """(B, M) what each pair of drawn graphs is joined by, 0 for nothing.

    An edge is there where its logit with noise is above 0, and where it joins two parts that no edge with a higher one
    does (Kruskal's rule). A graph whose parts cannot be joined stays in parts.

    Args:
        perturbed: (B, M) logits with noise; -inf where nodes cannot be joined.
        token: (B, M) what a pair would be joined by.
        ends: (2, M) nodes of each pair.
    """
    order = torch.argsort(perturbed, dim=1, descending=True, stable=True)
    there = (perturbed > 0).numpy()
    pairs = ends.t().tolist()
    kept = torch.zeros_like(token)
    for graph, places in enumerate(order.tolist()):
        part = list(range(int(ends.max()) + 1 if ends.numel() else 0))
        for place in places:
            if not int(token[graph, place]):
                break  # -inf comes last
            first, second = (part[node] for node in pairs[place])
            if first != second:
                part = [first if own == second else own for own in part]
            if first != second or there[graph, place]:
                kept[graph, place] = token[graph, place]
    return kept
