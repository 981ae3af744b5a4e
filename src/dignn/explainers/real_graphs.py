"""Explainers that generate nothing: real graphs explain. They are what a generator must beat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor

from dignn.explainers.base import Explainer
from dignn.graphs.batch import GraphBatch
from dignn.graphs.validity import connected
from dignn.sampling.division import is_learned

# Graphs that methods look at which look at all of them: more than there are, with the usual settings.
EVERY_GRAPH = 10_000


class RealGraphsExplain(Explainer):
    """Shows training graphs with their own features; methods differ in the rule that chooses, and in how many compete.

    Nothing is generated.
    """

    shows_real: ClassVar[bool] = True

    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        """As many as are asked for, or all, in random order."""
        with self.run.stage("GGAT"):
            some = self.usable()
            order = torch.randperm(len(some), generator=self.seed.child("GGAT").torch())
            return self.real.train[some[order[: len(sizes)]]]

    def usable(self) -> Tensor:
        """(n,) numbers of the training graphs that can be shown.

        They are connected, and all that is answered about in them may be learned from: metrics ask how much is covered
        of what may not. Where there is no such graph, connected ones.
        """
        train, scores = self.real.train, self.train_scores
        whole = connected(train)
        unseen = scores.graph[~is_learned(train, scores.graph, scores.node, self.real.learned_rows)]
        known = whole.clone()
        known[unseen] = False
        return (known if bool(known.any()) else whole).nonzero()[:, 0]
