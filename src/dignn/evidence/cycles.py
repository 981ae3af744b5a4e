"""Cycles of a graph: those short enough to be recognised, and whether a node lies on any at all."""

from __future__ import annotations

from torch import Tensor

from dignn.graphs.igraph_graphs import igraph_of
from dignn.selection.motifs.groups import nodes_of

# Longer cycles are not shapes that a reader recognises.
LONGEST_CYCLE = 8
# When there are more cycles, or more paths that may become some, longer ones are not looked for.
MOST_CYCLES, MOST_PATHS = 500, 20_000


def chordless_cycles(joined: Tensor, node: int | None = None) -> list[tuple[int, ...]]:
    """Cycles without chords of up to ``LONGEST_CYCLE`` nodes, shortest first; each once, its nodes in order.

    All paths without chords grow together, one node at a time. So of each length all cycles are found or none, and what
    is found does not depend on the order of nodes.

    Args:
        joined: (N, N) bool, symmetric.
        node: only cycles through this node; None for those anywhere.
    """
    # Of each node the set of its neighbours, as an integer, bit v for node v.
    near = [sum(1 << v for v in row.nonzero()[:, 0].tolist() if v != u) for u, row in enumerate(joined)]
    starts = range(len(near)) if node is None else [node]
    # a path of nodes, and the set of those that must not come next: in it, or beside its inner nodes but the last
    paths: list[tuple[tuple[int, ...], int]]
    paths = [((start, v), 1 << start | 1 << v) for start in starts for v in nodes_of(near[start])]
    found: dict[frozenset[int], tuple[int, ...]] = {}  # a cycle without chords is known by its nodes
    for _ in range(3, LONGEST_CYCLE + 1):
        longer: list[tuple[tuple[int, ...], int]] = []
        for path, blocked in paths:
            last = path[-1]
            for v in nodes_of(near[last] & ~blocked):
                grown = (*path, v)
                if near[path[0]] >> v & 1:
                    found.setdefault(frozenset(grown), grown)
                else:
                    longer.append((grown, blocked | near[last] | 1 << v))
        if len(found) > MOST_CYCLES or len(longer) > MOST_PATHS:
            break
        paths = longer
    return list(found.values())


def on_cycle(joined: Tensor, node: int) -> bool:
    """Whether a node lies on a cycle, of any length: whether two of its neighbours are joined without it.

    Args:
        joined: (N, N) bool, symmetric.
        node: position of the node.
    """
    rest = joined.clone()
    rest[node] = rest[:, node] = False
    component = igraph_of(len(rest), rest.nonzero().tolist()).connected_components().membership
    reached = [component[v] for v in joined[node].nonzero()[:, 0].tolist() if v != node]
    return len(set(reached)) < len(reached)
