"""The recipe of a world: all its properties, readable in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dignn.core.seeds import Seed
from dignn.zoo.worlds.decks import GRAPH_SHAPES, ONE_TYPE_SHAPES, hand_of
from dignn.zoo.worlds.type_plans import OtherType, other_types

# Words for the shapes of graphs.
SHAPE_WORDS = {
    "tree": "a tree",
    "communities": "dense communities",
    "hubs": "two hubs that hold a tenth of all edges each",
    "citations": "a directed relation",
    "islands": "many components",
    "bipartite": "a bipartite graph",
    "parallel relations": "three relations between one pair of types",
    "twenty types": "a metagraph that is a tree",
    "rare target": "one target in a thousand nodes",
    "citing type": "a directed relation inside the target type",
    "small graphs": "small graphs",
    "large graphs": "large graphs",
}
CLUE_WORDS = {
    "own rows": "the class shows in a node's own row",
    "neighbours": "the class shows in neighbours",
    "unlike neighbours": "neighbours are of another class",
    "two steps away": "the class shows only two steps away",
}
_EDGE_WORDS = {
    "weight": "edge weights",
    "one-hot": "edges of kinds, one-hot",
    "several": "edges with continuous, one-hot and count columns",
    "continuous": "edges with continuous columns",
}
# Nodes of the smallest and of the largest graph, where graphs are classified, and how many graphs there are.
GRAPH_SIZES = {"small graphs": (5, 20), "large graphs": (15, 60)}
GRAPH_NUMBERS = {"small graphs": (500, 700), "large graphs": (250, 350)}
RARE_TARGETS = (80, 120)
# Targets (or graphs) of a world without special needs, and of the smallest class at least.
TARGETS, FEWEST = (1200, 1800), 9
# Labelled targets where not all are, unless it takes more targets than this.
LABELLED, MOST = 250, 3500


@dataclass(frozen=True)
class WorldRecipe:
    """Properties of a world.

    Args:
        number: of the world; decides everything else.
        shape: of the graph, one of :data:`SHAPE_WORDS`.
        types: node types.
        targets: nodes of the target type, or graphs to be classified.
        table: kind of the feature table of the target type, or of all nodes.
        columns: of that table.
        classes: how many.
        imbalance: times that the largest class is as large as the smallest.
        labelled: share of the targets whose class is in the data.
        clue: where the class shows, one of :data:`CLUE_WORDS`.
        edges: kind of edge features.
        isolated: share of the targets that are joined to nothing.
        others: the node types beside the target.
    """

    number: int
    shape: str
    types: int
    targets: int
    table: str
    columns: int
    classes: int
    imbalance: int
    labelled: float
    clue: str
    edges: str
    isolated: float
    others: tuple[OtherType, ...] = ()

    @property
    def name(self) -> str:
        return f"worlds-{self.number}"

    @property
    def of_graphs(self) -> bool:
        """Whether whole graphs are classified."""
        return self.shape in GRAPH_SHAPES

    @property
    def seed(self) -> Seed:
        """Of all that is drawn for this world."""
        return Seed(self.number).child("world")

    @property
    def summary(self) -> str:
        """All properties in one line."""
        many = f"{self.columns:,} column{'s' * (self.columns > 1)}"
        if self.of_graphs:
            least, most = GRAPH_SIZES[self.shape]
            things = [f"{self.targets:,} graphs of {least} to {most} nodes"]
        else:
            kinds = "one node type" if self.types == 1 else f"{self.types} node types"
            things = [f"{self.targets:,} targets", kinds, SHAPE_WORDS[self.shape]]
        told = [*things, f"{many} ({self.table})"]
        told += [f"elsewhere {_listed([other.table for other in self.others])}"] if self.others else []
        told += [f"{self.classes} classes"]
        told += [f"imbalance 1:{self.imbalance}"] if self.imbalance > 1 else []
        told += [f"{self.labelled:.0%} labelled"] if self.labelled < 1 else []
        told += ["the class shows in nodes' rows" if self.of_graphs else CLUE_WORDS[self.clue]]
        told += [_EDGE_WORDS[self.edges]] if self.edges != "none" else []
        told += [f"{self.isolated:.0%} of the targets isolated"] if self.isolated else []
        return ", ".join(told)


def recipe_of(number: int) -> WorldRecipe:
    """The recipe of a world.

    Args:
        number: of the world, from 1.
    """
    hand = hand_of(number)
    rng = Seed(number).child("world", "recipe").numpy()
    types, targets = _types(hand["shape"], rng), _targets(hand, rng)
    others = other_types(hand["shape"], hand["clue"], types, targets, rng)
    return WorldRecipe(number=number, types=types, targets=targets, others=others, **hand)


def _listed(words: Sequence[str]) -> str:
    *before, last = dict.fromkeys(words)
    return f"{', '.join(before)} and {last}" if before else last


def _types(shape: str, rng: np.random.Generator) -> int:
    if shape in ONE_TYPE_SHAPES or shape in GRAPH_SHAPES:
        return 1
    several = {"bipartite": 2, "twenty types": 20, "rare target": 3}
    return several.get(shape) or int(rng.integers(3, 6))


def _targets(hand: Mapping[str, Any], rng: np.random.Generator) -> int:
    """As many as it takes for the smallest class, and for the parts of a split where few are labelled."""
    if hand["shape"] == "rare target":
        return int(rng.integers(*RARE_TARGETS))
    if hand["shape"] in GRAPH_SHAPES:
        return int(rng.integers(*GRAPH_NUMBERS[hand["shape"]]))
    smallest = hand["labelled"] * shares(hand["classes"], hand["imbalance"]).min()
    enough = 0 if hand["labelled"] == 1 else min(LABELLED / hand["labelled"], MOST)
    return max(int(rng.integers(*TARGETS)), int(np.ceil(FEWEST / smallest)), int(enough))


def shares(classes: int, imbalance: float) -> np.ndarray:
    """(C,) shares of the classes, in equal steps of their logarithms from the largest to the smallest."""
    sizes = imbalance ** -np.linspace(0, 1, classes)
    return sizes / sizes.sum()
