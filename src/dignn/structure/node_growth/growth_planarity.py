"""Node growth, planarity: where all training graphs can be drawn without crossings, so can all that grows.

A graph of which an edge is taken away stays planar, so nothing that is not planar can become so: an edge that would
cross others is refused when it is proposed, and what a planar graph needs is never refused (cf. ConStruct, Madeira et
al., NeurIPS 2024). An exact network never proposes such an edge, so the distribution that it generates stays.
"""

from __future__ import annotations

import rustworkx
import torch
from torch import Tensor

# Of fewer training graphs nobody can say that all graphs of their kind are planar.
TELLING = 30
# A connected graph with fewer edges beyond a tree is always planar: K(3, 3) has four.
_ALWAYS = 4


def all_planar(joined: Tensor) -> bool:
    """Whether connected graphs with these edges (B, N, N) are enough to tell, and all planar."""
    return len(joined) >= TELLING and all(is_planar(edges) for edges in joined.unbind(0))


def is_planar(joined: Tensor) -> bool:
    """Whether a connected graph with these edges (N, N) can be drawn without crossings; single nodes do not count."""
    nodes, edges = int(joined.any(1).sum()), int(joined.sum()) // 2
    if edges - nodes + 1 < _ALWAYS:
        return True
    if edges > 3 * nodes - 6:  # Euler's formula
        return False
    graph = rustworkx.PyGraph(multigraph=False)
    graph.extend_from_edge_list(list(map(tuple, joined.triu(1).nonzero().tolist())))
    return bool(rustworkx.is_planar(graph))


def crossing(joined: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """(B,) whether an edge from u (B,) to v (B,) makes planar graphs with edges (B, N, N) planar no more."""
    here = torch.arange(len(u), device=u.device)
    joined = joined.clone()
    # A node with one neighbour lies anywhere beside an edge of that neighbour, so it can be joined to its other end.
    only = joined[here, v].long().argmax(1)
    beside = (joined[here, v].sum(1) == 1) & joined[here, only, u]
    joined[here, u, v] = joined[here, v, u] = True
    found = [not near and not is_planar(edges) for near, edges in zip(beside.tolist(), joined.cpu(), strict=True)]
    return torch.tensor(found, dtype=torch.bool, device=u.device)
