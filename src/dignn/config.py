"""Settings of a run. A preset is a :class:`Config`; every field can be overridden."""

from __future__ import annotations

from dataclasses import dataclass

from dignn.errors import DignnError
from dignn.registry import Registry

# Larger graphs are no explanations for people, and dense tensors of them do not fit in memory.
MAX_NODES = 100


@dataclass(frozen=True)
class Config:
    """How explanations are made.

    Args:
        sizes: nodes per explanation graph. By default what the data set recommends, 10 to 15 for a graph of your
            own, and the sizes of the data's graphs for graph classification.
        subgraphs_per_size: real subgraphs sampled per size; one in five is for measuring, not for learning.
        candidates: generated graphs in all, shared out evenly over the sizes.
        structure: name of the structure generator.
        features: name of the feature generator.
        top_k: explanations per class.
    """

    sizes: tuple[int, ...] | None = None
    subgraphs_per_size: int = 200
    candidates: int = 1536
    structure: str = "bootstrap"
    features: str = "bootstrap"
    top_k: int = 3

    def __post_init__(self) -> None:
        for name in ("subgraphs_per_size", "candidates", "top_k"):
            if getattr(self, name) < 1:
                raise DignnError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.subgraphs_per_size < 5:
            raise DignnError("subgraphs_per_size must be at least 5, because one in five is held out for measuring")
        if self.sizes is not None and (not self.sizes or min(self.sizes) < 1 or max(self.sizes) > MAX_NODES):
            raise DignnError(f"sizes {list(self.sizes)} must be one or more numbers of nodes from 1 to {MAX_NODES}")


PRESETS: Registry[Config] = Registry("preset")
PRESETS.add("fast", Config())
PRESETS.add("smoke", Config(subgraphs_per_size=20, candidates=96))
