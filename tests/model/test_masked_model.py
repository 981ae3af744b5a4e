"""One answer as a module for PyTorch Geometric's explainers: the same answer, its slopes, nothing left behind."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.explain import Explainer, GNNExplainer, ModelConfig
from torch_geometric.nn import GCN, GCNConv, MessagePassing, RGCNConv, global_add_pool

from dignn.core.errors import DignnError
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg
from dignn.graphs.description import edges
from dignn.graphs.inference import infer_schema
from dignn.model.adapter import GNNAdapter
from dignn.model.masked_model import MaskedModel, check_maskable
from evidence import planned
from strategies import random_batch
from tiny_models import TinyGCN, TinyHetero

RAW = ModelConfig(mode="binary_classification", task_level="graph", return_type="raw")


def ring(**fields: Tensor) -> Data:
    """Five nodes in a ring, a class each."""
    here = torch.arange(5)
    pairs = torch.stack([here, (here + 1) % 5])
    x = fields.pop("x", torch.rand(5, 3, generator=torch.Generator().manual_seed(0)))
    return Data(x=x, edge_index=torch.cat([pairs, pairs.flip(0)], 1), y=here % 2, **fields)


def asked(model: object, data: Data, **how: object) -> tuple[GNNAdapter, GraphBatch]:
    schema = infer_schema(data)
    graph = from_pyg([data], schema)
    adapter = GNNAdapter(model, schema, **how)
    adapter.check(graph)
    return adapter, graph


def explained(model: MaskedModel) -> object:
    edge = "object" if model.edge_index.numel() else None
    with torch.random.fork_rng():
        torch.manual_seed(0)
        explainer = Explainer(model, GNNExplainer(5), "phenomenon", RAW, "object", edge)
        return explainer(model.shares, model.edge_index, target=torch.ones(1))


# -- the same answer ----------------------------------------------------------------------------------


@pytest.mark.parametrize("pool", [False, True])
def test_without_masks_it_is_what_the_adapter_scores(pool: bool) -> None:
    graphs = [ring(), ring()]
    for graph in graphs if pool else ():
        graph.y = torch.tensor([1])
    graphs[0].y = torch.tensor([0]) if pool else graphs[0].y
    schema = infer_schema(graphs if pool else graphs[0])
    batch = from_pyg(graphs[:1], schema)
    adapter = GNNAdapter(TinyGCN(3, 2, pool=pool), schema)
    known = adapter.score(batch)
    for row, node in enumerate(known.node.tolist()):
        model = MaskedModel(adapter, batch, None if pool else node, 1)
        assert float(model(model.shares, model.edge_index)) == pytest.approx(float(known.log_odds[row, 1]), abs=1e-6)


def test_slopes_of_a_sum_are_its_terms() -> None:
    graph = planned.bibliography()
    model = MaskedModel(planned.adapter(), graph, 0, 1)
    share = model.shares.requires_grad_()
    model(share, model.edge_index).backward()
    terms = [
        float(graph.tables["author"][0] @ planned.AUTHOR),
        *(graph.tables["paper"] @ planned.PAPER).tolist(),
        float(graph.tables["term"][0] @ planned.TERM),
        float(graph.tables["venue"][0] @ planned.VENUE),
        0.0,  # the other author
    ]
    assert share.grad is not None
    assert share.grad[:, 0].tolist() == pytest.approx(terms)
    assert model.nodes.all()
    assert not model.edge_index.numel()  # it has no layers that pass messages


def test_edges_without_weight_are_as_good_as_none() -> None:
    """A layer that sums messages cannot tell."""

    class Sums(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = GCNConv(3, 2, normalize=False)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.conv(x, edge_index)

    adapter, graph = asked(Sums(), ring())
    model = MaskedModel(adapter, graph, 0, 1)
    assert model.edge_index.tolist() == graph.edge[0].nonzero().T.tolist()
    explainer = Explainer(model, GNNExplainer(1), "phenomenon", RAW, "object", "object")
    kept = (model.edge_index != 1).all(0).float()
    masked = explainer.get_masked_prediction(model.shares, model.edge_index, edge_mask=kept)
    edge = graph.edge.clone()
    edge[0, 1, :] = edge[0, :, 1] = 0
    cut = adapter.score(replace(graph, edge=edge))
    assert float(masked) == pytest.approx(float(cut.log_odds[cut.node == 0, 1]), abs=1e-6)


def test_between_two_types_an_edge_is_masked_once_and_every_edge_gets_a_value() -> None:
    graph = planned.bibliography()
    model = MaskedModel(GNNAdapter(TinyHetero(planned.SCHEMA), planned.SCHEMA), graph, 0, 1)
    assert model.edge_index.T.tolist() == [[u, v] for u, v, _ in edges(graph)]
    values = torch.arange(model.edge_index.size(1)).float()
    assert model.of_edges(values, added=True) == values.tolist()


def test_an_undirected_edge_inside_a_type_gets_the_mean_of_both_ways_or_their_sum() -> None:
    adapter, graph = asked(TinyGCN(3, 2, pool=False), ring())
    model = MaskedModel(adapter, graph, 0, 1)
    values = model.edge_index[0].float()  # by the source
    assert model.of_edges(values, added=False) == [(u + v) / 2 for u, v, _ in edges(graph)]
    assert model.of_edges(values, added=True) == [u + v for u, v, _ in edges(graph)]


# -- any model ----------------------------------------------------------------------------------------


def test_a_model_that_is_called_by_a_function() -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = TinyGCN(3, 2, pool=False)

        def forward(self, one: Tensor, *, other: Tensor) -> Tensor:
            return self.inner(one, other)

    adapter, graph = asked(Odd(), ring(), forward=lambda model, data: model(data.x, other=data.edge_index))
    plain, _ = asked(adapter.model.inner, ring())
    for one, other in zip(
        *(explained(MaskedModel(each, graph, 0, 1)).stores for each in (adapter, plain)), strict=True
    ):
        assert torch.equal(one.node_mask, other.node_mask)
        assert torch.equal(one.edge_mask, other.edge_mask)


def test_codes_that_are_looked_up_cannot_be_masked_but_messages_can() -> None:
    class Looks(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.conv = nn.Embedding(4, 3), GCNConv(3, 2)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.conv(self.table(x[:, 0]), edge_index)

    adapter, graph = asked(Looks(), ring(x=torch.tensor([[0], [1], [2], [3], [1]])))
    model = MaskedModel(adapter, graph, 0, 1)
    assert not model.nodes.any()
    assert model.edge_index.size(1) == 10
    assert model.reason is None


def test_whole_numbers_that_the_model_takes_as_fractions_can_be_masked() -> None:
    adapter, graph = asked(TinyGCN(3, 2, pool=False), ring(x=torch.tensor([[0, 1, 1]] * 2 + [[1, 0, 2]] * 3)))
    assert MaskedModel(adapter, graph, 0, 1).nodes.all()


def test_layers_that_divide_edges_among_relations_leave_the_features() -> None:
    class Relational(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = RGCNConv(3, 2, 2)

        def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> Tensor:
            return self.conv(x, edge_index, edge_type)

    data = ring()
    data.edge_type = (data.edge_index.sum(0) % 2).long()
    adapter, graph = asked(Relational(), data)
    model = MaskedModel(adapter, graph, 0, 1)
    assert model.nodes.all()
    assert not model.edge_index.numel()


def test_missing_values_stay_missing_and_have_no_slope() -> None:
    class Fills(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = TinyGCN(4, 2, pool=False)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            lacking = x.isnan().any(1, keepdim=True).float()
            return self.inner(torch.cat([x.nan_to_num(0.5), lacking], 1), edge_index)

    x = torch.rand(5, 3, generator=torch.Generator().manual_seed(1))
    x[1, 0] = torch.nan
    adapter, graph = asked(Fills(), ring(x=x))
    model = MaskedModel(adapter, graph, 0, 1)
    share = model.shares.requires_grad_()
    model(share, model.edge_index).backward()
    assert share.grad is not None
    assert share.grad.isfinite().all()
    assert share.grad.any()


@pytest.mark.parametrize(
    "function",
    [
        lambda x, edge_index: (x[:, :2] * 1.5).detach(),
        lambda x, edge_index: torch.from_numpy(x.detach().numpy()[:, :2] * 1.5),
    ],
)
def test_an_answer_without_a_gradient_is_refused(function: Callable[..., Tensor]) -> None:
    adapter, graph = asked(function, ring())
    assert MaskedModel(adapter, graph, 0, 1).reason is not None
    with pytest.raises(DignnError, match="Marks need a model whose answers have a gradient .*; give a module"):
        check_maskable(adapter, graph)
    check_maskable(asked(TinyGCN(3, 2, pool=False), ring())[0], graph)


# -- nothing is left ----------------------------------------------------------------------------------


def test_the_model_is_left_as_it_was() -> None:
    batch = random_batch(planned.SCHEMA, [6], np.random.default_rng(0))
    batch = replace(batch, node_type=torch.tensor([[0, 1, 1, 2, 3, 0]]))
    user = TinyHetero(planned.SCHEMA).train()
    first = next(user.parameters())
    first.grad = torch.ones_like(first)
    before = copy.deepcopy(user.state_dict())
    layers = [module for module in user.modules() if isinstance(module, MessagePassing)]
    attributes = [dict(vars(layer)) for layer in layers]
    explained(MaskedModel(GNNAdapter(user, planned.SCHEMA), planned.bibliography(), 0, 1))
    assert user.training
    assert all(torch.equal(value, before[name]) for name, value in user.state_dict().items())
    assert all(parameter.requires_grad for parameter in user.parameters())
    assert [each.grad is None for each in user.parameters()] == [each is not first for each in user.parameters()]
    assert torch.equal(first.grad, torch.ones_like(first))
    assert [dict(vars(layer)) for layer in layers] == attributes
    assert all(layer._edge_mask is None and not layer.explain for layer in layers)


def test_weights_reach_a_model_once() -> None:
    """One that would take ``edge_weight`` by name does not get the weights a second time."""

    class Plain(nn.Module):
        def __init__(self, inner: nn.Module) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            return global_add_pool(self.inner(x, edge_index), batch)

    class Naming(Plain):
        def forward(  # type: ignore[override]
            self, x: Tensor, edge_index: Tensor, batch: Tensor, edge_weight: Tensor | None = None
        ) -> Tensor:
            return global_add_pool(self.inner(x, edge_index, edge_weight), batch)

    inner = GCN(3, 8, 2, 2).eval()
    graphs = [Data(x=ring().x, edge_index=ring().edge_index, y=torch.tensor([k])) for k in (0, 1)]
    schema = infer_schema(graphs)
    batch = from_pyg(graphs, schema)
    weight = torch.full(batch.edge.shape, 0.5)
    plain, naming = (GNNAdapter(kind(inner), schema).score_weighted(batch, weight) for kind in (Plain, Naming))
    assert torch.equal(plain.logits, naming.logits)
