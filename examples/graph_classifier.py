"""Explain a graph classifier: toy molecules, a GIN.

    python examples/graph_classifier.py

The data are made here: every molecule is a chain of atoms with side branches; in half of them a ring is closed.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool
from torch_geometric.utils import to_undirected

from dignn import DiGNNExplainer, infer_schema

FOLDER = Path("runs/examples/graph_classifier")
CLASSES = ("chain", "ring")
ATOMS = ("C", "N", "O")
GRAPHS = 300


def make_data(seed: int = 0) -> list[Data]:
    """300 molecules of 8 to 12 atoms. The columns of x are the kinds of atoms, one-hot."""
    random = torch.Generator().manual_seed(seed)
    return [_molecule(number % 2, random) for number in range(GRAPHS)]


def _molecule(label: int, random: torch.Generator) -> Data:
    size = int(torch.randint(8, 13, (1,), generator=random))
    atoms = torch.multinomial(torch.tensor([0.7, 0.15, 0.15]), size, replacement=True, generator=random)
    bonds = [(atom, atom + 1) for atom in range(5)]
    if label == 1:
        bonds.append((0, 5))  # closes a ring of six
    bonds += [(int(torch.randint(atom, (1,), generator=random)), atom) for atom in range(6, size)]
    edge_index = to_undirected(torch.tensor(bonds).T)
    return Data(x=F.one_hot(atoms, len(ATOMS)).float(), edge_index=edge_index, y=torch.tensor([label]))


class GIN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        widths = (len(ATOMS), 32, 32, 32)
        self.layers = nn.ModuleList(
            GINConv(nn.Sequential(nn.Linear(one, other), nn.ReLU(), nn.Linear(other, other)))
            for one, other in pairwise(widths)
        )
        self.head = nn.Linear(32, len(CLASSES))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, edge_index).relu()
        return self.head(global_add_pool(x, batch))


def train(data: list[Data], epochs: int = 40) -> nn.Module:
    torch.manual_seed(0)
    model = GIN()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in range(epochs):
        for batch in DataLoader(data[:240], batch_size=60, shuffle=True):
            optimizer.zero_grad()
            F.cross_entropy(model(batch.x, batch.edge_index, batch.batch), batch.y).backward()
            optimizer.step()
    with torch.no_grad():
        test = next(iter(DataLoader(data[240:], batch_size=60)))
        correct = model(test.x, test.edge_index, test.batch).argmax(1) == test.y
    print(f"Accuracy on molecules it was not trained on: {correct.float().mean():.3f}")
    return model


def load() -> nn.Module:
    """The trained model, for ``dignn explain``."""
    model = GIN()
    model.load_state_dict(torch.load(FOLDER / "weights.pt", weights_only=True))
    return model


def main(preset: str = "fast") -> None:
    data = make_data()
    model = train(data)

    # From Python. A list of graphs is classified as graphs; type_names= says that x is a one-hot type.
    schema = infer_schema(data, classes=CLASSES, type_names=ATOMS)
    explainer = DiGNNExplainer(model, data, schema=schema, config=preset, seed=0, folder=FOLDER / "run")
    explanations = explainer.fit().explain(top_k=3)
    for name, (best, *_) in explanations.items():
        print(f"{name}: {best.score:.4f}, {best.composition()}, {len(best.edges())} bonds")
    print(f"Report: {FOLDER / 'run' / 'report.html'}")

    # For the command line, see examples/README.md.
    torch.save(data, FOLDER / "data.pt")
    torch.save(model.state_dict(), FOLDER / "weights.pt")


if __name__ == "__main__":
    main(*sys.argv[1:])
