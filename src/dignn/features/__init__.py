"""Step 2: generators of node features, found by name in :data:`FEATURE_GENERATORS`.

A :class:`FeatureBank` decides which generator each node type gets, fits them and fills generated structures.
To add a method, write a file with a subclass of :class:`FeatureGenerator` and register it.
"""

from dignn.features.bank import FeatureBank
from dignn.features.base import FEATURE_GENERATORS, FeatureGenerator
from dignn.features.controls import BootstrapRows, IndependentColumns
from dignn.features.ditabddpm import DiTabDDPM
from dignn.features.tabddpm import TabDDPM

__all__ = [
    "FEATURE_GENERATORS",
    "BootstrapRows",
    "DiTabDDPM",
    "FeatureBank",
    "FeatureGenerator",
    "IndependentColumns",
    "TabDDPM",
]
