"""What a known model is: a rule, data on which it is exact, decoys that it does not use. Loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dignn.zoo.known.clues import Clue
from dignn.zoo.known.rules import Rule

if TYPE_CHECKING:
    from dignn.graphs.batch import GraphBatch
    from dignn.graphs.schema import Schema
    from dignn.zoo.datasets.dataset import Dataset
    from dignn.zoo.known.rule_model import RuleModel
    from dignn.zoo.known.walks import Used, Walkable

# The two classes of every known model, in the order of their numbers.
FAILS, HOLDS = "rule fails", "rule holds"


@dataclass(frozen=True)
class KnownModel:
    """A model of which everything is known.

    Args:
        name: in the registry.
        says: its rule in words.
        world: the name of its data in :mod:`~dignn.zoo.known.known_worlds`.
        rule: its rule.
        patterns: by name, rules each of which is sufficient; where there is one, it is the rule itself.
        decoys: clues that follow the label in the data and that the rule does not use.
    """

    name: str
    says: str
    world: str
    rule: Rule
    patterns: dict[str, Rule]
    decoys: tuple[Clue, ...]

    def dataset(self, seed: int = 0) -> Dataset:
        """The data, labelled by walking through it, bit for bit from ``seed``."""
        import numpy as np
        import torch

        from dignn.core.seeds import Seed
        from dignn.graphs.inference import infer_schema
        from dignn.zoo.datasets.dataset import Dataset
        from dignn.zoo.datasets.splits import stratified_split
        from dignn.zoo.known.known_worlds import WORLDS
        from dignn.zoo.known.walks import walk_data

        world, root = WORLDS[self.world], Seed(seed).child("data", "known", self.name)
        data, names = world.make(root.child("graph"))
        data[world.target].y = torch.zeros(data[world.target].num_nodes, dtype=torch.long)
        walkable = walk_data(data, infer_schema(data, world.target, names=names, classes=(FAILS, HOLDS)))
        count = int(data[world.target].num_nodes)
        holds = np.array([walkable.satisfied(self.rule, node) for node in range(count)])
        data[world.target].y = torch.from_numpy(holds.astype(np.int64))
        world.add_decoys(data, holds, root.child("decoys"))
        return Dataset(
            name=f"known-{self.name}",
            data=data,
            schema=infer_schema(data, world.target, names=names, classes=(FAILS, HOLDS)),
            splits=stratified_split(holds.astype(np.int64), (0.6, 0.2, 0.2), root),
            sizes=world.sizes,
        )

    def model(self, schema: Schema) -> RuleModel:
        """The model, for data of this schema."""
        from dignn.zoo.known.rule_model import RuleModel

        return RuleModel(self.rule, schema)

    def satisfied(self, graph: GraphBatch, node: int) -> bool:
        """Whether the rule holds of a node of one graph, by walking through the graph and without the model."""
        return _walkable(graph).satisfied(self.rule, node)

    def patterns_in(self, graph: GraphBatch, node: int) -> list[str]:
        """The names of the sufficient patterns around a node of one graph."""
        walkable = _walkable(graph)
        return [name for name, pattern in self.patterns.items() if walkable.satisfied(pattern, node)]

    def amount(self, clue: Clue, graph: GraphBatch, node: int) -> float:
        """What there is of a clue, one of the decoys for example, around a node of one graph."""
        return _walkable(graph).amount(node, clue)

    def used(self, graph: GraphBatch, node: int) -> Used:
        """The nodes, edges and feature columns of one graph that the rule goes by."""
        return _walkable(graph).used(self.rule, node)


def _walkable(graph: GraphBatch) -> Walkable:
    from dignn.zoo.known.walks import walk_graph

    return walk_graph(graph)
