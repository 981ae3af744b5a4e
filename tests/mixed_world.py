"""A small world whose tables mix everything: flags, counts, one-hot groups, codes, ids, dates, missing values."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv

from dignn.graphs.inference import infer_schema
from dignn.graphs.schema import Schema

# Columns of a shop, which is of class 1 where it is dear.
SHOP = ("open", "visits", "red", "green", "blue", "town", "price", "founded", "bias", "rating")
KINDS = {"shop": {"town": "categorical", "founded": "date:days:1970-01-01"}, "item": {"code": "identity"}}
NAMES = {"shop": list(SHOP), "item": ["code", "weight"]}
SHOPS, ITEMS = 120, 60


def shop_rows(count: int, label: Tensor, generator: torch.Generator) -> Tensor:
    """Rows of shops of these classes, 0 and 1.  (count, 10)"""
    uniform = torch.rand(count, 10, generator=generator)
    colour = torch.nn.functional.one_hot((uniform[:, 0] * 3).long(), 3)
    price = torch.where(uniform[:, 1] < 0.1 + 0.6 * label, torch.nan, 5 + 3 * label + uniform[:, 2])
    rating = torch.where(uniform[:, 3] < 0.1, torch.nan, (uniform[:, 4] * 5).floor())
    columns = [(uniform[:, 5] < 0.1 + 0.8 * label).float(), (uniform[:, 6] ** 3 * 30).floor(), *colour.float().T]
    columns += [(uniform[:, 7] * 4).floor(), price, (uniform[:, 8] * 9000).floor(), torch.ones(count), rating]
    return torch.stack(columns, dim=1)


def mixed_data() -> HeteroData:
    """Shops that sell items; a single owner owns all shops."""
    generator = torch.Generator().manual_seed(0)
    label = torch.arange(SHOPS) % 2
    data = HeteroData()
    data["shop"].x = shop_rows(SHOPS, label, generator)
    data["shop"].y = label
    data["item"].x = torch.stack([torch.arange(ITEMS).float() * 11, torch.randn(ITEMS, generator=generator)], dim=1)
    data["owner"].x = torch.tensor([[3.0, 0.5]])
    shop = torch.arange(SHOPS).repeat_interleave(3)
    item = (7 * shop + 13 * torch.arange(3).repeat(SHOPS)) % ITEMS
    data["shop", "sells", "item"].edge_index = torch.stack([shop, item])
    data["item", "rev_sells", "shop"].edge_index = torch.stack([item, shop])
    owned = torch.stack([torch.zeros(SHOPS, dtype=torch.long), torch.arange(SHOPS)])
    data["owner", "owns", "shop"].edge_index = owned
    data["shop", "rev_owns", "owner"].edge_index = owned.flip(0)
    return data


def mixed_schema() -> Schema:
    """The schema of that world, with what cannot be guessed."""
    return infer_schema(mixed_data(), "shop", kinds=KINDS, names=NAMES, classes=["cheap", "dear"])


class MixedModel(nn.Module):
    """Takes missing values as 0 and a flag, and knows dear shops by their price."""

    def __init__(self, *, fills: bool = True) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fills = fills
        edges = mixed_data().edge_types
        sizes = {"shop": 20 if fills else 10, "item": 4 if fills else 2, "owner": 4 if fills else 2}
        self.convolution = HeteroConv({edge: SAGEConv((sizes[edge[0]], sizes[edge[2]]), 8) for edge in edges})
        self.head = nn.Linear(8 + sizes["shop"], 2)

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[tuple[str, str, str], Tensor]) -> Tensor:
        if self.fills:
            x_dict = {
                name: torch.cat([x.nan_to_num(0.0) / (1 + x.nan_to_num(0.0).abs()), x.isnan().float()], dim=1)
                for name, x in x_dict.items()
            }
        found = self.convolution(x_dict, edge_index_dict)
        return self.head(torch.cat([found["shop"], x_dict["shop"]], dim=1))
