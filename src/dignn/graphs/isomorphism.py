"""Are two small typed graphs the same graph? Fingerprints first, an exact test (igraph's VF2) where they agree.

Colours of nodes are refined by the colours around them (Weisfeiler and Leman), for all graphs of a batch at once. A
colour is a 64-bit number and a multiset of colours the sum of their scrambled values, modulo 2^64, so a fingerprint
depends on neither the order of nodes nor the padding, the other graphs of the batch, the process or the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dignn.graphs.batch import GraphBatch
from dignn.graphs.igraph_graphs import igraph_of

# Closed walks of up to this length tell regular graphs apart, whose colours refinement alone leaves equal.
WALK_LENGTH = 8
# Cells of adjacency matrices refined at once: few enough for the cache, enough to hide NumPy's overhead.
_CELLS = 100_000


def fingerprints(batch: GraphBatch) -> list[str]:
    """A text per graph that isomorphic graphs (types, labels of nodes and graph, relations, orientations) share.

    Nodes start with their type, label and closed walks and are refined for n rounds. Different graphs rarely share
    one; :func:`kinds` decides such cases exactly. Features are not looked at.
    """
    return [f"{value:016x}" for value in _colours(batch)[1]]


def isomorphic(one: GraphBatch, other: GraphBatch) -> bool:
    """Exactly, for the first graph of each batch. Features are not looked at."""
    (name, first), (name_of_other, second) = _coloured(one[0])[0], _coloured(other[0])[0]
    return name == name_of_other and _same(first, second)


def kinds(batch: GraphBatch) -> list[int]:
    """Of each graph the number of the first that is isomorphic to it, which may be its own. Exactly."""
    found: list[int] = []
    by_fingerprint: dict[int, list[tuple[int, _Coloured]]] = {}
    for number, (fingerprint, graph) in enumerate(_coloured(batch)):
        alike = by_fingerprint.setdefault(fingerprint, [])
        first = next((known for known, other in alike if _same(graph, other)), None)
        if first is None:
            alike.append((number, graph))
        found.append(number if first is None else first)
    return found


def first_of_kind(kind: Sequence[int], order: Sequence[int], limit: int | None = None) -> list[int]:
    """The first ``limit`` graphs of ``order`` of which no two are of one of the :func:`kinds`."""
    first: dict[int, int] = {}
    for number in order:
        first.setdefault(kind[number], number)
    return list(first.values())[:limit]


def distinct(batch: GraphBatch, order: Sequence[int], limit: int | None = None) -> list[int]:
    """The first ``limit`` graphs of ``order`` of which no two are isomorphic."""
    return first_of_kind(kinds(batch), order, limit)


# -- colours ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Coloured:
    """One graph without padding: n nodes.

    Args:
        label: its class.
        token: (n, 2) type and label of nodes.
        colour: (n,) refined colours.
        edge: (n, n) relations.
    """

    label: int
    token: np.ndarray
    colour: np.ndarray
    edge: np.ndarray


def _coloured(batch: GraphBatch) -> list[tuple[int, _Coloured]]:
    """Each graph's fingerprint and the graph itself."""
    colour, names = _colours(batch)
    token = np.stack([batch.node_type.numpy(), batch.label.numpy()], axis=2)
    found = []
    for number, (name, label) in enumerate(zip(names, batch.graph_label.tolist(), strict=True)):
        there = token[number, :, 0] >= 0
        edge = batch.edge[number].numpy()[there][:, there]
        found.append((name, _Coloured(label, token[number][there], colour[number][there], edge)))
    return found


def _colours(batch: GraphBatch) -> tuple[np.ndarray, list[int]]:
    """Refined colours (B, N), 0 on padding, and fingerprints."""
    at_once = max(1, _CELLS // max(1, batch.node_type.size(1) ** 2))
    parts = [slice(begin, begin + at_once) for begin in range(0, max(1, len(batch)), at_once)]
    names = ("node_type", "label", "edge", "graph_label")
    refined = [_refine(*(getattr(batch, name)[part].numpy() for name in names)) for part in parts]
    return np.concatenate([colour for colour, _ in refined]), np.concatenate([name for _, name in refined]).tolist()


def _refine(
    node_type: np.ndarray, label: np.ndarray, edge: np.ndarray, graph_label: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Refined colours (B, N), 0 on padding, and fingerprints (B,)."""
    there = node_type >= 0
    graph, place = there.nonzero()
    if not len(graph):
        return np.zeros(there.shape, np.uint64), _mix(_mix(_pair(graph_label, np.zeros_like(graph_label))))
    sizes = there.sum(1)
    node = np.zeros(there.shape, np.int64)
    node[there] = np.arange(len(graph))
    here, u, v = ((edge > 0) | (edge > 0).transpose(0, 2, 1)).nonzero()
    source, target = node[here, u], node[here, v]  # sorted by source, so that sums run over slices
    code = _mix(_pair(edge[here, u, v], edge[here, v, u]))
    colour = _mix(_pair(node_type[there], label[there]))
    colour = _with_walks(colour, place, source, target, code)
    for done in range(int(sizes.max())):
        around = _sum(_mix(code + colour[target]), source, len(colour))
        refined = _mix(_mix(colour) + around)
        colour = np.where(done < sizes[graph], refined, colour)  # n rounds, whatever the batch's largest graph
    result = np.zeros(there.shape, np.uint64)
    result[there] = colour
    return result, _mix(_mix(_pair(graph_label, sizes)) + _sum(_mix(colour), graph, len(there)))


def _with_walks(
    colour: np.ndarray, place: np.ndarray, source: np.ndarray, target: np.ndarray, code: np.ndarray
) -> np.ndarray:
    """Colours (n,) scrambled with closed walks from each node, a walk counted as the product of its arcs' weights."""
    weight = _mix(code + colour[target]) | np.uint64(1)
    one = np.arange(len(colour))
    walks = np.zeros((len(colour), int(place.max()) + 1), np.uint64)  # from a node to each place of its graph
    walks[one, place] = 1
    for _ in range(WALK_LENGTH):
        walks = _sum(weight[:, None] * walks[target], source, len(colour))
        colour = _mix(_mix(colour) + walks[one, place])
    return colour


def _pair(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Two small integers, from -1, as one number."""
    return (one + 1).astype(np.uint64) << np.uint64(32) | (other + 1).astype(np.uint64)


def _mix(value: np.ndarray) -> np.ndarray:
    """Scrambles 64 bits, one to one (the last steps of SplitMix64)."""
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def _sum(values: np.ndarray, index: np.ndarray, count: int) -> np.ndarray:
    """Sums modulo 2^64 of values with the same index; ``index`` is sorted.  (count, ...)"""
    total = np.zeros((count, *values.shape[1:]), np.uint64)
    if len(index):
        begin = np.flatnonzero(np.concatenate([[True], index[1:] != index[:-1]]))
        total[index[begin]] = np.add.reduceat(values, begin, axis=0)
    return total


# -- the exact test -----------------------------------------------------------------------------------


def _same(one: _Coloured, other: _Coloured) -> bool:
    """Whether some order of nodes makes two graphs equal; only nodes of one colour, type and label can correspond."""
    if one.label != other.label or len(one.colour) != len(other.colour):
        return False
    if np.array_equal(one.token, other.token) and np.array_equal(one.edge, other.edge):
        return True
    code: dict[tuple[int, ...], int] = {}
    arcs, nodes, relations = [], [], []
    for graph in (one, other):
        place = graph.edge.nonzero()
        arcs.append(igraph_of(len(graph.colour), np.stack(place, axis=1).tolist(), directed=True))
        kinds = zip(graph.colour.tolist(), *graph.token.T.tolist(), strict=True)
        nodes.append([code.setdefault(kind, len(code)) for kind in kinds])
        relations.append(graph.edge[place].tolist())
    return bool(arcs[0].isomorphic_vf2(arcs[1], *nodes, *relations))
