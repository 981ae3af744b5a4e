"""Settings of a run. A preset is a :class:`Config`; every field can be overridden."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, get_args

from dignn.errors import DignnError
from dignn.registry import Registry

# Larger graphs are no explanations for people, and dense tensors of them do not fit in memory.
MAX_NODES = 100

Noise = Literal["absorbing", "marginal"]
Denoiser = Literal["fast", "paper"]
Sampler = Literal["posterior", "flow"]
Grid = Literal["uniform", "quadratic"]
TableNoise = Literal["auto", "absorbing", "marginal"]
Transform = Literal["quantile", "standard"]
Prediction = Literal["velocity", "noise"]
GaussianSampler = Literal["flow", "ancestral", "deterministic"]
Continuous = Literal["auto", "tabddpm"]
DiscreteBranch = Literal["multinomial", "threshold"]
Selection = Literal["representative", "typical", "highest"]


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
        _at_least(self, 1, "steps", "validate_every", "patience")
        if self.epochs is not None:
            _at_least(self, 1, "epochs")
        if not (0 <= self.ema < 1 and 0 <= self.warm_up < 1):
            raise DignnError(f"ema {self.ema} and warm_up {self.warm_up} must be at least 0 and below 1")
        _positive(self, "learning_rate", "clip")
        _positive(self, "weight_decay", zero=True)

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
        _at_least(self, 1, "width", "layers", "heads", "events_per_batch")
        _divides(self.heads, self.width)
        _positive(self, "temperature")


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
        _at_least(self, 1, "batch", "sampler_steps")
        _at_least(self, 0, "restarts")
        _positive(self, "edge_weight", zero=True)
        _one_of(self, noise=Noise, denoiser=Denoiser, sampler=Sampler, grid=Grid)


@dataclass(frozen=True)
class DiTabDDPMConfig:
    """Settings of the generator of discrete features ``ditabddpm``.

    Args:
        noise: absorbing (the non-zero columns of a row are hidden and revealed one at a time), marginal (columns change
            towards their frequencies, as in the paper), or whichever suits the table (auto).
        denoiser: a network that only learns what columns say about each other, or the paper's residual MLP (marginal).
        width: of the network's hidden values.
        blocks: residual blocks of the network.
        dropout: in the blocks.
        batch: rows in a batch.
        emphasis: how much more than in the data columns follow the class: log frequencies of a class are moved away
            from those of all rows by this share. The features of a generated graph depend on each other by their
            classes alone, those of a real one in other ways too; a little emphasis makes up for that.
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
        default_factory=lambda: TrainingConfig(steps=500, learning_rate=7e-4, validate_every=50)
    )
    marginal_training: TrainingConfig = field(default_factory=lambda: TrainingConfig(steps=800, validate_every=100))

    def __post_init__(self) -> None:
        _at_least(self, 1, "width", "blocks", "batch", "sampler_steps")
        _share(self, "dropout")
        if not 0 <= self.emphasis <= 5:
            raise DignnError(f"emphasis is {self.emphasis}; it must be from 0 to 5, and is best well below 1")
        _one_of(self, noise=TableNoise, denoiser=Denoiser, grid=Grid)
        if self.denoiser == "paper" and self.noise != "marginal":
            raise DignnError("The paper's denoiser predicts all columns from marginal noise; choose noise 'marginal'")


@dataclass(frozen=True)
class TabDDPMConfig:
    """Settings of the feature generator ``tabddpm``.

    Args:
        transform: of continuous columns before diffusion: to normal quantiles, or to mean 0 and standard deviation 1.
        prediction: what the network predicts: the velocity, or the noise (as in the paper).
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

    transform: Transform = "quantile"
    prediction: Prediction = "velocity"
    repeated_rows: bool = True
    discrete: DiscreteBranch = "multinomial"
    width: int = 192
    blocks: int = 2
    dropout: float = 0.0
    batch: int = 512
    sampler: GaussianSampler = "flow"
    sampler_steps: int = 20
    training: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(steps=700, learning_rate=5e-3, validate_every=100)
    )

    def __post_init__(self) -> None:
        _at_least(self, 1, "width", "blocks", "batch", "sampler_steps")
        _share(self, "dropout")
        _one_of(self, transform=Transform, prediction=Prediction, discrete=DiscreteBranch, sampler=GaussianSampler)


@dataclass(frozen=True)
class Config:
    """How explanations are made.

    Args:
        sizes: nodes per explanation graph. By default what the data set recommends, 10 to 15 for a graph of your
            own, and the sizes of the data's graphs for graph classification.
        subgraphs_per_size: real subgraphs sampled per size; one in five is for measuring, not for learning.
        candidates: generated graphs in all, shared out evenly over the sizes.
        structure: name of the structure generator: node-growth, edge-diffusion, or the control bootstrap.
        node_growth, edge_diffusion: settings of the structure generator of that name.
        guidance: how strongly structures are drawn towards what the model takes for each class; 0 for not at all.
        features: name of the feature generator: ditabddpm, tabddpm, or a control, bootstrap or independent. With
            ditabddpm, continuous features go to others.
        ditabddpm, tabddpm: settings of the feature generator of that name.
        continuous: where features are learned by ``ditabddpm``, how continuous ones are: each type by what suits it, or
            by ``tabddpm``, as in the paper.
        one_model_per_class: one feature generator for each class of the target type (of every type, in graph
            classification) and one, blind to classes, for each other type, as in the paper; otherwise one for each
            type, which knows the class around a node. Identity types and controls always know it.
        refined: share of the candidates, the most promising of each class, of which rows of features are drawn anew and
            kept where the model becomes surer of the class, up to what it says about real members; 0 for none.
        refinement_rounds: how often.
        selection: how explanations are chosen: highest (the paper's rule: the highest probability), typical (inside the
            range of real members, nearly the highest, and nearest to members in the model's embedding space) or
            representative (the same, but first the graph with the structure most typical of the class).
        tolerance: how much lower than the best a probability may be that is nearly the highest.
        top_k: explanations per class.
    """

    sizes: tuple[int, ...] | None = None
    subgraphs_per_size: int = 1250
    candidates: int = 1536
    structure: str = "node-growth"
    node_growth: NodeGrowthConfig = field(default_factory=NodeGrowthConfig)
    edge_diffusion: EdgeDiffusionConfig = field(default_factory=EdgeDiffusionConfig)
    guidance: float = 0.0
    features: str = "ditabddpm"
    ditabddpm: DiTabDDPMConfig = field(default_factory=DiTabDDPMConfig)
    tabddpm: TabDDPMConfig = field(default_factory=TabDDPMConfig)
    continuous: Continuous = "auto"
    one_model_per_class: bool = False
    refined: float = 0.25
    refinement_rounds: int = 20
    selection: Selection = "representative"
    tolerance: float = 0.05
    top_k: int = 3

    def __post_init__(self) -> None:
        _at_least(self, 1, "subgraphs_per_size", "candidates", "refinement_rounds", "top_k")
        _positive(self, "guidance", zero=True)
        _share(self, "refined", "tolerance")
        _one_of(self, continuous=Continuous, selection=Selection)
        if self.subgraphs_per_size < 5:
            raise DignnError("subgraphs_per_size must be at least 5, because one in five is held out for measuring")
        if self.sizes is not None and (not self.sizes or min(self.sizes) < 1 or max(self.sizes) > MAX_NODES):
            raise DignnError(f"sizes {list(self.sizes)} must be one or more numbers of nodes from 1 to {MAX_NODES}")


def _at_least(config: object, least: int, *names: str) -> None:
    """Whole numbers."""
    for name in names:
        value = getattr(config, name)
        if not isinstance(value, int):
            raise DignnError(f"{name} is {value}; it must be a whole number")
        if value < least:
            raise DignnError(f"{name} is {value}; it must be at least {least}")


def _positive(config: object, *names: str, zero: bool = False) -> None:
    """Numbers above 0, or not below it."""
    for name in names:
        value = getattr(config, name)
        if not (0 < value < math.inf or (zero and value == 0)):
            raise DignnError(f"{name} is {value}; it must be {'0 or ' if zero else ''}a number above 0")


def _share(config: object, *names: str) -> None:
    """Numbers from 0 to below 1."""
    for name in names:
        value = getattr(config, name)
        if not 0 <= value < 1:
            raise DignnError(f"{name} is {value}; it must be at least 0 and below 1")


def _one_of(config: object, **options: object) -> None:
    for name, choice in options.items():
        known = get_args(choice)
        if getattr(config, name) not in known:
            raise DignnError(f"{name} is {getattr(config, name)!r}; choose from {', '.join(known)}")


def _divides(heads: int, width: int) -> None:
    if width % heads:
        raise DignnError(f"width {width} cannot be shared out over {heads} heads; choose a multiple")


PRESETS: Registry[Config] = Registry("preset")
PRESETS.add("fast", Config())
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
            repeated_rows=False,
            discrete="threshold",
            sampler="ancestral",
            sampler_steps=1000,
        ),
        continuous="tabddpm",
        one_model_per_class=True,
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
