"""The protocol of feature generators and their registry."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from dignn.registry import Registry
from dignn.runtime.progress import Tick
from dignn.runtime.seeds import Seed
from dignn.schema import FeatureSpec


class FeatureGenerator(Protocol):
    """Learns to generate feature rows of one node type, given the class around a node.

    The condition of a node is a distribution over classes: one-hot for a target node, the mean class of the
    target nodes around for any other, all zero where no target node is near. A method that trains one model
    per class splits the rows by it.
    """

    def fit(self, rows: Tensor, condition: Tensor, spec: FeatureSpec, *, seed: Seed, tick: Tick) -> FeatureGenerator:
        """Learns from ``rows`` (n, d) with conditions (n, C) and returns itself."""
        ...

    def sample(self, condition: Tensor, *, seed: Seed, tick: Tick) -> Tensor:
        """One row for each condition (n, C).  (n, d)"""
        ...


FEATURE_GENERATORS: Registry[type[FeatureGenerator]] = Registry("feature generator")
