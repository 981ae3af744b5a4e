"""Random real graphs: for each class any training graph that has a node of it, or is of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from dignn.explainers.real_graphs import RealGraphsExplain
from dignn.explainers.registry import EXPLAINERS
from dignn.explainers.settings import RunSettings


@EXPLAINERS.register("random-real")
class RandomReal(RealGraphsExplain):
    """Shows what the data looks like, and nothing of the model: nobody chose these graphs."""

    presets: ClassVar[Mapping[str, RunSettings]] = {
        "fast": RunSettings(selection="proposed"),
        "smoke": RunSettings(selection="proposed", subgraphs_per_size=20, candidates=96),
    }
