"""Data whose edges carry something, in every form that users have, and what each edge carries in plain loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData
from torch_geometric.transforms import ToUndirected
from torch_geometric.utils import to_undirected

from any_models import molecules, people, shops

NOT_CARRIED = ("edge_index", "adj_t", "x", "y", "classified", "batch", "ptr")


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def friends(*, one_row: bool = True, seed: int = 0) -> Data:
    """People whose friendships have a weight and two attributes, the same or others in the two directions."""
    data = people(seed)
    if one_row:
        source, target = data.edge_index
        once = data.edge_index[:, source < target]
        carried = torch.rand(once.size(1), 3, generator=rng(seed))
        data.edge_index, carried = to_undirected(once, carried)
    else:
        carried = torch.rand(data.num_edges, 3, generator=rng(seed))
    data.edge_weight, data.edge_attr = carried[:, 0], carried[:, 1:]
    return data


def priced_shops(*, one_row: bool = True, seed: int = 0) -> HeteroData:
    """Shops that sell products at a price, products that are like others; the same row both ways, or others."""
    data = shops(seed)
    if not one_row:
        for number, store in enumerate(data.edge_stores):
            store.edge_attr = torch.rand(store.num_edges, 2, generator=rng(seed + number))
        return data
    forward = HeteroData()
    for name in data.node_types:
        forward[name].x = data[name].x
    forward["shop"].y = data["shop"].y
    every = torch.arange(len(data["product"].x))
    forward["shop", "sells", "product"].edge_index = data["shop", "sells", "product"].edge_index
    forward["product", "like", "product"].edge_index = torch.stack([every, every.roll(3)])
    for number, store in enumerate(forward.edge_stores):
        store.edge_attr = torch.rand(store.num_edges, 2, generator=rng(seed + number))
    return ToUndirected()(forward)


def citations(seed: int = 0, first: int = 0) -> HeteroData:
    """Papers cite papers, one way: the edge type back carries other rows, and a year that the way there has not."""
    data = HeteroData()
    data["paper"].x = (torch.rand(60, 4, generator=rng(seed)) < 0.5).float()
    data["paper"].y = torch.arange(60) % 2
    every = torch.arange(60)
    cites = torch.cat([torch.stack([every, every.roll(1)]), torch.stack([every, every.roll(7)])], dim=1)
    data["paper", "cites", "paper"].edge_index = cites
    data["paper", "cites", "paper"].strength = torch.rand(120, generator=rng(seed + 1))
    order = torch.randperm(120, generator=rng(seed + 2))
    data["paper", "rev_cites", "paper"].edge_index = cites.flip(0)[:, order]
    data["paper", "rev_cites", "paper"].strength = torch.rand(120, generator=rng(seed + 3))
    data["paper", "rev_cites", "paper"].year = first + torch.randint(30, (120,), generator=rng(seed + 4))
    return data


def bonded(seed: int = 0, number: int = 40) -> list[Data]:
    """Molecules whose bonds are of three kinds, one-hot, the same both ways."""
    graphs = molecules(seed, number)
    for graph in graphs:
        kind = graph.edge_index.sum(0) % 3
        graph.edge_attr = torch.nn.functional.one_hot(kind, 3).float()
    return graphs


def weighted_matrix(seed: int = 0) -> Data:
    """People whose friendships are a sparse matrix with weights."""
    data = people(seed)
    weight = 0.1 + torch.rand(data.num_edges, generator=rng(seed))
    data.adj_t = torch.sparse_coo_tensor(data.edge_index.flip(0), weight, (90, 90)).coalesce().to_sparse_csr()
    del data.edge_index
    return data


EVERY: dict[str, Callable[[], Any]] = {
    "one row": friends,
    "a row each way": lambda: friends(one_row=False),
    "two types, one row": priced_shops,
    "two types, other rows back": lambda: priced_shops(one_row=False),
    "directed, more fields back": citations,
    "graphs": bonded,
    "a matrix": weighted_matrix,
}


def carried(graph: Data | HeteroData) -> dict[tuple[Any, int, int], dict[str, list[float]]]:
    """By edge type, source and target, what an edge carries; of parallel edges the first."""
    found: dict[tuple[Any, int, int], dict[str, list[float]]] = {}
    for store in graph.edge_stores:
        fields = {
            name: value
            for name, value in store.items()
            if name not in (*NOT_CARRIED, "x", "y", "classified", "batch", "ptr")
        }
        fields = {name: value for name, value in fields.items() if isinstance(value, Tensor)}
        if "adj_t" in store:
            matrix = store.adj_t.to_sparse_coo().coalesce()
            index, fields["adj_t"] = matrix.indices().flip(0), matrix.values()
        else:
            index = store.edge_index
        for place, (u, v) in enumerate(index.T.tolist()):
            row = {name: value[place].reshape(-1).tolist() for name, value in fields.items() if len(value) > place}
            found.setdefault((store._key, u, v), row)
    return found
