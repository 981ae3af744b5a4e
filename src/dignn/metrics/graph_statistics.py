"""Numbers that describe a graph, the same for every order of its nodes: what a classifier sees of it.

Graphs of one size are described together, as stacked matrices.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dignn.graphs.plain_graph import PlainGraph

# Degrees and distances counted apart; larger ones together.
DEGREES, DISTANCES = 7, 6
EIGENVALUE_QUANTILES = 5
# Types that have columns of their own, and how far apart their nodes are counted.
TYPES, RINGS = 20, 4
# Isomorphic graphs give sums in another order; rounded, they are equal to the last bit.
_DIGITS = 6


def statistics(graphs: Sequence[PlainGraph]) -> np.ndarray:
    """Statistics of structure alone: neither types nor relations.  (graphs, columns)"""
    rows = np.zeros((len(graphs), _describe(np.zeros((1, 1, 1))).shape[1]))
    for numbers in by_size(graphs).values():
        adjacency = np.stack([graphs[number].adjacency for number in numbers])
        rows[numbers] = np.round(_describe(adjacency), _DIGITS) + 0.0  # no negative zeros
    return rows


def typed_statistics(graphs: Sequence[PlainGraph]) -> np.ndarray:
    """Nodes by type, and for every pair of types: its nodes at distances 1 to 4, and how neighbours gather at a node.

    The 20 most frequent types have columns of their own. (graphs, columns); columns are not 0 for some graph.
    """
    codes, count = np.unique(np.concatenate([graph.types for graph in graphs]), return_counts=True)
    codes = np.sort(codes[np.lexsort((codes, -count))][:TYPES])
    kinds = len(codes)
    upper = np.triu(np.ones((kinds, kinds), dtype=bool))
    rows = np.zeros((len(graphs), kinds + RINGS * int(upper.sum()) + 2 * kinds**2))
    for size, numbers in by_size(graphs).items():
        adjacency = _without_loops(np.stack([graphs[number].adjacency for number in numbers]))
        types = np.stack([graphs[number].types for number in numbers]).reshape(-1, size, 1)
        one_hot = (types == codes).astype(float)  # (graphs, nodes, kinds)
        turned = one_hot.transpose(0, 2, 1)
        rings = _rings(adjacency, RINGS)
        found = [one_hot.sum(1), *((turned @ ring @ one_hot)[:, upper] for ring in rings)]
        found += [np.zeros((len(numbers), int(upper.sum())))] * (RINGS - len(rings))
        around = adjacency @ one_hot  # neighbours of each kind
        most = np.stack([(around * one_hot[:, :, [kind]]).max(1) for kind in range(kinds)], axis=1)
        squares = turned @ around**2
        rows[numbers] = np.hstack([*found, most.reshape(len(numbers), -1), squares.reshape(len(numbers), -1)])
    return rows[:, (rows != 0).any(0)]


def by_size(graphs: Sequence[PlainGraph]) -> dict[int, list[int]]:
    """Positions of the graphs of each number of nodes; graphs without nodes are left out."""
    found: dict[int, list[int]] = {}
    for number, graph in enumerate(graphs):
        if len(graph):
            found.setdefault(len(graph), []).append(number)
    return found


def _describe(adjacency: np.ndarray) -> np.ndarray:
    """Statistics of graphs of one size.  adjacency: (graphs, n, n) -> (graphs, columns)"""
    size = adjacency.shape[1]
    loops = np.trace(adjacency, axis1=1, axis2=2)
    adjacency = _without_loops(adjacency)
    degree = adjacency.sum(2)
    edges = degree.sum(1) / 2
    squared = adjacency @ adjacency
    triangles = (squared * adjacency).sum(2) / 2  # of each node
    pairs = degree * (degree - 1) / 2
    clustering = triangles / np.maximum(pairs, 1)
    # Closed walks of four steps that are no cycles go back and forth along one edge or two.
    squares = ((squared**2).sum((1, 2)) - 2 * (degree**2).sum(1) + 2 * edges) / 8
    ordered = np.sort(degree, axis=1)[:, ::-1]
    columns = [
        np.full(len(adjacency), float(size)),
        edges,
        loops,
        edges / max(size * (size - 1) / 2, 1),
        *(_column(ordered, place) for place in range(3)),
        degree.std(1),
        (degree**2).sum(1),
        (degree**3).sum(1),
        *((degree == number).sum(1) for number in range(DEGREES)),
        (degree >= DEGREES).sum(1),
        # Which degrees are joined: the sum over edges of the product and of the difference.
        np.einsum("gu,guv,gv->g", degree, adjacency, degree) / 2,
        (adjacency * np.abs(degree[:, :, None] - degree[:, None, :])).sum((1, 2)) / 2,
        triangles.sum(1) / 3,
        triangles.max(1),
        clustering.mean(1),
        triangles.sum(1) / np.maximum(pairs.sum(1), 1),
        squares,
        *_of_spectra(adjacency, degree),
        *_of_distances(adjacency),
    ]
    return np.stack(columns, axis=1)


def _of_spectra(adjacency: np.ndarray, degree: np.ndarray) -> list[np.ndarray]:
    """Statistics of the eigenvalues of the normalised Laplacian and of the adjacency."""
    inverse = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    laplacian = -inverse[:, :, None] * adjacency * inverse[:, None, :]
    places = np.arange(adjacency.shape[1])
    laplacian[:, places, places] = degree > 0
    values, own = np.linalg.eigvalsh(laplacian), np.linalg.eigvalsh(adjacency)
    quantiles = np.linspace(0, 1, EIGENVALUE_QUANTILES + 2)[1:-1]
    return [
        _column(values, 1),
        _column(values, -1),
        values.std(1),
        (values**3).sum(1),
        (np.abs(values - 1) < 1e-6).sum(1),
        *(np.quantile(values, share, axis=1) for share in quantiles),
        _column(own, -1),
        _column(own, -2),
        np.abs(own).sum(1),
        (np.abs(own) < 1e-6).sum(1),
    ]


def _of_distances(adjacency: np.ndarray) -> list[np.ndarray]:
    """Statistics of the lengths of shortest paths."""
    count, size, _ = adjacency.shape
    rings = _rings(adjacency, size)
    distance = sum((number * ring for number, ring in enumerate(rings, 1)), np.zeros(adjacency.shape))
    histogram = [ring.sum((1, 2)) / 2 for ring in rings[:DISTANCES]]
    histogram += [np.zeros(count)] * (DISTANCES - len(histogram))
    reached = (distance > 0).sum((1, 2))
    eccentricity = distance.max(2)
    return [
        *histogram,
        eccentricity.max(1),
        eccentricity.min(1),
        eccentricity.std(1),
        distance.sum((1, 2)) / np.maximum(reached, 1),
        (distance.sum(2) ** 2).sum(1),
        size * (size - 1.0) - reached,  # ordered pairs that no path joins
    ]


def _rings(adjacency: np.ndarray, most: int) -> list[np.ndarray]:
    """Which pairs of nodes are at distance 1, 2, ..., ``most``, as far as there are any.  (graphs, n, n) each"""
    reached = np.broadcast_to(np.eye(adjacency.shape[1], dtype=bool), adjacency.shape)
    ring = adjacency > 0
    found: list[np.ndarray] = []
    while len(found) < most and ring.any():
        found.append(ring.astype(float))
        reached = reached | ring
        ring = (found[-1] @ adjacency > 0) & ~reached
    return found


def _without_loops(adjacency: np.ndarray) -> np.ndarray:
    return adjacency * (1 - np.eye(adjacency.shape[1]))


def _column(values: np.ndarray, place: int) -> np.ndarray:
    """A column, or zeros where there is none.  (graphs,)"""
    there = -values.shape[1] <= place < values.shape[1]
    return values[:, place] if there else np.zeros(len(values))
