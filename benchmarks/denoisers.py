"""The denoisers of edge diffusion: time of a training step of the fast one and of the paper's, in the same run."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.measure import seconds
from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.graphs.adjacency import Adjacency
from dignn.sampling.forest_fire import forest_fire
from dignn.structure.edge_diffusion.fast_denoiser import FastDenoiser
from dignn.structure.edge_diffusion.graph_transformer import GraphTransformer
from dignn.structure.vocabulary import Vocabulary
from dignn.zoo.datasets.registry import load

BATCH, SIZE = 128, 12


def run() -> dict[str, Any]:
    dataset = load("dblp")
    graphs = forest_fire(Adjacency.build(dataset.data, dataset.schema), (SIZE,), BATCH, seed=Seed(0))
    words = Vocabulary.of(graphs)
    nodes, edges = words.encode(graphs)
    found: dict[str, Any] = {"batch": BATCH, "size": SIZE}
    with single_thread():
        torch.manual_seed(0)
        for name, network in (
            ("fast", FastDenoiser(words.node_count, words.edge_count, words.mirror)),
            ("paper", GraphTransformer(words.node_count, words.edge_count, words.mirror, 0)),
        ):
            found[f"{name}_seconds"] = round(seconds(lambda network=network: _step(network, nodes, edges)), 4)
            found[f"{name}_parameters"] = sum(p.numel() for p in network.parameters())
    found["ratio"] = round(found["paper_seconds"] / found["fast_seconds"], 1)
    return found


def _step(network: nn.Module, nodes: Tensor, edges: Tensor) -> None:
    """Forward, cross-entropy of nodes and pairs, backward."""
    network.zero_grad()
    upper = torch.triu_indices(SIZE, SIZE, 1)
    node_logits, pair_logits = network(nodes, edges, torch.full((len(nodes),), 0.5), torch.zeros(len(nodes), 0))
    pairs = edges[:, upper[0], upper[1]]
    loss = nn.functional.cross_entropy(node_logits.flatten(0, 1), nodes.flatten())
    loss = loss + 5 * nn.functional.cross_entropy(pair_logits.flatten(0, 1), pairs.flatten())
    loss.backward()
