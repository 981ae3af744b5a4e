"""Forest fire: subgraphs per second on DBLP, and on a heterogeneous graph of a million nodes."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from torch_geometric.data import HeteroData

from benchmarks.measure import peak_memory, seconds
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.schema import Schema
from dignn.sampling.forest_fire import forest_fire
from dignn.zoo.datasets.registry import load

SIZES = range(10, 16)
PER_SIZE = 200


def run() -> dict[str, Any]:
    dblp = load("dblp")
    small = _time(Adjacency.build(dblp.data, dblp.schema))
    data = large_graph()
    schema = Schema.from_hetero(data, "author")
    begin = time.perf_counter()
    adjacency = Adjacency.build(data, schema)
    built = time.perf_counter() - begin
    large = _time(adjacency)
    return {
        "dblp_seconds_for_1200": round(small, 3),
        "million_node_graph": {"nodes": len(adjacency.node_type), "edges": len(adjacency.neighbour) // 2},
        "million_build_seconds": round(built, 1),
        "million_seconds_for_1200": round(large, 3),
        "ratio_per_subgraph": round(large / small, 2),
        "peak_memory_gib": round(peak_memory(), 2),
    }


def _time(adjacency: Adjacency) -> float:
    return seconds(lambda: forest_fire(adjacency, SIZES, PER_SIZE, seed=Seed(0)))


def large_graph(nodes: int = 1_000_000, edges: int = 10_000_000) -> HeteroData:
    """Authors, papers and terms; every paper's partners are drawn with a heavy tail, so that there are hubs."""
    rng = np.random.default_rng(0)
    count = {"author": 3 * nodes // 10, "paper": nodes // 2, "term": nodes // 5}
    data = HeteroData()
    for name, size in count.items():
        data[name].num_nodes = size
    data["author"].y = torch.from_numpy(rng.integers(0, 4, count["author"]))
    for other, share in (("author", 0.3), ("term", 0.7)):
        wanted = int(edges * share)
        pairs = np.empty(0, dtype=np.int64)
        while len(pairs) < wanted:  # repeated pairs are one edge, so draw until there are enough
            paper = rng.integers(0, count["paper"], wanted)
            partner = (count[other] * rng.random(wanted) ** 2).astype(np.int64)
            pairs = np.unique(np.concatenate([pairs, paper * count[other] + partner]))
        pairs = rng.permutation(pairs)[:wanted]
        index = torch.from_numpy(np.stack([pairs // count[other], pairs % count[other]]))
        data["paper", "has", other].edge_index = index
        data[other, "rev_has", "paper"].edge_index = index.flip(0)
    return data
