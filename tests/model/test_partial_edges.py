"""Edges that count partly: one of weight 0 is as good as none, also for means and normalisations by degree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv, GraphConv, SAGEConv, global_add_pool

from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg
from dignn.graphs.inference import infer_schema
from dignn.model.adapter import GNNAdapter
from strategies import rings_and_stars


class TwoLayers(nn.Module):
    """Two layers of a kind, and a sum."""

    def __init__(self, layer: Callable[[int, int], nn.Module]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = layer(1, 4), layer(4, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return global_add_pool(self.second(self.first(x, edge_index).tanh(), edge_index), batch)


class MeanAndSum(SAGEConv):
    """A class of its own: PyTorch Geometric compiles layers once per class, for the first object's aggregation."""

    def __init__(self, columns: int, channels: int) -> None:
        super().__init__(columns, channels, aggr=["mean", "sum"])


LAYERS: dict[str, Callable[[int, int], nn.Module]] = {
    "gcn": GCNConv,
    "sum": GraphConv,
    "mean": SAGEConv,
    "mean and sum": MeanAndSum,
    "mean of a layer with weights": lambda a, b: GraphConv(a, b, aggr="mean"),
}


@pytest.fixture(scope="module")
def graphs() -> GraphBatch:
    listed, random = rings_and_stars()[:6], torch.Generator().manual_seed(0)
    for graph in listed:
        graph.x = torch.rand(graph.x.shape, generator=random)
    return from_pyg(listed, infer_schema(listed))


@pytest.mark.parametrize("kind", LAYERS)
def test_weights_of_0_and_1_are_graphs_without_and_with_edges(kind: str, graphs: GraphBatch) -> None:
    adapter = GNNAdapter(TwoLayers(LAYERS[kind]), graphs.schema)
    kept = (torch.rand(graphs.edge.shape, generator=torch.Generator().manual_seed(1)) < 0.5).triu(1)
    kept = kept | kept.transpose(1, 2)
    fewer = adapter.score(replace(graphs, edge=graphs.edge.where(kept, 0))).logits
    soft = adapter.score_weighted(graphs, kept.float(), partial_edges=True).logits
    assert torch.allclose(soft, fewer, atol=1e-5)
    assert not torch.allclose(soft, adapter.score(graphs).logits, atol=1e-3)


def test_a_mean_fades_with_its_last_edge(graphs: GraphBatch) -> None:
    """Scores are continuous in weights down to 0, and have gradients there."""
    adapter = GNNAdapter(TwoLayers(SAGEConv), graphs.schema)
    almost = torch.full(graphs.edge.shape, 1e-6, requires_grad=True)
    soft = adapter.score_weighted(graphs, almost, partial_edges=True).logits
    none = adapter.score(replace(graphs, edge=torch.zeros_like(graphs.edge))).logits
    assert torch.allclose(soft, none, atol=1e-4)
    slope = torch.autograd.grad(soft[:, 0].sum(), almost)[0]
    assert bool((slope[graphs.edge > 0] != 0).all())


def test_attention_takes_weights_too(graphs: GraphBatch) -> None:
    adapter = GNNAdapter(TwoLayers(GATConv), graphs.schema)
    whole = adapter.score_weighted(graphs, torch.ones(graphs.edge.shape), partial_edges=True).logits
    assert torch.allclose(whole, adapter.score(graphs).logits, atol=1e-5)


def test_types_that_are_features_may_be_soft() -> None:
    listed = rings_and_stars()
    for graph in listed:
        graph.x = torch.eye(2)[torch.arange(graph.num_nodes) % 2]
    batch = from_pyg(listed, infer_schema(listed, type_names=("C", "N")))

    class Model(TwoLayers):
        def __init__(self) -> None:
            super().__init__(GCNConv)
            self.first = GCNConv(2, 4)

    adapter = GNNAdapter(Model(), batch.schema)
    hard = torch.eye(2)[batch.node_type.clamp_min(0)].requires_grad_()
    ones = torch.ones(batch.edge.shape)
    logits = adapter.score_weighted(batch, ones, type_weight=hard).logits
    assert torch.allclose(logits, adapter.score(batch).logits, atol=1e-5)
    slope = torch.autograd.grad(logits[:, 0].sum(), hard)[0]
    assert bool((slope[batch.mask].abs().sum(-1) > 0).all())
    assert bool((slope[~batch.mask] == 0).all())
