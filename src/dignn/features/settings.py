"""Settings of the feature generators. Loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dignn.core.checks import at_least, number, one_of, parts, share, switches, texts
from dignn.core.errors import DignnError
from dignn.diffusion.settings import Denoiser, GaussianSampler, Grid, Prediction, TrainingConfig

TableNoise = Literal["auto", "absorbing", "marginal"]
Transform = Literal["auto", "quantile", "standard"]
DiscreteBranch = Literal["multinomial", "threshold"]
Continuous = Literal["auto", "tabddpm"]


@dataclass(frozen=True)
class DiTabDDPMConfig:
    """Settings of the generator of discrete features ``ditabddpm``.

    Args:
        noise: absorbing (the non-zero columns of a row are hidden and revealed in steps), marginal (columns change
            towards their frequencies, as in the paper), or whichever suits the table (auto).
        denoiser: a network that only learns what columns say about each other, or the paper's residual MLP (marginal).
        width: of the network's hidden values.
        blocks: residual blocks of the network.
        dropout: in the blocks.
        batch: rows in a batch.
        emphasis: how much more than in the data columns follow the class, at least: log frequencies of a class move
            away from those of all rows by this share. The features of a real graph depend on each other in more ways
            than those of a generated one; a little emphasis makes up for that. With absorbing
            noise it is raised until generated rows follow their classes as held-out rows say that real ones do; 0 for
            none at all.
        sampler_steps: steps of the reverse chain (marginal noise).
        grid: how they are spread.
        training: how the network is trained with absorbing noise.
        marginal_training: how it is trained with marginal noise.
    """

    noise: TableNoise = "auto"
    denoiser: Denoiser = "fast"
    width: int = 128
    blocks: int = 2
    dropout: float = 0.0
    batch: int = 128
    emphasis: float = 0.05
    sampler_steps: int = 50
    grid: Grid = "uniform"
    training: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(
            steps=500, learning_rate=7e-4, settle=0.3, validate_every=25, gain=1e-3, patience=2
        )
    )
    marginal_training: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(steps=800, settle=0.3, validate_every=50, gain=1e-3, patience=2)
    )

    def __post_init__(self) -> None:
        at_least(self, 1, "width", "blocks", "batch", "sampler_steps")
        share(self, "dropout")
        if not 0 <= number("emphasis", self.emphasis, "a number from 0 to 5") <= 5:
            raise DignnError(f"emphasis is {self.emphasis}; it must be from 0 to 5, and is best well below 1")
        one_of(self, noise=TableNoise, denoiser=Denoiser, grid=Grid)
        parts(self, training=TrainingConfig, marginal_training=TrainingConfig)
        if self.denoiser == "paper" and self.noise != "marginal":
            raise DignnError("The paper's denoiser predicts all columns from marginal noise; choose noise 'marginal'")


@dataclass(frozen=True)
class TabDDPMConfig:
    """Settings of the feature generator ``tabddpm``.

    Args:
        transform: of continuous columns before diffusion: to normal quantiles, or to mean 0 and standard deviation 1;
            by default the second for columns without long tails, edges, steps and values that many rows share.
        prediction: what the network predicts: the velocity, or the noise (as in the paper).
        waves: whether up to 16 columns of numbers enter the network as sines and cosines, too.
        repeated_rows: whether rows that many nodes share are drawn as they are instead of being diffused.
        discrete: how discrete columns are treated: by multinomial diffusion, or as continuous ones that are rounded to
            the nearest value afterwards (threshold: the paper's baseline).
        width: of the network's hidden values.
        blocks: of the network.
        dropout: in the blocks.
        batch: rows in a batch.
        sampler: how continuous values are walked back from noise: along the flow of the velocity, by draws from the
            posterior (ancestral: the paper's chain), or with the noise kept (deterministic). Multinomial diffusion
            always draws from its posterior.
        sampler_steps: steps on the way. 20 suffice for the flow; the paper's chain has 1000.
        training: how the network is trained.
    """

    transform: Transform = "auto"
    prediction: Prediction = "velocity"
    waves: bool = True
    repeated_rows: bool = True
    discrete: DiscreteBranch = "multinomial"
    width: int = 192
    blocks: int = 2
    dropout: float = 0.0
    batch: int = 512
    sampler: GaussianSampler = "flow"
    sampler_steps: int = 20
    training: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(steps=700, learning_rate=5e-3, settle=0.3, validate_every=50, patience=3)
    )

    def __post_init__(self) -> None:
        at_least(self, 1, "width", "blocks", "batch", "sampler_steps")
        share(self, "dropout")
        one_of(self, transform=Transform, prediction=Prediction, discrete=DiscreteBranch, sampler=GaussianSampler)
        switches(self, "waves", "repeated_rows")
        parts(self, training=TrainingConfig)


@dataclass(frozen=True)
class FeatureSettings:
    """How features are generated.

    Args:
        features: name of the feature generator: ditabddpm, tabddpm, or a control, bootstrap or independent. With
            ditabddpm, continuous features go to others.
        ditabddpm, tabddpm: settings of the feature generator of that name.
        continuous: where features are learned by ``ditabddpm``, how continuous ones are: each type by what suits it, or
            by ``tabddpm``, as in the paper.
        one_model_per_class: one feature generator for each class of the target type (of every type, in graph
            classification) and one, blind to classes, for each other type, as in the paper; otherwise one for each
            type, which knows the class around a node. Identity types and controls always know it.
        surroundings: whether rows go by the features of neighbours and the classes around these as well; not with one
            generator for each class, nor with controls.
    """

    features: str = "ditabddpm"
    ditabddpm: DiTabDDPMConfig = field(default_factory=DiTabDDPMConfig)
    tabddpm: TabDDPMConfig = field(default_factory=TabDDPMConfig)
    continuous: Continuous = "auto"
    one_model_per_class: bool = False
    surroundings: bool = True

    def __post_init__(self) -> None:
        texts(self, "features")
        parts(self, ditabddpm=DiTabDDPMConfig, tabddpm=TabDDPMConfig)
        one_of(self, continuous=Continuous)
        switches(self, "one_model_per_class", "surroundings")
