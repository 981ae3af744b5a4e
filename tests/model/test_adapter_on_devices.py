"""A model that is not on the CPU is asked where it is, and answers as it would here."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv

from dignn.core.errors import ModelMismatchError
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg
from dignn.graphs.inference import infer_schema
from dignn.model.adapter import GNNAdapter
from dignn.sampling.forest_fire import forest_fire
from dignn.zoo.datasets.registry import load
from pretend_device import PRETEND, needs_pretend_device, on_every_device, same
from strategies import rings_and_stars
from tiny_models import TinyGCN, TinyHetero


class Softmaxed(TinyGCN):
    """Ends with a softmax, behind which the embedding must be found on the device."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        return super().forward(x, edge_index, batch).softmax(1)


class Normalised(TinyGCN):
    """Lets graphs of a batch influence each other, so that they are asked about one by one."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        return super().forward(x * 10 / len(x), edge_index, batch)


@pytest.fixture(scope="module")
def subgraphs() -> GraphBatch:
    dataset = load("planted")
    return forest_fire(Adjacency.build(dataset.data, dataset.schema), range(8, 11), 4, seed=Seed(0))


@pytest.fixture(scope="module")
def whole_graphs() -> GraphBatch:
    data = rings_and_stars()
    return from_pyg(data, infer_schema(data))


@pytest.fixture(scope="module")
def nodes() -> GraphBatch:
    ring = torch.arange(9)
    edges = torch.stack([ring, (ring + 1) % 9])
    x = torch.rand(9, 3, generator=torch.Generator().manual_seed(0))
    data = Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], 1), y=ring % 2)
    return from_pyg(data, infer_schema(data))


def models(
    subgraphs: GraphBatch, whole_graphs: GraphBatch, nodes: GraphBatch
) -> dict[str, tuple[nn.Module, GraphBatch, dict[str, Any]]]:
    columns = whole_graphs.schema.spec(whole_graphs.schema.node_types[0]).width
    return {
        "heterogeneous": (TinyHetero(subgraphs.schema), subgraphs, {}),
        "nodes": (TinyGCN(3, 2, pool=False), nodes, {}),
        "graphs": (TinyGCN(columns, 2, pool=True), whole_graphs, {}),
        "probabilities": (Softmaxed(columns, 2, pool=True), whole_graphs, {"return_type": "probs"}),
        "one by one": (Normalised(columns, 2, pool=True), whole_graphs, {}),
        "own forward": (
            TinyGCN(columns, 2, pool=True),
            whole_graphs,
            {"forward": lambda model, data: (model(data.x, data.edge_index, data.batch), None)},
        ),
    }


every_model = pytest.mark.parametrize(
    "name", ["heterogeneous", "nodes", "graphs", "probabilities", "one by one", "own forward"]
)


@on_every_device
@every_model
def test_a_model_on_a_device_is_checked_and_scores_there(
    name: str, device: str, subgraphs: GraphBatch, whole_graphs: GraphBatch, nodes: GraphBatch
) -> None:
    found = []
    for place in ("cpu", device):
        model, batch, how = models(subgraphs, whole_graphs, nodes)[name]
        adapter = GNNAdapter(model.to(place), batch.schema, **how)
        adapter.check(batch)
        assert adapter.one_by_one == (name == "one by one")
        found.append(adapter.score(batch))
        assert {weight.device.type for weight in model.parameters()} == {torch.device(place).type}
    here, there = found
    assert same(here.logits, there.logits, device)
    assert same(here.embedding, there.embedding, device)
    assert same(here.probability, there.probability, device)
    assert here.embedding.size(1) == 8  # it was found, also there


@on_every_device
@every_model
def test_gradients_of_edge_weights_come_back(
    name: str, device: str, subgraphs: GraphBatch, whole_graphs: GraphBatch, nodes: GraphBatch
) -> None:
    found = []
    for place in ("cpu", device):
        model, batch, how = models(subgraphs, whole_graphs, nodes)[name]
        weight = torch.full(batch.edge.shape, 0.7, requires_grad=True)
        scores = GNNAdapter(model.to(place), batch.schema, **how).score_weighted(batch, weight)
        (gradient,) = torch.autograd.grad(scores.logits[:, 0].sum(), weight)
        found += [(scores.logits.detach(), gradient)]
    (here, gradient_here), (there, gradient_there) = found
    assert bool(gradient_here.any())
    assert same(here, there, device)
    assert same(gradient_here, gradient_there, device)


@needs_pretend_device
def test_a_callable_is_asked_where_one_says(whole_graphs: GraphBatch) -> None:
    columns = whole_graphs.schema.spec(whole_graphs.schema.node_types[0]).width
    model = TinyGCN(columns, 2, pool=True)
    here = GNNAdapter(model, whole_graphs.schema).score(whole_graphs)
    model = model.to(PRETEND)

    def ask(data: Data) -> Tensor:
        return model(data.x, data.edge_index, data.batch)

    assert same(here.logits, GNNAdapter(ask, whole_graphs.schema, device=PRETEND).score(whole_graphs).logits, PRETEND)
    with pytest.raises(ModelMismatchError, match="same device"):
        GNNAdapter(ask, whole_graphs.schema).score(whole_graphs)


@needs_pretend_device
def test_a_model_on_several_devices_is_refused_without_a_forward(whole_graphs: GraphBatch) -> None:
    columns = whole_graphs.schema.spec(whole_graphs.schema.node_types[0]).width

    class Parted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.head = SAGEConv(columns, 8), TinyGCN(8, 2, pool=True)

    def forward(model: Parted, data: Data) -> Tensor:
        hidden = model.conv(data.x, data.edge_index).cpu()
        return model.head(hidden, data.edge_index.cpu(), data.batch.cpu())

    model = Parted()
    here = GNNAdapter(model, whole_graphs.schema, forward=forward).score(whole_graphs)
    model.conv.to(PRETEND)
    with pytest.raises(ModelMismatchError, match="on several devices"):
        GNNAdapter(model, whole_graphs.schema).score(whole_graphs)
    there = GNNAdapter(model, whole_graphs.schema, forward=forward).score(whole_graphs)
    assert same(here.logits, there.logits, PRETEND)
