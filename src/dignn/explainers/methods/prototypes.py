"""Prototypes: for each class the real graphs that stand for most of its members, as the model sees them.

What anybody would do without a generator: go through real graphs and show the one that most members of the class are
near to, then the one that most of the rest are near to, and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from dignn.explainers.real_graphs import EVERY_GRAPH, RealGraphsExplain
from dignn.explainers.registry import EXPLAINERS
from dignn.explainers.settings import RunSettings


@EXPLAINERS.register("prototypes")
class Prototypes(RealGraphsExplain):
    """Real graphs that cover their class."""

    presets: ClassVar[Mapping[str, RunSettings]] = {
        "fast": RunSettings(selection="covering", candidates=EVERY_GRAPH),
        "smoke": RunSettings(selection="covering", subgraphs_per_size=20, candidates=96),
    }
