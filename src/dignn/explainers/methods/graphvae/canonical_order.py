"""A canonical order of nodes: a classified node first, the others breadth first.

GraphVAE (Simonovsky and Komodakis, 2018) matches the nodes of what it decodes with those of the input, at a cost of
N^4; the paper leaves that out, because it does not scale. Without it the decoder must be told which node stands where,
and an order that follows the structure tells most: parents come before children, and like nodes stand alike.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dignn.graphs.batch import GraphBatch


def canonical_order(graphs: GraphBatch) -> Tensor:
    """(B, N) the node at each place.

    The first one is the first classified node (a subgraph's fire starts there), or, where whole graphs are classified,
    the one with most edges. Then come the neighbours of the first, those of the second, and so on; neighbours of one
    node by type, class and number of edges, and by where they stood where that is the same. Components follow each
    other.
    """
    count, size = graphs.node_type.shape
    graph, place = torch.arange(count), torch.arange(size)
    joined, there = graphs.undirected, graphs.mask
    degree = joined.sum(2)
    kind = graphs.node_type * (graphs.schema.num_classes + 1) + graphs.label + 1
    # A number that is smaller for what comes earlier among the neighbours of one node; padding comes after all.
    rank = (kind * (size + 1) + (size - degree)) * size + place
    first = ~graphs.target_mask if bool(graphs.target_mask.any()) else (size - degree)
    start = (first.long() * size + place).masked_fill(~there, torch.iinfo(torch.long).max)
    parent = torch.full((count, size), size)  # when the first neighbour of each node came
    came = torch.zeros(count, size, dtype=torch.bool)
    order = torch.zeros(count, size, dtype=torch.long)
    step_over = int(rank.max()) + 1 if rank.numel() else 1
    for step in range(size):
        key = parent * step_over + rank
        key = (start if step == 0 else key.masked_fill(~there, torch.iinfo(torch.long).max - 1)).masked_fill(
            came, torch.iinfo(torch.long).max
        )
        # All padding has one key, of which the first place is taken.
        chosen = key.argmin(1)
        order[:, step] = chosen
        came[graph, chosen] = True
        parent = torch.where(joined[graph, chosen], parent.clamp_max(step), parent)
    return order
