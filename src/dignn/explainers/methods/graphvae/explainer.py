"""GraphVAE as an explainer: graphs from a variational autoencoder that decodes structure and features jointly.

The first baseline of the paper (section "Experiments"): a graph autoencoder (Simonovsky and Komodakis, "GraphVAE:
Towards Generation of Small Graphs Using Variational Autoencoders", 2018) without matching of nodes, extended to
features by concatenating one-hot types. Where this one departs from it:

- nodes stand in a canonical order (:mod:`~dignn.explainers.methods.graphvae.canonical_order`), which the encoder sees;
- features are read from a state of each node by a layer for each type, so that all columns of all types are kept, where
  the paper selects 50 of each type of DBLP;
- node tokens are types with the classified one split by class, and the size of a graph is given to the decoder;
- by default relations that the metagraph forbids are masked, and what is not connected is decoded again from another
  latent; the preset ``paper`` does neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from dignn.explainers.base import Explainer
from dignn.explainers.methods.graphvae.generator import GraphVAEGenerator
from dignn.explainers.methods.graphvae.settings import PRESETS, GraphVAESettings
from dignn.explainers.registry import EXPLAINERS
from dignn.features.registry import FEATURE_GENERATORS
from dignn.graphs.batch import GraphBatch

# File of a run folder beside those that others rely on: what was learned.
AUTOENCODER = "graphvae.safetensors"


@EXPLAINERS.register("graphvae")
class GraphVAE(Explainer):
    """Decodes random latents to graphs with features; the surest of each class explains it.

    Features of edges, tables with columns of several kinds and categories by the thousand are not decoded: edges get
    theirs, and with such tables all nodes, from the generators that every explainer has.
    """

    presets = PRESETS
    config: GraphVAESettings

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        FEATURE_GENERATORS[self.config.features]  # raises for one that does not exist
        self._generator = GraphVAEGenerator(self.config, device=self.device)

    def learn(self, train: GraphBatch) -> None:
        """Trains the autoencoder on real graphs; rows of held-out nodes are not seen."""

        def fit() -> GraphVAEGenerator:
            learned = torch.zeros_like(train.mask)
            for code, name in enumerate(self.schema.node_types):
                here = train.node_type == code
                learned[here] = self.real.learned_rows[name][train.row[here]]
            with self.run.stage("GGT") as tick:
                return self._generator.fit(train, learned, seed=self.seed.child("GGT"), tick=tick)

        self.run.artifact(
            AUTOENCODER, fit, GraphVAEGenerator.save, lambda path: self._generator.load(path, self.schema)
        )

    def candidates(self, sizes: Sequence[int]) -> GraphBatch:
        """Graphs with features, where those are decoded."""
        with self.run.stage("GGAT") as tick:
            return self._generator.sample(sizes, seed=self.seed.child("GGAT"), tick=tick)

    def findings(self) -> dict[str, Any]:
        return {"structure": self._generator.report, **({"features": self.bank.report} if self.bank.parts else {})}
