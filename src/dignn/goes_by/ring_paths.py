"""All chordless cycles of many small graphs at once."""

from __future__ import annotations

import numpy as np

from dignn.evidence.cycles import LONGEST_CYCLE, MOST_CYCLES, MOST_PATHS

# Nodes of graphs, squared, that are looked at together: bounds memory.
_CELLS = 2**19


def rings_of(joined: np.ndarray) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Cycles without chords of three to ``LONGEST_CYCLE`` nodes, each once.

    All paths without chords grow together, from the node of the lowest position in a cycle, one node at a time. Of a
    graph with too many cycles, or paths that may become some, longer ones are not looked for.

    Args:
        joined: (B, N, N) bool, symmetric, False on the diagonal.

    Returns:
        By the number of nodes: (c,) graphs, (c, number) positions in order around the cycle.
    """
    at_once = max(1, _CELLS // max(1, joined.shape[1]) ** 2)
    parts = [(begin, _rings(joined[begin : begin + at_once])) for begin in range(0, max(1, len(joined)), at_once)]
    found = {}
    for number in range(3, LONGEST_CYCLE + 1):
        graphs = np.concatenate([begin + part[number][0] for begin, part in parts])
        found[number] = graphs, np.concatenate([part[number][1] for _, part in parts])
    return found


def _rings(joined: np.ndarray) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    count, size = joined.shape[:2]
    graph, u, v = joined.nonzero()
    degree = np.bincount(graph * size + u, minlength=count * size)
    first = np.cumsum(degree) - degree  # where the neighbours of a node begin in v
    forward = u < v
    graph, path = graph[forward], np.stack([u[forward], v[forward]], axis=1)
    found = {}
    for number in range(3, LONGEST_CYCLE + 1):
        last = graph * size + path[:, -1]
        place = np.repeat(np.arange(len(path)), degree[last])
        within = np.arange(len(place)) - np.repeat(np.cumsum(degree[last]) - degree[last], degree[last])
        new = v[first[last][place] + within]
        kept = new > path[place, 0]
        kept &= new != path[place, -2]
        place, new = place[kept], new[kept]
        for inner in range(1, number - 2):  # no chord to nodes between the first and the last
            fits = ~joined[graph[place], path[place, inner], new]
            place, new = place[fits], new[fits]
        closes = joined[graph[place], path[place, 0], new]
        once = closes & (path[place, 1] < new)  # of the two ways around
        found[number] = graph[place[once]], np.column_stack([path[place[once]], new[once]])
        few = np.bincount(found[number][0], minlength=count) <= MOST_CYCLES
        few &= np.bincount(graph[place[~closes]], minlength=count) <= MOST_PATHS
        grows = ~closes & few[graph[place]]
        graph, path = graph[place[grows]], np.column_stack([path[place[grows]], new[grows]])
    return found
