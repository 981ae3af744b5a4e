"""Settings of a run. A preset is a :class:`Config`; every field can be overridden."""

from dignn.config.features import DiTabDDPMConfig, GaussianSampler, Prediction, TabDDPMConfig, Transform
from dignn.config.presets import PRESETS
from dignn.config.run import MAX_NODES, Config, Selection
from dignn.config.structure import EdgeDiffusionConfig, Grid, NodeGrowthConfig, Sampler, TrainingConfig

__all__ = [
    "MAX_NODES",
    "PRESETS",
    "Config",
    "DiTabDDPMConfig",
    "EdgeDiffusionConfig",
    "GaussianSampler",
    "Grid",
    "NodeGrowthConfig",
    "Prediction",
    "Sampler",
    "Selection",
    "TabDDPMConfig",
    "TrainingConfig",
    "Transform",
]
