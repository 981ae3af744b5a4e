"""Data and models of every shape that users have, each with the call that its user would write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.nn import GCNConv
from torch_geometric.transforms import ToUndirected
from torch_geometric.utils import to_undirected

from dignn import DiGNNExplainer
from dignn.explainers.methods.dignnexplainer.settings import PRESETS

ByHand = Callable[[Any, Any], Any]


def people(seed: int = 0, nodes: int = 90, classes: int = 3, columns: int = 6) -> Data:
    """A homogeneous graph whose nodes are classified."""
    rng = torch.Generator().manual_seed(seed)
    label = torch.arange(nodes) % classes
    near = torch.rand(nodes, nodes, generator=rng) < torch.where(label[:, None] == label[None, :], 0.1, 0.02)
    chain = torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])
    edges = to_undirected(torch.cat([near.triu(1).nonzero().T, chain], dim=1))
    x = (torch.rand(nodes, columns, generator=rng) < 0.4).float()
    return Data(x=x, edge_index=edges, y=label)


def shops(seed: int = 0, number: int = 60) -> HeteroData:
    """Shops, which are classified, and products."""
    rng = torch.Generator().manual_seed(seed)
    data = HeteroData()
    data["shop"].x = (torch.rand(number, 5, generator=rng) < 0.4).float()
    data["shop"].y = torch.arange(number) % 2
    data["product"].x = torch.rand(2 * number, 3, generator=rng)
    every = torch.arange(2 * number)
    data["shop", "sells", "product"].edge_index = torch.stack([every % number, every])
    data["product", "like", "product"].edge_index = torch.stack([every, every.roll(3)])
    return ToUndirected()(data)


def molecules(seed: int = 0, number: int = 40) -> list[Data]:
    """Rings and chains."""
    rng = torch.Generator().manual_seed(seed)
    listed = []
    for place in range(number):
        size = int(torch.randint(5, 9, (1,), generator=rng))
        chain = torch.stack([torch.arange(size - 1), torch.arange(1, size)])
        closing = torch.tensor([[0], [size - 1]]) if place % 2 else torch.empty(2, 0, dtype=torch.long)
        atoms = F.one_hot(torch.randint(3, (size,), generator=rng), 3).float()
        edges = to_undirected(torch.cat([chain, closing], dim=1))
        listed.append(Data(x=atoms, edge_index=edges, y=torch.tensor([place % 2])))
    return listed


class NodeModel(nn.Module):
    """Any layer, and a linear head on every node."""

    def __init__(self, layer: nn.Module, width: int, classes: int = 3) -> None:
        super().__init__()
        self.layer, self.head = layer, nn.Linear(width, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.head(self.layer(x, edge_index).relu())


class GraphModel(nn.Module):
    """Any layer, any pooling, and a linear head on every graph."""

    def __init__(self, layer: nn.Module, pool: Callable[..., Tensor], width: int, classes: int = 2) -> None:
        super().__init__()
        self.layer, self.pool, self.head = layer, pool, nn.Linear(width, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(self.pool(self.layer(x, edge_index).relu(), batch))


class Base(nn.Module):
    def __init__(self, columns: int = 6, classes: int = 3) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.conv, self.head = GCNConv(columns, 8), nn.Linear(8, classes)

    def scores(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.head(self.conv(x, edge_index).relu())

    def forward(self, x: Tensor, edge_index: Tensor) -> Any:
        return self.scores(x, edge_index)


DATA: dict[str, Any] = {"people": people(), "shops": shops(), "molecules": molecules()}


def by_parts(model: Any, graph: Any) -> Tensor:
    return model(graph.x, graph.edge_index)


def by_batch(model: Any, graph: Any) -> Tensor:
    return model(graph.x, graph.edge_index, graph.batch)


def by_dictionaries(model: Any, graph: Any) -> Tensor:
    return model(graph.x_dict, graph.edge_index_dict)


def whole(model: Any, graph: Any) -> Tensor:
    return model(graph)


def agrees(model: Any, data: str, by_hand: ByHand, **options: Any) -> DiGNNExplainer:
    """Checks a model, and that its probabilities are those of the model called by hand on the user's own graphs."""
    given = options.pop("given", DATA[data])
    target = "shop" if data == "shops" else None
    with mock.patch("dignn.sampling.division.COMPARED_GRAPHS", 8):  # of the smallest and the largest size
        made = DiGNNExplainer(model, given, target, config=PRESETS["smoke"], **options).check()
        batch, own = made.real.compared()
    found = made.adapter.score(batch).probability
    by_user = model.eval() if isinstance(model, nn.Module) else model
    with torch.no_grad():
        loaded = [Batch.from_data_list([graph]) if data == "molecules" else graph for graph in own]
        expected = torch.cat([torch.as_tensor(by_hand(by_user, graph)).double().softmax(1) for graph in loaded])
    assert torch.allclose(found, expected, atol=made.adapter.tolerance * 10)
    return made
