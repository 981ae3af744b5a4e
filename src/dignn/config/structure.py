"""Settings of training, and of the structure generators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dignn.config.checks import at_least, divides, one_of, positive
from dignn.errors import DignnError

Noise = Literal["absorbing", "marginal"]
Denoiser = Literal["fast", "paper"]
Sampler = Literal["posterior", "flow"]
Grid = Literal["uniform", "quadratic"]


@dataclass(frozen=True)
class TrainingConfig:
    """How a generator's network is trained.

    Args:
        steps: gradient steps.
        epochs: as many steps as so many passes over the training graphs or rows take, instead of a number of steps.
        learning_rate: of AdamW, after warm-up.
        warm_up: share of the steps in which the learning rate rises from zero.
        cosine: whether it falls to zero along half a cosine afterwards.
        weight_decay: of AdamW.
        clip: greatest norm of the gradient.
        ema: decay of the moving average of the weights, which is what validates and samples; 0 for none.
        validate_every: steps between two looks at the validation loss.
        patience: looks without a better one after which training stops; the best weights are kept.
    """

    steps: int = 4000
    epochs: int | None = None
    learning_rate: float = 3e-3
    warm_up: float = 0.05
    cosine: bool = True
    weight_decay: float = 1e-3
    clip: float = 1.0
    ema: float = 0.99
    validate_every: int = 200
    patience: int = 10

    def __post_init__(self) -> None:
        at_least(self, 1, "steps", "validate_every", "patience")
        if self.epochs is not None:
            at_least(self, 1, "epochs")
        if not (0 <= self.ema < 1 and 0 <= self.warm_up < 1):
            raise DignnError(f"ema {self.ema} and warm_up {self.warm_up} must be at least 0 and below 1")
        positive(self, "learning_rate", "clip")
        positive(self, "weight_decay", zero=True)

    def steps_for(self, graphs: int, batch: int) -> int:
        """Gradient steps with batches of ``batch`` out of ``graphs``."""
        return self.steps if self.epochs is None else self.epochs * -(-graphs // batch)


@dataclass(frozen=True)
class NodeGrowthConfig:
    """Settings of the structure generator ``node-growth``.

    Args:
        width: of the transformer's hidden values.
        layers: of the transformer.
        heads: of its attention.
        events_per_batch: nodes and edges of the growths in a batch.
        temperature: of every decision; below 1 more typical and less diverse.
        training: how the network is trained.
    """

    width: int = 48
    layers: int = 4
    heads: int = 4
    events_per_batch: int = 480
    temperature: float = 1.0
    training: TrainingConfig = field(default_factory=lambda: TrainingConfig(steps=1300, learning_rate=6e-3))

    def __post_init__(self) -> None:
        at_least(self, 1, "width", "layers", "heads", "events_per_batch")
        divides(self.heads, self.width)
        positive(self, "temperature")


@dataclass(frozen=True)
class EdgeDiffusionConfig:
    """Settings of the structure generator ``edge-diffusion``.

    Args:
        noise: absorbing (numbers of nodes and edges are drawn from training graphs, edges are taken away and put back
            one at a time) or marginal (tokens of nodes and pairs change towards their frequencies, as in the paper).
        denoiser: a small network made for CPUs, or the paper's graph transformer.
        one_model_per_size: as in the paper; otherwise one model learns all sizes.
        batch: graphs in a batch; all of one size.
        edge_weight: weight of an edge's cross-entropy beside a node's (marginal noise).
        sampler: reverse chain of the paper (posterior), or the rate of discrete flow matching (marginal noise).
        sampler_steps: steps of the sampler; fewer than the paper's 500 are strides over the same process. With
            absorbing noise, the most steps: one edge in each, more where there are more edges.
        grid: how the steps are spread: uniform, or more of them near the end (quadratic); marginal noise.
        constraints: whether forbidden edges are masked (absorbing noise never makes any) and disconnected graphs drawn
            again.
        restarts: how often a disconnected graph is noised to the middle and denoised again before it is drawn anew.
        training: how the network is trained.
    """

    noise: Noise = "absorbing"
    denoiser: Denoiser = "fast"
    one_model_per_size: bool = False
    batch: int = 32
    edge_weight: float = 5.0
    sampler: Sampler = "flow"
    sampler_steps: int = 50
    grid: Grid = "quadratic"
    constraints: bool = True
    restarts: int = 4
    training: TrainingConfig = field(default_factory=lambda: TrainingConfig(steps=1500))

    def __post_init__(self) -> None:
        at_least(self, 1, "batch", "sampler_steps")
        at_least(self, 0, "restarts")
        positive(self, "edge_weight", zero=True)
        one_of(self, noise=Noise, denoiser=Denoiser, sampler=Sampler, grid=Grid)
