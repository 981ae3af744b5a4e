"""The planted data with a model that was trained for a moment: what a run hands to the metrics."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from dignn.batch import GraphBatch
from dignn.config import Config
from dignn.data import Dataset, load
from dignn.gnn.adapter import GNNAdapter
from dignn.metrics.graph_features import learned_rows
from dignn.metrics.layers import Answer, Reality
from dignn.motifs.mining import Parts
from dignn.real import RealGraphs
from dignn.runtime.seeds import Seed
from dignn.selection import select_highest
from tiny_models import TinyHetero


@dataclass(frozen=True)
class World:
    """Data, the division of it, the model, what graphs are measured against, and real graphs beyond all these."""

    dataset: Dataset
    real: RealGraphs
    adapter: GNNAdapter
    reality: Reality
    further: GraphBatch

    def answer(self, graphs: GraphBatch, number: int = 50) -> Answer:
        """The graphs with the choice of the paper's rule."""
        scores = self.adapter.score(graphs)
        return Answer(graphs, scores, select_highest(graphs, scores, number))


def trained(dataset: Dataset, steps: int = 80) -> TinyHetero:
    """Right about nine authors in ten."""
    model, label = TinyHetero(dataset.schema), dataset.data["author"].y
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(steps):
        optimiser.zero_grad()
        scores = model(dataset.data.x_dict, dataset.data.edge_index_dict)
        torch.nn.functional.cross_entropy(scores, label).backward()
        optimiser.step()
    return model.eval()


def small_world() -> World:
    dataset = load("planted")
    config = Config(sizes=(10, 12), subgraphs_per_size=200)
    real, other = (RealGraphs(dataset.data, dataset.schema, config, Seed(seed)) for seed in (0, 1))
    real.sample()
    other.sample()
    adapter = GNNAdapter(trained(dataset), dataset.schema)
    parts = Parts(real.held_out, seed=Seed(0).child("motifs"))
    reality = Reality(
        train=real.train,
        train_scores=adapter.score(real.train),
        held_out=real.held_out,
        held_out_scores=adapter.score(real.held_out),
        learned=learned_rows(real.data, real.learned),
        motifs=parts.motifs(dataset.truth),
        class_typed=parts.class_typed(),
        truth=dataset.truth,
    )
    return World(dataset, real, adapter, reality, other.train)
