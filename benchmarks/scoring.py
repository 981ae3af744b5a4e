"""The adapter: 1,536 DBLP graphs of 10 to 15 nodes, all columns, scored by the explained model."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.measure import peak_memory, seconds
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.model.adapter import GNNAdapter
from dignn.sampling.forest_fire import forest_fire
from dignn.zoo.datasets.registry import load
from dignn.zoo.models.checkpoint import trained_model


def run() -> dict[str, Any]:
    dataset = load("dblp")
    adapter = GNNAdapter(trained_model(dataset).model, dataset.schema)
    graphs = forest_fire(Adjacency.build(dataset.data, dataset.schema), range(10, 16), 256, seed=Seed(0))
    adapter.check(graphs[:8])
    return {
        "graphs": len(graphs),
        "seconds": round(seconds(lambda: adapter.score(graphs)), 3),
        "torch_threads": torch.get_num_threads(),
        "one_by_one": adapter.one_by_one,
        "peak_memory_gib": round(peak_memory(), 2),
    }
