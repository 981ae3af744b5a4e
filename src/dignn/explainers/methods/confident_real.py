"""The most confident real graphs: for each class the training graphs that the model takes for it most surely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from dignn.explainers.real_graphs import EVERY_GRAPH, RealGraphsExplain
from dignn.explainers.registry import EXPLAINERS
from dignn.explainers.settings import RunSettings


@EXPLAINERS.register("confident-real")
class ConfidentReal(RealGraphsExplain):
    """All training graphs compete, and the highest probability wins."""

    presets: ClassVar[Mapping[str, RunSettings]] = {
        "fast": RunSettings(selection="highest", candidates=EVERY_GRAPH),
        "smoke": RunSettings(selection="highest", subgraphs_per_size=20, candidates=96),
    }
