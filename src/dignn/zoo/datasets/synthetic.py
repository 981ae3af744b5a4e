"""BA-Shapes, Tree-Cycle and Tree-Grids: motifs attached to a base graph; a node's class is its place in a motif.

The constructions are those of GNNExplainer (Ying et al., NeurIPS 2019, section 5): motif k hangs on base node
k * spacing, then a share of random edges is added. All nodes carry the same constant feature.
"""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np

from dignn.core.seeds import Seed
from dignn.graphs.flattening import HOMOGENEOUS_TYPE
from dignn.graphs.inference import infer_schema
from dignn.graphs.motif import GroundTruth, Motif
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.shapes import bare_graph, cycle, grid, house
from dignn.zoo.datasets.splits import EIGHTY_TEN_TEN, stratified_split


@dataclass(frozen=True)
class Recipe:
    """How one of the three graphs is made.

    Args:
        name: name in the registry.
        motif: what is attached, and ``count`` how many times.
        labels: class of each motif node; base nodes have class 0.
        classes: class names.
        random_edges: share of additional random edges.
        second_link: probability that a motif has a second link to the base (Tree-Cycle).
        tree: base graph: a balanced binary tree of depth 8 (511 nodes), else Barabasi-Albert with 300 nodes, 5 links.
    """

    name: str
    motif: Motif
    count: int
    labels: tuple[int, ...]
    classes: tuple[str, ...]
    random_edges: float
    second_link: float = 0.0
    tree: bool = True


# Not in a house, or its middle, bottom or top; in the tree or in a six-cycle; in the tree or in a 3 x 3 grid.
BA_SHAPES = Recipe("ba-shapes", house(), 80, (1, 1, 2, 2, 3), ("base", "middle", "bottom", "top"), 0.01, tree=False)
TREE_CYCLE = Recipe("tree-cycle", cycle(6), 60, (1,) * 6, ("base", "cycle"), 0.01, second_link=0.5)
TREE_GRIDS = Recipe("tree-grids", grid(3), 80, (1,) * 9, ("base", "grid"), 0.1)
SYNTHETIC = {recipe.name: recipe for recipe in (BA_SHAPES, TREE_CYCLE, TREE_GRIDS)}


def load(name: str, *, seed: int = 0, download: bool = False) -> Dataset:
    """One of :data:`SYNTHETIC`; ``download`` has no effect."""
    return make(SYNTHETIC[name], seed)


def make(recipe: Recipe, seed: int) -> Dataset:
    """Generates the graph and its stratified 80/10/10 node split, bit for bit from ``seed``."""
    root = Seed(seed).child("data", recipe.name)
    graph, labels = build(recipe, root)
    once = np.array(sorted((min(edge), max(edge)) for edge in graph.edges), dtype=np.int64).T
    data = bare_graph(len(labels), once, labels)
    motifs: tuple[tuple[Motif, ...], ...] = ((), *(((recipe.motif,),) * (len(recipe.classes) - 1)))
    return Dataset(
        name=recipe.name,
        data=data,
        schema=infer_schema(data, HOMOGENEOUS_TYPE, classes=recipe.classes),
        splits=stratified_split(labels, EIGHTY_TEN_TEN, root),
        sizes=tuple(range(10, 16)),
        truth=GroundTruth(motifs=motifs),
    )


def build(recipe: Recipe, root: Seed) -> tuple[nx.Graph, np.ndarray]:
    """The undirected graph, base nodes first and then motif by motif, and the labels (n,)."""
    if recipe.tree:
        graph = nx.balanced_tree(2, 8)
    else:
        graph = nx.barabasi_albert_graph(300, 5, seed=root.child("base").python())
    base = graph.number_of_nodes()
    spacing = base // recipe.count
    rng = root.child("links").numpy()
    for number in range(recipe.count):
        anchor, first = number * spacing, graph.number_of_nodes()
        graph.add_edges_from((first + u, first + v) for u, v in recipe.motif.edges)
        graph.add_edge(anchor, first)
        if rng.random() < recipe.second_link:
            graph.add_edge(first + int(rng.integers(1, 4)), anchor + int(rng.integers(1, 4)))
    labels = np.array([0] * base + list(recipe.labels) * recipe.count, dtype=np.int64)
    _add_random_edges(graph, int(recipe.random_edges * graph.number_of_edges()), root.child("random edges"))
    return graph, labels


def _add_random_edges(graph: nx.Graph, count: int, seed: Seed) -> None:
    """Joins ``count`` uniformly drawn pairs of distinct nodes that were not joined."""
    rng = seed.numpy()
    while count > 0:
        u, v = (int(node) for node in rng.integers(graph.number_of_nodes(), size=2))
        if u != v and not graph.has_edge(u, v):
            graph.add_edge(u, v)
            count -= 1
