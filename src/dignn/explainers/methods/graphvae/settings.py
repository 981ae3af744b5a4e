"""Settings of GraphVAE, and presets. Loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dignn.core.checks import at_least, divides, one_of, parts, positive, switches
from dignn.core.registry import Registry
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.settings import RunSettings
from dignn.features.settings import FeatureSettings
from dignn.selection.settings import Selection

EdgeThreshold = Literal["density", "half"]


@dataclass(frozen=True)
class GraphVAESettings(FeatureSettings, RunSettings):
    """Settings of GraphVAE: those of a run, of the autoencoder, and of generators of features where it makes none.

    Widths and heads are those of the paper; it does not give the number of layers, the weight of the KL term nor the
    training, which are ours.

    Args:
        joint: whether features are decoded with the structure, as in the paper; otherwise, and for tables that it
            cannot decode, they come from the generators that every explainer has.
        constrained: whether relations that the metagraph forbids are masked in decoding; in the paper they are not.
        edge_threshold: where two nodes are joined: where that is likelier than not (half), or above the odds with which
            decoded graphs have as many edges as real ones (density), as features are thresholded. A decoder that is
            not sure finds each single edge unlikely.
        beta: weight of the KL term; 1 for the evidence lower bound. With less the latent says more, and what is decoded
            from it is connected more often.
        latent: numbers that a graph is encoded in.
        width: of the encoder's hidden values.
        heads: of its attention.
        layers: of attention.
        hidden: width of the two hidden layers of the decoder.
        node_state: numbers that the decoder gives each node, from which its features are read.
        batch: graphs in a batch.
        draws: how often a graph that is not valid is decoded again from another latent, at most.
        training: how the networks are trained.
    """

    selection: Selection = "highest"
    joint: bool = True
    constrained: bool = True
    edge_threshold: EdgeThreshold = "density"
    beta: float = 0.2
    latent: int = 128
    width: int = 64
    heads: int = 4
    layers: int = 2
    hidden: int = 512
    node_state: int = 64
    batch: int = 64
    draws: int = 50
    training: TrainingConfig = field(default_factory=lambda: TrainingConfig(steps=1000, validate_every=100, patience=3))

    def __post_init__(self) -> None:
        for part in (RunSettings, FeatureSettings):
            part.__post_init__(self)
        at_least(self, 1, "latent", "width", "heads", "layers", "hidden", "node_state", "batch")
        at_least(self, 0, "draws")
        divides(self.heads, self.width)
        positive(self, "beta", zero=True)
        one_of(self, edge_threshold=EdgeThreshold)
        switches(self, "joint", "constrained")
        parts(self, training=TrainingConfig)


PRESETS: Registry[GraphVAESettings] = Registry("preset")
"""Presets by name: ``fast`` (the default), ``paper`` (nothing is masked, nothing decoded again) and ``smoke``."""
PRESETS.add("fast", GraphVAESettings())
PRESETS.add("paper", GraphVAESettings(subgraphs_per_size=200, constrained=False, edge_threshold="half", draws=0))
PRESETS.add(
    "smoke",
    GraphVAESettings(
        subgraphs_per_size=20,
        candidates=96,
        latent=16,
        width=16,
        layers=1,
        hidden=64,
        node_state=16,
        batch=32,
        training=TrainingConfig(steps=60, validate_every=30),
    ),
)
