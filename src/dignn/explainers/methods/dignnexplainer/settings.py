"""Settings of the paper's explainer, and presets: names for whole sets of them. Loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dignn.core.checks import at_least, share
from dignn.core.registry import Registry
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.settings import RunSettings
from dignn.features.settings import DiTabDDPMConfig, FeatureSettings, TabDDPMConfig
from dignn.structure.settings import GROWTH_TRAINING, EdgeDiffusionConfig, NodeGrowthConfig, StructureSettings


# A dataclass takes the fields of its last parent first: sizes and numbers, structure, features.
@dataclass(frozen=True)
class Config(FeatureSettings, StructureSettings, RunSettings):
    """How explanations are made: the settings of a run, of structures and of features, and of refinement.

    Args:
        refined: share of the candidates, the most promising of each class, of which rows of features are drawn anew and
            kept where the model becomes surer of the class, up to what it says about real members; 0 for none.
        refinement_rounds: how often.
    """

    refined: float = 0.25
    refinement_rounds: int = 20

    def __post_init__(self) -> None:
        for part in (RunSettings, StructureSettings, FeatureSettings):
            part.__post_init__(self)
        share(self, "refined")
        at_least(self, 1, "refinement_rounds")


PRESETS: Registry[Config] = Registry("preset")
"""Presets by name: ``fast`` (the default), ``thorough``, ``paper`` and ``smoke``."""
PRESETS.add("fast", Config())
# Four times the effort for structures, as long as anything gets better: shapes of many edges are closed more surely.
PRESETS.add(
    "thorough",
    Config(
        node_growth=NodeGrowthConfig(
            effort=160.0,
            passes=600.0,
            looks=8,
            training=replace(GROWTH_TRAINING, steps=6000, gain=0.0, patience=4),
        )
    ),
)
# The paper's hyperparameters (appendix): one DiGress model per size, 200 subgraphs per size, one feature generator per
# class. It does not give the width, blocks, dropout and training steps of DiTabDDPM; those here are ours.
PRESETS.add(
    "paper",
    Config(
        subgraphs_per_size=200,
        structure="edge-diffusion",
        edge_diffusion=EdgeDiffusionConfig(
            noise="marginal",
            grid="uniform",
            denoiser="paper",
            one_model_per_size=True,
            batch=256,
            sampler="posterior",
            sampler_steps=500,
            constraints=False,
            training=TrainingConfig(
                epochs=600,
                learning_rate=2e-4,
                warm_up=0.0,
                cosine=False,
                weight_decay=1e-12,
                ema=0.0,
                validate_every=50,
                patience=600,
            ),
        ),
        ditabddpm=DiTabDDPMConfig(
            noise="marginal",
            denoiser="paper",
            width=256,
            blocks=2,
            dropout=0.1,
            batch=32,
            emphasis=0.0,
            sampler_steps=25_000,
            grid="uniform",
            marginal_training=TrainingConfig(
                steps=2000, learning_rate=0.05, warm_up=0.0, cosine=False, weight_decay=1e-3, ema=0.0
            ),
        ),
        tabddpm=TabDDPMConfig(
            transform="quantile",
            prediction="noise",
            waves=False,
            repeated_rows=False,
            discrete="threshold",
            sampler="ancestral",
            sampler_steps=1000,
            training=TrainingConfig(steps=700, learning_rate=5e-3, validate_every=100),
        ),
        continuous="tabddpm",
        one_model_per_class=True,
        surroundings=False,
        refined=0.0,
        selection="highest",
    ),
)
_SMOKE = TrainingConfig(steps=60, validate_every=30)
PRESETS.add(
    "smoke",
    Config(
        subgraphs_per_size=20,
        candidates=96,
        refinement_rounds=3,
        node_growth=NodeGrowthConfig(width=16, layers=2, events_per_batch=240, training=_SMOKE),
        edge_diffusion=EdgeDiffusionConfig(sampler_steps=10, training=_SMOKE),
        ditabddpm=DiTabDDPMConfig(width=32, blocks=1, sampler_steps=10, training=_SMOKE, marginal_training=_SMOKE),
        tabddpm=TabDDPMConfig(width=32, blocks=1, batch=128, sampler_steps=10, training=_SMOKE),
    ),
)
