"""Explainers that generate nothing: real graphs explain. They are what a generator must beat."""

from __future__ import annotations

import torch
from torch import Tensor

from dignn.explainers.base import Explainer
from dignn.graphs.batch import GraphBatch
from dignn.graphs.validity import connected


class RealGraphsExplain(Explainer):
    """Shows training graphs, with their own features."""

    def usable(self) -> Tensor:
        """(n,) numbers of the training graphs that can be shown: explanations are connected."""
        return connected(self.real.train).nonzero()[:, 0]

    def at_random(self, number: int) -> GraphBatch:
        """So many of them, or all, in random order."""
        some = self.usable()
        order = torch.randperm(len(some), generator=self.seed.child("GGAT").torch())
        return self.real.train[some[order[:number]]]
