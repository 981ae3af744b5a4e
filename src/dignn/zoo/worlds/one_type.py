"""Shapes of graphs with one node type: a tree, dense communities, hubs, citations, many components."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dignn.graphs.flattening import HOMOGENEOUS_RELATION, HOMOGENEOUS_TYPE
from dignn.zoo.worlds.sketch import Sketch, drawn_classes
from dignn.zoo.worlds.wiring import join, partners, simple
from dignn.zoo.worlds.world_recipe import WorldRecipe, shares

RELATION = (HOMOGENEOUS_TYPE, HOMOGENEOUS_RELATION, HOMOGENEOUS_TYPE)
# Probability that an edge ends at the class that is sought.
SOUGHT = 0.85
# Edges per node before those that repeat are left out.
EDGES_PER_NODE = 3.0
# Nodes of a community and of an island, and how dense a community is.
COMMUNITY, ISLAND, DENSITY = (16, 30), (16, 40), 0.4
# Hubs, and the share of all edges that each of them holds.
HUBS, HELD = 2, 0.1


def one_type(recipe: WorldRecipe) -> Sketch:
    """The nodes and edges of a recipe whose nodes are all of one type and all targets."""
    rng = recipe.seed.child("shape").numpy()
    hidden = drawn_classes(recipe.targets, shares(recipe.classes, recipe.imbalance), rng)
    seeks = partners(recipe.classes, recipe.clue == "unlike neighbours")
    pairs = _WIRED[recipe.shape](hidden, seeks, rng)
    alone = rng.random(len(hidden)) < recipe.isolated
    pairs = pairs[~alone[pairs].any(1)]
    directed = frozenset({RELATION} if recipe.shape == "citations" else ())
    return Sketch(
        target=HOMOGENEOUS_TYPE,
        hidden={HOMOGENEOUS_TYPE: hidden},
        edges={RELATION: pairs},
        labels=hidden,
        tables={HOMOGENEOUS_TYPE: (recipe.table, recipe.columns)},
        directed=directed,
    )


def _tree(hidden: np.ndarray, seeks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each node but the first is a child of an earlier one, of the class that it seeks where it can."""
    children = np.arange(1, len(hidden))
    parents = _earlier(hidden, children, seeks, rng)
    return simple(np.stack([children, parents], axis=1), inside=True)


def _citations(hidden: np.ndarray, seeks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each node cites some earlier ones."""
    citing = np.repeat(np.arange(1, len(hidden)), rng.integers(1, 2 * int(EDGES_PER_NODE), len(hidden) - 1))
    pairs = np.stack([citing, _earlier(hidden, citing, seeks, rng)], axis=1)
    return np.unique(pairs, axis=0)


def _earlier(hidden: np.ndarray, nodes: np.ndarray, seeks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(m,) for each of some nodes one before it, mostly of the class that it seeks."""
    found = (rng.random(len(nodes)) * nodes).astype(np.int64)
    members = [np.flatnonzero(hidden == number) for number in range(len(seeks))]
    for place in np.flatnonzero(rng.random(len(nodes)) < SOUGHT).tolist():
        pool = members[seeks[hidden[nodes[place]]]]
        before = int(np.searchsorted(pool, nodes[place]))
        if before:
            found[place] = pool[int(rng.integers(before))]
    return found


def _communities(hidden: np.ndarray, seeks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Groups of one class in which almost half of all pairs are joined, and few edges between them."""
    groups = _groups(hidden, seeks, COMMUNITY, rng)
    inside = [group[np.argwhere(np.triu(rng.random((len(group), len(group))) < DENSITY, 1))] for group in groups]
    between = rng.integers(len(hidden), size=(len(hidden) // 4, 2))
    return simple(np.concatenate([*inside, between]), inside=True)


def _islands(hidden: np.ndarray, seeks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Components: a random tree of each group, and a few edges more."""
    pairs = []
    for group in _groups(hidden, seeks, ISLAND, rng):
        parents = (rng.random(len(group) - 1) * np.arange(1, len(group))).astype(np.int64)
        pairs += [np.stack([group[1:], group[parents]], axis=1), group[rng.integers(len(group), size=(len(group), 2))]]
    return simple(np.concatenate(pairs), inside=True)


def _groups(
    hidden: np.ndarray, seeks: np.ndarray, sizes: tuple[int, int], rng: np.random.Generator
) -> list[np.ndarray]:
    """Groups of nodes, most of them of one class (or of the two that seek each other)."""
    pair = np.minimum(np.arange(len(seeks)), seeks)[hidden]
    moved = rng.random(len(hidden)) >= SOUGHT
    pair[moved] = rng.permutation(pair[moved])
    order = rng.permutation(len(hidden))
    order = order[np.argsort(pair[order], kind="stable")]
    ends = np.cumsum(rng.integers(*sizes, len(hidden) // sizes[0]))
    groups = np.split(order, ends[ends < len(order) - sizes[0]])
    return [groups[number] for number in rng.permutation(len(groups))]


def _hubs(hidden: np.ndarray, seeks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Edges between random nodes, and hubs that hold a tenth of all edges each."""
    pairs = join(hidden, None, EDGES_PER_NODE, SOUGHT, seeks, rng)
    hubs = rng.choice(len(hidden), HUBS, replace=False)
    held = int(HELD * len(pairs) / (1 - HUBS * HELD)) + 1
    rays = [np.stack([np.full(held, hub), rng.choice(len(hidden), held, replace=False)], axis=1) for hub in hubs]
    return simple(np.concatenate([pairs, *rays]), inside=True)


_WIRED: dict[str, Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]] = {
    "tree": _tree,
    "communities": _communities,
    "hubs": _hubs,
    "citations": _citations,
    "islands": _islands,
}
