"""Guidance: structures drawn towards what the explained model takes for each class, without gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from dignn.batch import GraphBatch
from dignn.gnn.adapter import GNNAdapter
from dignn.runtime.seeds import Seed

# Graphs that compete with each other; few, so that one good graph does not fill all candidates.
GROUP = 32


class ClassGuide:
    """Likes graphs by the probability that the model gives to one class; the class changes from group to group.

    Follows :class:`dignn.structure.base.Guide`. A model needs features, so unfinished structures get some.

    Args:
        sizes: the requested sizes, equal ones side by side.
        adapter: asks the explained model.
        fill: from structures and a seed to graphs with features.
        strength: factor of the probability in the logarithm of the weight.
        seed: of the features.

    Attributes:
        group: (B,) graphs that compete; of one size.
        wanted: (B,) the class that a graph is drawn towards.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        adapter: GNNAdapter,
        fill: Callable[[GraphBatch, Seed], GraphBatch],
        strength: float,
        seed: Seed,
    ) -> None:
        self._adapter, self._fill, self._strength, self._seed = adapter, fill, strength, seed
        self.group = _groups(sizes)
        self.wanted = self.group % adapter.schema.num_classes

    def log_weight(self, graphs: GraphBatch, index: Tensor) -> Tensor:
        """(b,) strength times the best probability of the wanted class on any target node; 0 where there is none."""
        seed = self._seed.child(int(index[0]), graphs.node_type.size(1))
        scores = self._adapter.score(self._fill(graphs, seed))
        probability = scores.probability.gather(1, self.wanted[index][scores.graph][:, None])[:, 0].float()
        best = torch.zeros(len(graphs)).scatter_reduce(0, scores.graph, probability, "amax")
        return self._strength * best


def _groups(sizes: Sequence[int]) -> Tensor:
    """Runs of equal sizes, cut into pieces of :data:`GROUP`."""
    group: list[int] = []
    run = 0
    for number, size in enumerate(sizes):
        fresh = number == 0 or size != sizes[number - 1]
        run = 0 if fresh else run + 1
        group.append((group[-1] if group else -1) + (1 if run % GROUP == 0 else 0))
    return torch.tensor(group, dtype=torch.long)
