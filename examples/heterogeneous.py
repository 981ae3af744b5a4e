"""Explain a heterogeneous node classifier: authors, papers and venues, GraphSAGE by ``to_hetero``.

    python examples/heterogeneous.py

The data are made here: an author works on databases, networks or vision; keywords, papers and venues follow.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric import transforms
from torch_geometric.data import HeteroData
from torch_geometric.nn import SAGEConv, to_hetero

from dignn import DiGNNExplainer, infer_schema

FOLDER = Path("runs/examples/heterogeneous")
CLASSES = ("databases", "networks", "vision")
WORDS = (
    *("query", "index", "join", "transaction"),  # databases
    *("routing", "packet", "wireless", "protocol"),  # networks
    *("image", "pixel", "camera", "contour"),  # vision
    *("new", "method", "analysis", "system"),  # everybody's
)
VENUES = ("SIGMOD", "VLDB", "SIGCOMM", "INFOCOM", "CVPR", "ICCV")
NAMES = {"author": WORDS, "paper": WORDS, "venue": VENUES}
AUTHORS = 300


def make_data(seed: int = 0) -> HeteroData:
    """300 authors with keywords, about 750 papers with words, six venues."""
    random = torch.Generator().manual_seed(seed)
    topic = torch.randint(len(CLASSES), (AUTHORS,), generator=random)
    writes, papers, venues = [], [], []
    for author in range(AUTHORS):
        for _ in range(int(torch.randint(2, 4, (1,), generator=random))):
            same = (topic == topic[author]).nonzero()[:, 0]
            other = int(same[torch.randint(len(same), (1,), generator=random)])
            writes += [(who, len(papers)) for who in {author, other}]
            papers.append(int(topic[author]))
            strays = torch.rand(1, generator=random) < 0.1
            field = int(torch.randint(3, (1,), generator=random)) if strays else papers[-1]
            venues.append(2 * field + int(torch.randint(2, (1,), generator=random)))
    data = HeteroData()
    data["author"].x, data["author"].y = _words(topic, 0.5, random), topic
    data["paper"].x = _words(torch.tensor(papers), 0.4, random)
    data["venue"].x = torch.eye(len(VENUES))
    data["author", "writes", "paper"].edge_index = torch.tensor(writes).T
    data["paper", "in", "venue"].edge_index = torch.stack([torch.arange(len(papers)), torch.tensor(venues)])
    data["author"].train_mask = torch.rand(AUTHORS, generator=random) < 0.7
    return transforms.ToUndirected()(data)  # messages go both ways


def _words(topic: Tensor, own: float, random: torch.Generator) -> Tensor:
    """Which words are used: each of the own topic with probability ``own``, others seldom.  (n, words)"""
    chance = torch.full((len(topic), len(WORDS)), 0.04)
    chance[:, 12:] = 0.3
    for column in range(12):
        chance[topic == column // 4, column] = own
    return torch.bernoulli(chance, generator=random)


class SAGE(nn.Module):
    """Two layers; ``to_hetero`` gives each relation its own weights."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = SAGEConv((-1, -1), 32), SAGEConv((-1, -1), 32)
        self.head = nn.Linear(32, len(CLASSES))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        hidden = self.first(x, edge_index).relu()
        return self.head(self.second(hidden, edge_index).relu())


def build_model(data: HeteroData) -> nn.Module:
    model = to_hetero(SAGE(), data.metadata())
    with torch.no_grad():
        model(data.x_dict, data.edge_index_dict)  # the layers learn how wide their inputs are
    return model


def train(data: HeteroData, steps: int = 60) -> nn.Module:
    torch.manual_seed(0)
    model = build_model(data)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-3)
    author = data["author"]
    for _ in range(steps):
        optimizer.zero_grad()
        scores = model(data.x_dict, data.edge_index_dict)["author"]
        F.cross_entropy(scores[author.train_mask], author.y[author.train_mask]).backward()
        optimizer.step()
    correct = scores.argmax(1) == author.y
    print(f"Accuracy on authors it was not trained on: {correct[~author.train_mask].float().mean():.3f}")
    return model


def load(data: HeteroData) -> nn.Module:
    """The trained model, for ``dignn explain``: it asks for the data, because ``to_hetero`` needs its metadata."""
    model = build_model(data)
    model.load_state_dict(torch.load(FOLDER / "weights.pt", weights_only=True))
    return model


def main(preset: str = "fast") -> None:
    data = make_data()
    model = train(data)

    # From Python. The schema is read off the data; here it gets names for classes, words and venues.
    schema = infer_schema(data, "author", classes=CLASSES, names=NAMES)
    explainer = DiGNNExplainer(model, data, schema=schema, config=preset, seed=0, folder=FOLDER / "run")
    explanations = explainer.fit().explain(top_k=3)
    for name, (best, *_) in explanations.items():
        words = [word for word, _ in best.top_features(best.node)]
        print(f"{name}: {best.score:.4f}, {best.composition()}; the author's words: {', '.join(words)}")
    print(f"Report: {FOLDER / 'run' / 'report.html'}")

    # For the command line, see examples/README.md.
    torch.save(data, FOLDER / "data.pt")
    torch.save(model.state_dict(), FOLDER / "weights.pt")
    (FOLDER / "names.json").write_text(json.dumps(NAMES))


if __name__ == "__main__":
    main(*sys.argv[1:])
