"""The protocol of structure generators and their registry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dignn.batch import GraphBatch
from dignn.registry import Registry
from dignn.runtime.progress import Tick
from dignn.runtime.seeds import Seed


class StructureGenerator(Protocol):
    """Learns to generate typed graphs without features.

    Target nodes carry their class: the vocabulary is node types with the target type split by class, so that
    the structure decides the class and the features follow it. A subclass is built without arguments, or with
    keyword arguments that all have defaults.
    """

    def fit(self, graphs: GraphBatch, *, seed: Seed, tick: Tick) -> StructureGenerator:
        """Learns from real graphs (their features are ignored) and returns itself."""
        ...

    def sample(self, sizes: Sequence[int], *, seed: Seed, tick: Tick) -> GraphBatch:
        """One graph for each requested number of nodes, in that order, with labels and without features."""
        ...


STRUCTURE_GENERATORS: Registry[type[StructureGenerator]] = Registry("structure generator")
