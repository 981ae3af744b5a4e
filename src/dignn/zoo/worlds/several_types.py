"""Shapes of graphs with several node types: what joins their nodes."""

from __future__ import annotations

import numpy as np

from dignn.graphs.schema import EdgeType
from dignn.zoo.worlds.sketch import Sketch, drawn_classes
from dignn.zoo.worlds.type_plans import TYPE_NAMES, OtherType
from dignn.zoo.worlds.wiring import join, partners
from dignn.zoo.worlds.world_recipe import WorldRecipe, shares

# Probability that an edge ends at a node of the same hidden class, and edges per node.
ALIKE_TYPED, DEGREE_TYPED = 0.9, 2.5
# Relations of one pair of types.
PARALLEL = ("likes", "rents", "sells")


def several_types(recipe: WorldRecipe) -> Sketch:
    """The nodes and edges of a recipe with several node types."""
    rng = recipe.seed.child("shape").numpy()
    target, share = TYPE_NAMES[0], shares(recipe.classes, recipe.imbalance)
    hidden = {target: drawn_classes(recipe.targets, share, rng)}
    for other in recipe.others:
        enough = other.count >= len(share)  # or one node for each of the largest classes
        hidden[other.name] = drawn_classes(other.count, share, rng) if enough else rng.permutation(other.count)
    edges: dict[EdgeType, np.ndarray] = {}
    for other in recipe.others:
        edges |= _relations(recipe, other, hidden, rng)
    directed = set()
    if recipe.shape == "citing type":
        cites = (target, "cites", target)
        pairs = join(hidden[target], None, DEGREE_TYPED, ALIKE_TYPED, partners(recipe.classes, False), rng)
        edges[cites] = pairs[:, ::-1].copy()  # later ones cite earlier ones
        directed.add(cites)
    return Sketch(
        target=target,
        hidden=hidden,
        edges=_isolated(edges, target, rng.random(recipe.targets) < recipe.isolated),
        labels=hidden[target],
        tables={target: (recipe.table, recipe.columns)} | {o.name: (o.table, o.columns) for o in recipe.others},
        directed=frozenset(directed),
    )


def _relations(
    recipe: WorldRecipe, other: OtherType, hidden: dict[str, np.ndarray], rng: np.random.Generator
) -> dict[EdgeType, np.ndarray]:
    """What joins a type to the one that it belongs to: one relation, or several that share no pair of nodes."""
    source, target = hidden[other.parent], hidden[other.name]
    cover = other.parent != TYPE_NAMES[0] or recipe.shape != "rare target"
    pairs = join(source, target, DEGREE_TYPED, ALIKE_TYPED, partners(recipe.classes, False), rng, cover=cover)
    if recipe.shape != "parallel relations" or other.name != TYPE_NAMES[1]:
        return {(other.parent, f"has_{other.name}", other.name): pairs}
    usual = (source[pairs[:, 0]] + (rng.random(len(pairs)) > ALIKE_TYPED)) % len(PARALLEL)
    return {(other.parent, name, other.name): pairs[usual == number] for number, name in enumerate(PARALLEL)}


def _isolated(edges: dict[EdgeType, np.ndarray], target: str, alone: np.ndarray) -> dict[EdgeType, np.ndarray]:
    """The edges without those at targets that are to be alone."""
    kept = {}
    for (source, name, end), pairs in edges.items():
        gone = np.zeros(len(pairs), dtype=bool)
        for place, own in ((0, source), (1, end)):
            if own == target:
                gone |= alone[pairs[:, place]]
        kept[source, name, end] = pairs[~gone]
    return kept
