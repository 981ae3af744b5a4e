"""Random trees with real rows of features: for each class the one of many that the model takes for it most surely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dignn.explainers.base import Explainer
from dignn.explainers.registry import EXPLAINERS
from dignn.explainers.settings import RunSettings
from dignn.features.settings import FeatureSettings
from dignn.graphs.batch import GraphBatch
from dignn.metrics.controls import random_trees


@dataclass(frozen=True)
class TreeSettings(FeatureSettings, RunSettings):
    """Settings of random trees: those of a run, and where rows of features come from."""

    def __post_init__(self) -> None:
        for part in (RunSettings, FeatureSettings):
            part.__post_init__(self)


@EXPLAINERS.register("random-tree")
class RandomTree(Explainer):
    """Consistent and connected, and otherwise at random: what a method scores that says nothing.

    Rows of features are real ones of the class around a node.
    """

    presets: ClassVar[Mapping[str, RunSettings]] = {
        "fast": TreeSettings(features="bootstrap", selection="highest"),
        "smoke": TreeSettings(features="bootstrap", selection="highest", subgraphs_per_size=20, candidates=96),
    }
    config: TreeSettings

    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        with self.run.stage("GGAT"):
            return random_trees(self.real.train, sizes, seed=self.seed.child("GGAT"))
