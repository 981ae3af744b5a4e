"""Settings of the structure generators. Loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dignn.core.checks import at_least, divides, one_of, parts, positive, switches, texts
from dignn.diffusion.settings import Denoiser, Grid, Sampler, TrainingConfig

Noise = Literal["absorbing", "marginal"]


GROWTH_TRAINING = TrainingConfig(
    steps=1500, learning_rate=6e-3, optimizer="muon", settle=0.7, validate_every=50, gain=0.02, patience=1
)
"""How node growth is trained by default: the rate falls as soon as 50 steps bring less than a fiftieth."""


@dataclass(frozen=True)
class NodeGrowthConfig:
    """Settings of the structure generator ``node-growth``.

    Args:
        width: of the transformer's hidden values.
        layers: of the transformer.
        heads: of its attention.
        events_per_batch: nodes and edges of the growths in a batch.
        temperature: of every decision; below 1 more typical and less diverse.
        roles: whether plans tell the parts that nodes play (edges, how short a cycle they lie on, heights in trees),
            as far as the data allow.
        looks: how often a graph that is not as planned is grown again.
        new: whether a copy of a training graph is grown again as well, where there are few of those (fewer than 1,000).
        effort: gradient steps for every event of a mean graph, as far as there is as much to learn.
        passes: over all different training graphs, at most: more teaches a network copies of few graphs.
        training: how the network is trained; its steps are the most.
    """

    width: int = 48
    layers: int = 4
    heads: int = 4
    events_per_batch: int = 480
    temperature: float = 1.0
    roles: bool = True
    looks: int = 4
    new: bool = True
    effort: float = 40.0
    passes: float = 60.0
    training: TrainingConfig = field(default_factory=lambda: GROWTH_TRAINING)

    def __post_init__(self) -> None:
        at_least(self, 1, "width", "layers", "heads", "events_per_batch")
        divides(self.heads, self.width)
        at_least(self, 0, "looks")
        positive(self, "temperature", "effort", "passes")
        switches(self, "roles", "new")
        parts(self, training=TrainingConfig)


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
        switches(self, "one_model_per_size", "constraints")
        parts(self, training=TrainingConfig)


@dataclass(frozen=True)
class StructureSettings:
    """How structures are generated.

    Args:
        structure: name of the structure generator: node-growth, edge-diffusion, or the control bootstrap.
        node_growth, edge_diffusion: settings of the structure generator of that name.
        guidance: how strongly structures are drawn towards what the model takes for each class; 0 for not at all.
    """

    structure: str = "node-growth"
    node_growth: NodeGrowthConfig = field(default_factory=NodeGrowthConfig)
    edge_diffusion: EdgeDiffusionConfig = field(default_factory=EdgeDiffusionConfig)
    guidance: float = 0.0

    def __post_init__(self) -> None:
        texts(self, "structure")
        parts(self, node_growth=NodeGrowthConfig, edge_diffusion=EdgeDiffusionConfig)
        positive(self, "guidance", zero=True)
