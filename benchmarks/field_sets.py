"""The graphs that people in graph generation compare on, made by their published recipes, and what makes one valid.

*tree*: 200 uniformly random labelled trees of 64 nodes (Bergmeister et al. 2024); *planar*: 200 Delaunay triangulations
of 64 uniform points (Martinkus et al. 2022); both divided into 128, 32 and 40. *lobster*: 100 random lobsters of 10 to
100 nodes with p = .7 and .7 (Liao et al. 2019). *community-small*: 100 graphs of 12 to 20 nodes, two random communities
with edge probability .7 and .05 n edges between them (You et al. 2018).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import networkx as nx
import numpy as np
from scipy.spatial import Delaunay

from dignn.core.seeds import Seed

# Shares of the graphs that are learned from, validate and test; planar graphs and trees have 128, 32 and 40 of 200.
_PARTS = (0.64, 0.16, 0.2)


@dataclass(frozen=True)
class FieldSet:
    """A public set of graphs.

    Args:
        make: makes one of its graphs.
        count: how many there are.
        valid: whether a graph is one of its kind; None where nothing tells.
    """

    make: Callable[[np.random.Generator], nx.Graph]
    count: int
    valid: Callable[[nx.Graph], bool] | None

    def divided(self, seed: Seed) -> tuple[list[nx.Graph], list[nx.Graph], list[nx.Graph]]:
        """Its graphs to learn from, for validation and for the test."""
        rng = seed.numpy()
        graphs = [self.make(rng) for _ in range(self.count)]
        first, second = round(_PARTS[0] * self.count), round((_PARTS[0] + _PARTS[1]) * self.count)
        return graphs[:first], graphs[first:second], graphs[second:]


def random_tree(rng: np.random.Generator, size: int = 64) -> nx.Graph:
    """A uniformly random labelled tree: that of a random Prüfer sequence."""
    return nx.from_prufer_sequence(rng.integers(size, size=size - 2).tolist())


def delaunay(rng: np.random.Generator, size: int = 64) -> nx.Graph:
    """The Delaunay triangulation of uniform points in a square."""
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    for corners in Delaunay(rng.random((size, 2))).simplices.tolist():
        graph.add_edges_from([(corners[0], corners[1]), (corners[1], corners[2]), (corners[0], corners[2])])
    return graph


def lobster(rng: np.random.Generator, least: int = 10, most: int = 100, chance: float = 0.7) -> nx.Graph:
    """A random lobster, drawn anew until its size fits.

    A backbone of up to 160 nodes, of each length with the same chance; a node of it has a leg with chance .7, and a leg
    a further node with chance .7.
    """
    while True:
        graph = nx.path_graph(int(160 * rng.random() + 0.5))
        for joint in range(len(graph)):
            if rng.random() < chance:
                leg = len(graph)
                graph.add_edge(joint, leg)
                if rng.random() < chance:
                    graph.add_edge(leg, leg + 1)
        if least <= len(graph) <= most:
            return graph


def two_communities(rng: np.random.Generator) -> nx.Graph:
    """Two communities of one size, 12 to 20 nodes in all, drawn anew until they are connected."""
    while True:
        half = int(rng.integers(6, 11))
        parts = [nx.gnp_random_graph(half, 0.7, seed=int(rng.integers(2**31))) for _ in range(2)]
        graph = nx.disjoint_union(*parts)
        for _ in range(max(1, round(0.05 * 2 * half))):
            graph.add_edge(int(rng.integers(half)), half + int(rng.integers(half)))
        if nx.is_connected(graph):
            return graph


def is_planar(graph: nx.Graph) -> bool:
    """Whether a graph is connected and can be drawn without crossings."""
    return nx.is_connected(graph) and bool(nx.check_planarity(graph)[0])


def is_lobster(graph: nx.Graph) -> bool:
    """Whether a graph is a tree that is a path once its leaves have been taken away twice."""
    if not nx.is_tree(graph):
        return False
    for _ in range(2):
        graph = graph.subgraph([node for node, degree in graph.degree if degree > 1])
    return not len(graph) or (nx.is_connected(graph) and max(dict(graph.degree).values()) <= 2)


FIELD: dict[str, FieldSet] = {
    "tree": FieldSet(random_tree, 200, nx.is_tree),
    "planar": FieldSet(delaunay, 200, is_planar),
    "lobster": FieldSet(lobster, 100, is_lobster),
    "community-small": FieldSet(two_communities, 100, None),
}
