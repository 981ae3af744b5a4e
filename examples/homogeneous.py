"""Explain a homogeneous node classifier: people and their friends, a GCN.

    python examples/homogeneous.py

The data are made here: members of a chess, a football and a music club, most friends within the club.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.utils import to_undirected

from dignn import DiGNNExplainer, infer_schema

FOLDER = Path("runs/examples/homogeneous")
CLASSES = ("chess", "football", "music")
INTERESTS = ("openings", "puzzles", "history", "running", "travel", "betting", "concerts", "dancing", "poetry")
NAMES = {"person": INTERESTS}
PEOPLE = 400


def make_data(seed: int = 0) -> Data:
    """400 people with nine interests each (yes or no) and about four friends."""
    random = torch.Generator().manual_seed(seed)
    club = torch.randint(len(CLASSES), (PEOPLE,), generator=random)
    same = club[:, None] == club[None, :]
    friends = torch.rand(PEOPLE, PEOPLE, generator=random) < torch.where(same, 0.03, 0.002)
    own = club[:, None] == torch.arange(len(INTERESTS))[None, :] // 3
    x = torch.bernoulli(torch.where(own, 0.6, 0.1), generator=random)
    edge_index = to_undirected(friends.triu(1).nonzero().T)
    return Data(x=x, edge_index=edge_index, y=club, train_mask=torch.rand(PEOPLE, generator=random) < 0.7)


class GCN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(len(INTERESTS), 32), GCNConv(32, 32)
        self.head = nn.Linear(32, len(CLASSES))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        hidden = self.first(x, edge_index).relu()
        return self.head(self.second(hidden, edge_index).relu())


def train(data: Data, steps: int = 100) -> nn.Module:
    torch.manual_seed(0)
    model = GCN()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        scores = model(data.x, data.edge_index)
        F.cross_entropy(scores[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
    correct = scores.argmax(1) == data.y
    print(f"Accuracy on people it was not trained on: {correct[~data.train_mask].float().mean():.3f}")
    return model


def load() -> nn.Module:
    """The trained model, for ``dignn explain``."""
    model = GCN()
    model.load_state_dict(torch.load(FOLDER / "weights.pt", weights_only=True))
    return model


def main(preset: str = "fast") -> None:
    data = make_data()
    model = train(data)

    # From Python. Nodes of a Data are of one type; target= names it.
    schema = infer_schema(data, "person", classes=CLASSES, names=NAMES)
    explainer = DiGNNExplainer(model, data, schema=schema, config=preset, seed=0, folder=FOLDER / "run")
    explanations = explainer.fit().explain(top_k=3)
    for name, (best, *_) in explanations.items():
        interests = [interest for interest, _ in best.top_features(best.node)]
        print(f"{name}: {best.score:.4f}, {best.composition()}; the person's interests: {', '.join(interests)}")
    print(f"Report: {FOLDER / 'run' / 'report.html'}")

    # For the command line, see examples/README.md.
    torch.save(data, FOLDER / "data.pt")
    torch.save(model.state_dict(), FOLDER / "weights.pt")
    (FOLDER / "names.json").write_text(json.dumps(NAMES))


if __name__ == "__main__":
    main(*sys.argv[1:])
