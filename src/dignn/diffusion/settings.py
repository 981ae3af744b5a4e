"""Settings of training, and choices of networks and samplers. Loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from dignn.core.checks import at_least, one_of, positive, share, switches

Optimizer = Literal["adamw", "muon"]
Denoiser = Literal["fast", "paper"]
Sampler = Literal["posterior", "flow"]
Grid = Literal["uniform", "quadratic"]
Prediction = Literal["velocity", "noise"]
GaussianSampler = Literal["flow", "ancestral", "deterministic"]


@dataclass(frozen=True)
class TrainingConfig:
    """How a generator's network is trained.

    Args:
        steps: gradient steps.
        epochs: as many steps as so many passes over the training graphs or rows take, instead of a number of steps.
        learning_rate: of AdamW, after warm-up.
        optimizer: AdamW for all weights, or Muon for matrices and AdamW for the rest.
        matrix_rate: learning rate of Muon.
        warm_up: share of the steps in which the learning rate rises from zero.
        cosine: whether it falls to zero along half a cosine afterwards.
        settle: share of the steps, at the end, in which it falls; before, it stays. The fall begins earlier where
            patience runs out: where the validation loss gets no better. 0 for a fall from the warm-up to the last step.
        weight_decay: of AdamW.
        clip: greatest norm of the gradient.
        ema: decay of the moving average of the weights, which is what validates and samples; 0 for none.
        validate_every: steps between two looks at the validation loss.
        gain: by which share of it a loss must fall to be a better one.
        patience: looks without a better one after which training stops, or with ``settle`` comes to its end; the best
            weights are kept.
    """

    steps: int = 4000
    epochs: int | None = None
    learning_rate: float = 3e-3
    optimizer: Optimizer = "adamw"
    matrix_rate: float = 0.02
    warm_up: float = 0.05
    cosine: bool = True
    settle: float = 0.0
    weight_decay: float = 1e-3
    clip: float = 1.0
    ema: float = 0.99
    validate_every: int = 200
    gain: float = 0.0
    patience: int = 10

    def __post_init__(self) -> None:
        at_least(self, 1, "steps", "validate_every", "patience")
        if self.epochs is not None:
            at_least(self, 1, "epochs")
        share(self, "ema", "warm_up", "settle", "gain")
        switches(self, "cosine")
        positive(self, "learning_rate", "matrix_rate", "clip")
        one_of(self, optimizer=Optimizer)
        positive(self, "weight_decay", zero=True)

    @property
    def least_steps(self) -> int:
        """Gradient steps, however few graphs or rows there are."""
        return self.steps if self.epochs is None else self.epochs

    def part(self, share: float) -> TrainingConfig:
        """The same for a share of the steps, or of the epochs."""
        if share == 1:
            return self
        epochs = None if self.epochs is None else max(1, round(self.epochs * share))
        return replace(self, steps=max(1, round(self.steps * share)), epochs=epochs)

    def steps_for(self, graphs: int, batch: int) -> int:
        """Gradient steps with batches of ``batch`` out of ``graphs``."""
        return self.steps if self.epochs is None else self.epochs * -(-graphs // batch)
