"""Every feature generator by name. Loads nothing heavy before one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dignn.core.registry import Registry

if TYPE_CHECKING:
    from dignn.features.base import FeatureGenerator

FEATURE_GENERATORS: Registry[type[FeatureGenerator]] = Registry(
    "feature generator",
    {
        "ditabddpm": "dignn.features.ditabddpm.generator",
        "tabddpm": "dignn.features.tabddpm.generator",
        "bootstrap": "dignn.features.control_rows",
        "independent": "dignn.features.control_rows",
    },
)
