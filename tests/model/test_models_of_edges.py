"""Models that go by what edges carry are served: asked here they answer as when they are called by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import (
    GATConv,
    GATv2Conv,
    GCNConv,
    GINEConv,
    GMMConv,
    GraphConv,
    HeteroConv,
    NNConv,
    PNAConv,
    TransformerConv,
    global_add_pool,
)

from any_models import agrees, people
from carrying_graphs import bonded, citations, friends, priced_shops, rng
from dignn import DiGNNExplainer, infer_schema
from dignn.core.errors import ModelMismatchError, SchemaError

ATTRIBUTES: dict[str, Callable[[], nn.Module]] = {
    "GINE": lambda: GINEConv(nn.Linear(6, 8), edge_dim=2),
    "GAT": lambda: GATConv(6, 8, edge_dim=2),
    "GATv2": lambda: GATv2Conv(6, 8, edge_dim=2),
    "NNConv": lambda: NNConv(6, 8, nn.Linear(2, 48)),
    "Transformer": lambda: TransformerConv(6, 8, edge_dim=2),
    "GMM": lambda: GMMConv(6, 8, dim=2, kernel_size=2),
    "PNA": lambda: PNAConv(6, 8, ["mean", "max"], ["identity"], torch.tensor([0, 1, 2]), edge_dim=2),
}


class ByAttributes(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer, self.head = layer, nn.Linear(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        return self.head(self.layer(x, edge_index, edge_attr).relu())


class ByWeight(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer, self.head = layer, nn.Linear(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        return self.head(self.layer(x, edge_index, edge_weight).relu())


@pytest.mark.parametrize("one_row", [True, False])
@pytest.mark.parametrize("name", ATTRIBUTES)
def test_layers_with_edge_features(name: str, one_row: bool) -> None:
    torch.manual_seed(0)
    model = ByAttributes(ATTRIBUTES[name]())
    by_hand = lambda model, graph: model(graph.x, graph.edge_index, graph.edge_attr)  # noqa: E731
    agrees(model, "people", by_hand, given=friends(one_row=one_row))


@pytest.mark.parametrize("layer", [GCNConv, GraphConv])
def test_layers_with_edge_weights(layer: type) -> None:
    torch.manual_seed(0)
    model = ByWeight(layer(6, 8))
    by_hand = lambda model, graph: model(graph.x, graph.edge_index, graph.edge_weight)  # noqa: E731
    agrees(model, "people", by_hand, given=friends())
    agrees(model, "people", by_hand, given=friends(one_row=False))
    ones = people()
    ones.edge_weight = torch.full((ones.num_edges,), 0.5)  # kept as a constant
    agrees(model, "people", by_hand, given=ones)


@pytest.mark.parametrize("make", [priced_shops, lambda: priced_shops(one_row=False)], ids=["one row", "other rows"])
def test_dictionaries_of_edge_features(make: Callable[[], HeteroData]) -> None:
    data = make()
    torch.manual_seed(0)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            layers = {kind: GATv2Conv((-1, -1), 8, edge_dim=2, add_self_loops=False) for kind in data.edge_types}
            self.conv, self.head = HeteroConv(layers), nn.Linear(8, 2)

        def forward(self, x_dict: dict, edge_index_dict: dict, edge_attr_dict: dict) -> Tensor:
            return self.head(self.conv(x_dict, edge_index_dict, edge_attr_dict)["shop"].relu())

    model = Model()
    model(data.x_dict, data.edge_index_dict, data.edge_attr_dict)
    by_hand = lambda model, graph: model(graph.x_dict, graph.edge_index_dict, graph.edge_attr_dict)  # noqa: E731
    agrees(model, "shops", by_hand, given=data)


def test_fields_of_the_users_own_and_of_one_direction_only() -> None:
    torch.manual_seed(0)
    there, back, head = GCNConv(4, 8), GCNConv(4, 8), nn.Linear(8, 2)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.there, self.back, self.head = there, back, head

        def forward(self, data: HeteroData) -> Tensor:
            cites, cited = data["paper", "cites", "paper"], data["paper", "rev_cites", "paper"]
            age = cited.strength * (2020 - cited.year) / 10
            x = data["paper"].x
            return self.head(self.there(x, cites.edge_index, cites.strength) + self.back(x, cited.edge_index, age))

    data = citations(first=1990)
    made = DiGNNExplainer(Model(), data, "paper").check()
    batch, own = made.real.compared()
    with torch.no_grad():
        expected = torch.cat([made.adapter.model(graph).softmax(1) for graph in own])
    assert torch.allclose(made.adapter.score(batch).probability.float(), expected, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"type_names": ["C", "N", "O"]}], ids=["one type", "types"])
def test_graph_classifiers_with_bonds(options: dict[str, Any]) -> None:
    torch.manual_seed(0)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.head = GINEConv(nn.Linear(3, 8), edge_dim=3), nn.Linear(8, 2)

        def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
            return self.head(global_add_pool(self.layer(x, edge_index, edge_attr).relu(), batch))

    graphs = bonded()
    by_hand = lambda model, graph: model(graph.x, graph.edge_index, graph.edge_attr, graph.batch)  # noqa: E731
    agrees(Model(), "molecules", by_hand, given=graphs, schema=infer_schema(graphs, **options))


def test_whole_numbers_of_edges_that_are_looked_up() -> None:
    torch.manual_seed(0)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.layer, self.head = (
                nn.Embedding(4, 5),
                GINEConv(nn.Linear(6, 8), edge_dim=5),
                nn.Linear(8, 3),
            )

        def forward(self, x: Tensor, edge_index: Tensor, kind: Tensor) -> Tensor:
            return self.head(self.layer(x, edge_index, self.table(kind)).relu())

    data = people()
    data.kind = torch.randint(4, (data.num_edges,), generator=rng())
    agrees(Model(), "people", lambda model, graph: model(graph.x, graph.edge_index, graph.kind), given=data)


def test_weights_given_beside_a_batch_do_not_touch_the_datas_own() -> None:
    torch.manual_seed(0)
    made = DiGNNExplainer(ByWeight(GraphConv(6, 8)), friends(), "person").check()
    batch = made.real.trial()
    plain = made.adapter.score(batch).logits
    same = made.adapter.score_weighted(batch, torch.ones(batch.edge.shape)).logits
    none = made.adapter.score_weighted(batch, torch.zeros(batch.edge.shape)).logits
    assert torch.allclose(plain, same.detach(), atol=1e-5)
    assert not torch.allclose(plain, none.detach(), atol=1e-3)


def test_weights_in_another_number_than_edges_are_refused() -> None:
    data: Data = friends()
    data.edge_weight = data.edge_weight[1:]
    with pytest.raises(SchemaError, match="edge_weight has .* rows for .* edges; give one for each"):
        DiGNNExplainer(ByWeight(GCNConv(6, 8)), data).check()


def test_parallel_edges_with_weights_of_their_own_are_refused_where_they_matter() -> None:
    data = friends()
    data.edge_index = torch.cat([data.edge_index, data.edge_index[:, ::5]], dim=1)
    data.edge_weight = torch.cat([data.edge_weight, data.edge_weight[::5]])
    data.edge_attr = torch.cat([data.edge_attr, data.edge_attr[::5]])
    torch.manual_seed(0)
    with pytest.raises(ModelMismatchError, match="goes by parallel edges"):
        DiGNNExplainer(ByWeight(GraphConv(6, 8)), data).check()


def test_missing_values_of_edges_are_named_where_the_model_answers_nan() -> None:
    data = friends()
    data.edge_weight[data.edge_index.sum(0) % 3 == 0] = torch.nan  # in both directions
    torch.manual_seed(0)
    message = "NaN on the data's own graphs, where 'edge_weight' of 'node -to- node' misses values; fill them in"
    with pytest.raises(ModelMismatchError, match=message):
        DiGNNExplainer(ByWeight(GraphConv(6, 8)), data).check()
