"""The most confident real graphs: for each class the training graphs that the model takes for it most surely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from dignn.explainers.real_graphs import RealGraphsExplain
from dignn.explainers.registry import EXPLAINERS
from dignn.explainers.settings import RunSettings
from dignn.graphs.batch import GraphBatch


@EXPLAINERS.register("confident-real")
class ConfidentReal(RealGraphsExplain):
    """All training graphs compete, and the highest probability wins."""

    presets: ClassVar[Mapping[str, RunSettings]] = {
        "fast": RunSettings(selection="highest"),
        "smoke": RunSettings(selection="highest", subgraphs_per_size=20, candidates=96),
    }

    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        with self.run.stage("GGAT"):
            return self.at_random(len(self.real.train))
