"""Step 2: generators of node features, found by name in :data:`FEATURE_GENERATORS`.

A :class:`FeatureBank` fits one generator per node type that has features and fills generated structures.
To add a method, write a file with a class that follows :class:`FeatureGenerator` and register it.
"""

from dignn.features.bank import FeatureBank
from dignn.features.base import FEATURE_GENERATORS, FeatureGenerator
from dignn.features.controls import BootstrapRows, IndependentColumns

__all__ = ["FEATURE_GENERATORS", "BootstrapRows", "FeatureBank", "FeatureGenerator", "IndependentColumns"]
