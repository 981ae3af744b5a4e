"""Small untrained models that tests score graphs with."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, HeteroConv, Linear, SAGEConv, global_mean_pool

from dignn.graphs.schema import Schema


class TinyHetero(nn.Module):
    """One heterogeneous SAGE layer and a linear head on the target type."""

    def __init__(self, schema: Schema, width: int = 8, seed: int = 0) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.target = str(schema.target)
            self.project = nn.ModuleDict({name: Linear(schema.spec(name).width, width) for name in schema.node_types})
            self.conv = HeteroConv({kind: SAGEConv((width, width), width) for kind in schema.edge_types}, aggr="sum")
            self.head = Linear(width, schema.num_classes)

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict) -> Tensor:
        hidden = {name: self.project[name](x) for name, x in x_dict.items()}
        return self.head(self.conv(hidden, edge_index_dict)[self.target].relu())


class TinyGCN(nn.Module):
    """One GCN layer; graph scores by mean pooling where ``pool`` is set, else node scores."""

    def __init__(self, columns: int, classes: int, pool: bool, seed: int = 0) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.conv = GCNConv(columns, 8)
            self.head = nn.Linear(8, classes)
        self.pool = pool

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        hidden = self.conv(x, edge_index).relu()
        if self.pool:
            hidden = global_mean_pool(hidden, batch)
        return self.head(hidden)
