"""Graphs to be classified: side by side in one sketch, each a random tree with some edges more."""

from __future__ import annotations

import numpy as np

from dignn.zoo.worlds.one_type import HOMOGENEOUS_TYPE, RELATION
from dignn.zoo.worlds.sketch import Sketch, drawn_classes
from dignn.zoo.worlds.wiring import simple
from dignn.zoo.worlds.world_recipe import GRAPH_SIZES, WorldRecipe, shares

# Share of a graph's nodes that are of its class; the others are of no class or of any.
OWN_SHARE, NO_CLASS = 0.55, 0.7
# Edges beside the tree for each node, by class in turn.
MORE_EDGES = (0.1, 0.35, 0.6)


def many_graphs(recipe: WorldRecipe) -> Sketch:
    """The nodes and edges of all graphs of a recipe; the hidden class of a node may be that of no class."""
    rng = recipe.seed.child("shape").numpy()
    labels = drawn_classes(recipe.targets, shares(recipe.classes, recipe.imbalance), rng)
    least, most = GRAPH_SIZES[recipe.shape]
    sizes = rng.integers(least, most + 1, recipe.targets)
    sizes[:2] = least, most
    graph = np.repeat(np.arange(recipe.targets), sizes)
    other = np.where(rng.random(len(graph)) < NO_CLASS, recipe.classes, rng.integers(recipe.classes, size=len(graph)))
    hidden = np.where(rng.random(len(graph)) < OWN_SHARE, labels[graph], other)
    first = np.cumsum(sizes) - sizes
    pairs = [
        _edges(int(size), int(label), rng) + start for size, label, start in zip(sizes, labels, first, strict=True)
    ]
    return Sketch(
        target=HOMOGENEOUS_TYPE,
        hidden={HOMOGENEOUS_TYPE: hidden},
        edges={RELATION: np.concatenate(pairs)},
        labels=labels,
        tables={HOMOGENEOUS_TYPE: (recipe.table, recipe.columns)},
        graph=graph,
    )


def _edges(size: int, label: int, rng: np.random.Generator) -> np.ndarray:
    """(E, 2) of one graph: a random tree, and more edges in some classes than in others."""
    parents = (rng.random(size - 1) * np.arange(1, size)).astype(np.int64)
    more = rng.integers(size, size=(round(MORE_EDGES[label % len(MORE_EDGES)] * size), 2))
    return simple(np.concatenate([np.stack([np.arange(1, size), parents], axis=1), more]), inside=True)
