"""Guidance: structures drawn towards what the explained model takes for each class, without gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.graphs.batch import GraphBatch
from dignn.graphs.validity import consistent
from dignn.model.adapter import GNNAdapter

# Graphs that compete with each other; few, so that one good graph does not fill all candidates.
GROUP = 32

Fill = Callable[[GraphBatch, Seed], GraphBatch]
"""(structures, seed) -> the same graphs with features"""


class ClassGuide:
    """Likes graphs by the probability that the model gives to one class; the class changes from group to group.

    Follows :class:`dignn.structure.base.Guide`. A model needs features, so unfinished structures get some.

    Args:
        sizes: the requested sizes.
        adapter: asks the explained model.
        fill: from structures and a seed to graphs with features.
        strength: factor of the probability in the logarithm of the weight.
        seed: of the features.

    Attributes:
        group: (B,) graphs that compete; of one size.
        wanted: (B,) the class that a graph is drawn towards.
    """

    def __init__(self, sizes: Sequence[int], adapter: GNNAdapter, fill: Fill, strength: float, seed: Seed) -> None:
        self._adapter, self._fill, self._strength, self._seed = adapter, fill, strength, seed
        self.group, self.wanted = _groups(sizes, adapter.schema.num_classes)

    def log_weight(self, graphs: GraphBatch, index: Tensor) -> Tensor:
        """(b,) strength times the best probability of the wanted class on any target node; 0 where there is none.

        A sampler without constraints may propose what the metagraph forbids, and no model can be asked about that: 0.
        """
        best = torch.zeros(len(graphs))
        fitting = consistent(graphs).nonzero()[:, 0]
        if not len(fitting):
            return best
        seed = self._seed.child(int(index[0]), graphs.node_type.size(1))
        scores = self._adapter.score(self._fill(graphs[fitting], seed))
        graph = fitting[scores.graph]
        probability = scores.probability.gather(1, self.wanted[index][graph][:, None])[:, 0].float()
        return self._strength * best.scatter_reduce(0, graph, probability, "amax")


def _groups(sizes: Sequence[int], classes: int) -> tuple[Tensor, Tensor]:
    """(B,) groups of one size each, and (B,) the class of each group; every size serves all classes if it can."""
    group, wanted = torch.zeros(len(sizes), dtype=torch.long), torch.zeros(len(sizes), dtype=torch.long)
    groups = served = 0
    for size in dict.fromkeys(sizes):
        places = torch.tensor([place for place, other in enumerate(sizes) if other == size])
        for piece in places.split(min(GROUP, -(-len(places) // classes))):
            group[piece], wanted[piece] = groups, served % classes
            groups, served = groups + 1, served + 1
    return group, wanted
