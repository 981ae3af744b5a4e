"""The planted data with a model that was trained for a moment: what a run hands to the metrics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from dignn.core.progress import silent
from dignn.core.seeds import Seed
from dignn.explainers.methods.dignnexplainer.settings import Config
from dignn.graphs.batch import GraphBatch
from dignn.graphs.validity import Validity
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.run import Measuring
from dignn.model.adapter import GNNAdapter
from dignn.sampling.division import RealGraphs, divide
from dignn.selection.members import all_members
from dignn.selection.ranking import Ranker, Ranking
from dignn.selection.settings import Selection
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from tiny_models import TinyHetero


@dataclass(frozen=True)
class World:
    """Data, what measures runs on it, and real graphs beyond those that it knows."""

    dataset: Dataset
    measuring: Measuring
    further: GraphBatch

    @property
    def real(self) -> RealGraphs:
        return self.measuring.real

    @property
    def adapter(self) -> GNNAdapter:
        return self.measuring.adapter

    @property
    def reality(self) -> Reality:
        return self.measuring.reality

    def by(self, rule: Selection) -> World:
        """The same with another rule of selection."""
        ranker = replace(self.measuring.ranker, rule=rule)
        return replace(self, measuring=replace(self.measuring, ranker=ranker))

    def ranking(self, graphs: GraphBatch) -> Ranking:
        return self.measuring.ranker.rank(graphs, self.adapter.score(graphs))

    def measured(self, graphs: GraphBatch) -> MeasuredGraphs:
        """The graphs with what the rule chooses."""
        return self.measuring.measured(self.ranking(graphs), self.measuring.compared(graphs))

    def run(
        self,
        graphs: GraphBatch,
        *,
        unrefined: GraphBatch | None = None,
        failed: int = 0,
        fresh: RealGraphs | None = None,
    ) -> dict[str, Any]:
        """``metrics.json`` of a run whose valid candidates are these graphs, and that failed so many times beside."""
        valid = torch.arange(len(graphs) + failed) < len(graphs)
        validity = Validity(valid, valid)
        first = graphs if unrefined is None else unrefined
        return self.measuring.measure(self.ranking(graphs), first, validity, fresh, silent)


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


def sampled(dataset: Dataset, seed: int) -> RealGraphs:
    real = divide(dataset.data, dataset.schema, Config(sizes=(10, 12), subgraphs_per_size=200), Seed(seed))
    real.sample()
    return real


def small_world() -> World:
    """A world whose rule of selection is the paper's."""
    dataset = load("planted")
    real, seed = sampled(dataset, 0), Seed(0)
    adapter = GNNAdapter(trained(dataset), dataset.schema)
    scores = adapter.score(real.train)
    ranker = Ranker(real.train, all_members(scores, real.train, seed=seed), "highest", 0.05, seed.child("parts"))
    measuring = Measuring(adapter, real, scores, ranker, dataset.truth, seed)
    return World(dataset, measuring, sampled(dataset, 1).train)
