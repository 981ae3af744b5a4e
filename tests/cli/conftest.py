"""A user's folder: graphs in data.pt, a model in gnn.py."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data, HeteroData

GNN = """
import torch
from torch import nn
from torch_geometric.nn import GCNConv, global_add_pool


class GNN(nn.Module):
    def __init__(self, classes=2):
        super().__init__()
        self.conv, self.head = GCNConv(1, 8), nn.Linear(8, classes)

    def forward(self, x, edge_index, batch):
        return self.head(global_add_pool(self.conv(x, edge_index).relu(), batch))


def load():
    torch.manual_seed(0)
    return GNN()
"""


def small_graphs(count: int = 40) -> list[Data]:
    """Paths (class 0) and rings (class 1) of 5 to 8 nodes without features."""
    graphs = []
    for number in range(count):
        size, label = 5 + number % 4, number // 4 % 2
        nodes = torch.arange(size - 1 + label)
        pairs = torch.stack([nodes, (nodes + 1) % size])
        edges = torch.cat([pairs, pairs.flip(0)], dim=1)
        graphs.append(Data(x=torch.ones(size, 1), edge_index=edges, y=torch.tensor([label])))
    return graphs


def bibliography(authors: int = 40) -> HeteroData:
    """Two papers by each author; the author's class decides the columns of x."""
    data = HeteroData()
    label = torch.arange(authors) % 2
    data["author"].x = torch.eye(2)[label].repeat(1, 2)
    data["author"].y = label
    data["paper"].x = torch.eye(2)[label].repeat_interleave(2, 0)
    who = torch.arange(authors).repeat_interleave(2)
    pairs = torch.stack(
        [torch.cat([who, who]), torch.cat([torch.arange(2 * authors), torch.arange(2 * authors).roll(2)])]
    )
    data["author", "writes", "paper"].edge_index = pairs
    data["paper", "by", "author"].edge_index = pairs.flip(0)
    return data


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data.pt, authors.pt and gnn.py, not to be changed."""
    folder = tmp_path_factory.mktemp("furnished")
    torch.save(small_graphs(), folder / "data.pt")
    torch.save(bibliography(), folder / "authors.pt")
    (folder / "gnn.py").write_text(GNN)
    return folder


@pytest.fixture
def home(furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user is in a folder with data.pt, authors.pt and gnn.py."""
    shutil.copytree(furnished, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path
