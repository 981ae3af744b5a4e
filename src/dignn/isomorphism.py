"""Are two small typed graphs the same graph? Fingerprints first, an exact test where they agree.

Colours of nodes are refined by the colours around them (Weisfeiler and Leman), for all graphs of a batch at once. A
colour is a 64-bit number and a multiset of colours the sum of their scrambled values, modulo 2^64, so a fingerprint
depends on neither the order of nodes nor the padding, the other graphs of the batch, the process or the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dignn.batch import GraphBatch

# Closed walks of up to this length tell regular graphs apart, whose colours refinement alone leaves equal.
WALK_LENGTH = 8
# Cells of adjacency matrices refined at once: few enough for the cache, enough to hide NumPy's overhead.
_CELLS = 100_000
# Graphs whose colours `distinct` looks at together.
_BLOCK = 256


def fingerprints(batch: GraphBatch) -> list[str]:
    """A text per graph that isomorphic graphs (types, labels of nodes and graph, relations, orientations) share.

    Nodes start with their type, label and closed walks and are refined for n rounds. Different graphs rarely share
    one; :func:`distinct` decides such cases exactly. Features are not looked at.
    """
    return [f"{value:016x}" for colours in _colours(batch) for value in colours.fingerprints.tolist()]


def isomorphic(one: GraphBatch, other: GraphBatch) -> bool:
    """Exactly, for the first graph of each batch. Features are not looked at."""
    (first,), (second,) = _colours(one[0]), _colours(other[0])
    return first.fingerprints[0] == second.fingerprints[0] and _same(first.graph(0), second.graph(0))


def distinct(batch: GraphBatch, order: Sequence[int], limit: int | None = None) -> list[int]:
    """The first ``limit`` graphs of ``order`` of which no two are isomorphic."""
    kept: list[int] = []
    by_fingerprint: dict[int, list[_Coloured]] = {}
    for begin in range(0, len(order), _BLOCK):
        if limit is not None and len(kept) >= limit:
            break
        numbers = iter(order[begin : begin + _BLOCK])
        for colours in _colours(batch[order[begin : begin + _BLOCK]]):
            for place, fingerprint in enumerate(colours.fingerprints.tolist()):
                number, graph = next(numbers), colours.graph(place)
                alike = by_fingerprint.setdefault(fingerprint, [])
                if not any(_same(graph, other) for other in alike):
                    alike.append(graph)
                    kept.append(number)
    return kept[:limit]


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


@dataclass(frozen=True)
class _Colours:
    """Refined graphs of a batch: colours are (B, N), fingerprints (B,); the rest as in GraphBatch."""

    node_type: np.ndarray
    label: np.ndarray
    edge: np.ndarray
    graph_label: np.ndarray
    colour: np.ndarray
    fingerprints: np.ndarray

    def graph(self, number: int) -> _Coloured:
        there = self.node_type[number] >= 0
        token = np.stack([self.node_type[number], self.label[number]], axis=1)[there]
        edge = self.edge[number][there][:, there]
        return _Coloured(int(self.graph_label[number]), token, self.colour[number][there], edge)


def _colours(batch: GraphBatch) -> Iterator[_Colours]:
    """The batch in order, some graphs at a time."""
    at_once = max(1, _CELLS // max(1, batch.node_type.size(1) ** 2))
    for begin in range(0, len(batch), at_once):
        part = slice(begin, begin + at_once)
        node_type, label, edge, graph_label = (
            getattr(batch, name)[part].numpy() for name in ("node_type", "label", "edge", "graph_label")
        )
        colour, fingerprint = _refine(node_type, label, edge, graph_label)
        yield _Colours(node_type, label, edge, graph_label, colour, fingerprint)


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
    """Whether some order of nodes makes two graphs equal.

    Nodes can only correspond to nodes of the same colour, which nearly decides; what is left open is tried, each
    node beside one that has its place already.
    """
    if one.label != other.label or one.token.shape != other.token.shape:
        return False
    if np.array_equal(one.token, other.token) and np.array_equal(one.edge, other.edge):
        return True
    if not np.array_equal(np.sort(one.colour), np.sort(other.colour)):
        return False
    if len(np.unique(one.colour)) == len(one.colour):
        return _equal(one, other, one.colour.argsort(), other.colour.argsort())
    order = _order(one)
    image = _search(one, other, order)
    return image is not None and _equal(one, other, np.array(order), np.array(image))


def _equal(one: _Coloured, other: _Coloured, order: np.ndarray, image: np.ndarray) -> bool:
    """Whether ``one`` in ``order`` is ``other`` in the order ``image``."""
    return np.array_equal(one.token[order], other.token[image]) and np.array_equal(
        one.edge[order][:, order], other.edge[image][:, image]
    )


def _order(graph: _Coloured) -> list[int]:
    """Every node beside an earlier one where there is one, rare colours first."""
    _, kind, count = np.unique(graph.colour, return_inverse=True, return_counts=True)
    rarity = count[kind]
    joined = (graph.edge > 0) | (graph.edge > 0).T
    beside = np.zeros(len(rarity), dtype=bool)
    left = np.ones(len(rarity), dtype=bool)
    order = []
    for _ in range(len(rarity)):
        options = np.flatnonzero(left & beside) if (left & beside).any() else np.flatnonzero(left)
        node = int(options[rarity[options].argmin()])
        order.append(node)
        left[node] = False
        beside |= joined[node]
    return order


def _search(one: _Coloured, other: _Coloured, order: list[int]) -> list[int] | None:
    """Nodes of ``other`` that the nodes of ``one``, in ``order``, correspond to; None if there is no such choice."""
    edge, across = one.edge.tolist(), other.edge.tolist()
    alike: dict[int, list[int]] = {}
    for node, colour in enumerate(other.colour.tolist()):
        alike.setdefault(colour, []).append(node)
    options = [alike[colour] for colour in one.colour[order].tolist()]
    image: list[int] = []
    tried = [0]  # how many options of each level have been tried
    while len(image) < len(order):
        level = len(image)
        found = None
        while found is None and tried[level] < len(options[level]):
            candidate = options[level][tried[level]]
            tried[level] += 1
            node = order[level]
            if candidate not in image and all(
                edge[node][before] == across[candidate][there] and edge[before][node] == across[there][candidate]
                for before, there in zip(order, image, strict=False)
            ):
                found = candidate
        if found is not None:
            image.append(found)
            tried.append(0)
        elif not image:
            return None
        else:
            tried.pop()
            image.pop()
    return image
