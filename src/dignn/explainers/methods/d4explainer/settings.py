"""Settings of D4Explainer, and its presets. Loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass, field

from dignn.core.checks import at_least, number, parts
from dignn.core.errors import DignnError
from dignn.core.registry import Registry
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.settings import RunSettings
from dignn.features.settings import FeatureSettings

_ADAM = TrainingConfig(steps=600, learning_rate=1e-3, weight_decay=0.0, settle=0.3, validate_every=50, patience=4)


@dataclass(frozen=True)
class D4Settings(FeatureSettings, RunSettings):
    """How D4Explainer learns and searches: the settings of a run and of features, and its own.

    Args:
        flips: the greatest probability with which noise flips a pair of nodes, joined or not.
        width: channels of the denoiser.
        layers: of the denoiser.
        batch: graphs in a batch, all of one size.
        denoising_steps: steps from the greatest noise to none.
        tries: clean graphs that are drawn in a step, of which the one that the model is surest of is kept.
        training: how the denoiser is trained.
    """

    flips: float = 0.4
    width: int = 64
    layers: int = 6
    batch: int = 32
    denoising_steps: int = 50
    tries: int = 10
    training: TrainingConfig = field(default_factory=lambda: _ADAM)

    def __post_init__(self) -> None:
        for part in (RunSettings, FeatureSettings):
            part.__post_init__(self)
        at_least(self, 1, "width", "layers", "batch", "denoising_steps", "tries")
        parts(self, training=TrainingConfig)
        if not 0 < number("flips", self.flips, "above 0 and below 0.5") < 0.5:
            raise DignnError(
                f"flips is {self.flips}; it must be above 0 and below 0.5, where a flipped graph says nothing any more"
            )


PRESETS: Registry[D4Settings] = Registry("preset")
"""Presets by name: ``fast`` (the default), ``paper`` and ``smoke``."""
# Smaller than published, for two cores. On MUTAG (one seed) the mean probability of the first explanations is 0.979; 50
# steps give 0.980 and the published width and layers 0.981, each for about twice the time of search or of learning.
PRESETS.add("fast", D4Settings(selection="highest", width=32, layers=4, denoising_steps=20, candidates=192))
# The published noise, network, batch, rate, steps and tries. How many epochs, and candidates, are ours.
PRESETS.add(
    "paper",
    D4Settings(
        selection="highest",
        training=TrainingConfig(
            epochs=100,
            learning_rate=1e-3,
            warm_up=0.0,
            cosine=False,
            weight_decay=0.0,
            ema=0.0,
            validate_every=100,
            patience=100,
        ),
    ),
)
PRESETS.add(
    "smoke",
    D4Settings(
        selection="highest",
        features="bootstrap",
        subgraphs_per_size=20,
        candidates=24,
        width=16,
        layers=2,
        denoising_steps=4,
        tries=4,
        training=TrainingConfig(steps=60, learning_rate=3e-3, validate_every=30),
    ),
)
