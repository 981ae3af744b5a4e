"""How hard the planted set is: neither half of the design suffices, both together do, also on small subgraphs.

The quick tests use one seed. The measurement that ``docs/datasets.md`` cites takes some minutes:

    python -m pytest tests/zoo/datasets/test_planted_difficulty.py -m slow -s
"""

from __future__ import annotations

import copy
import itertools

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Batch, HeteroData
from torch_geometric.utils import scatter

from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load

SEEDS = (0, 1, 2)
SIZES = range(10, 16)


# -- forest fire, in few words ------------------------------------------------------------------------


def whole_graph(data: HeteroData) -> nx.Graph:
    """All relations as one undirected graph; nodes are (type, number)."""
    graph = nx.Graph()
    for source, name, target in data.edge_types:
        if not name.startswith("rev_"):
            for u, v in data[source, name, target].edge_index.T.tolist():
                graph.add_edge((source, u), (target, v))
    return graph


def burn(neighbours: dict, start: tuple, size: int, rng: np.random.Generator) -> list[tuple]:
    """A forest fire of exactly ``size`` nodes from ``start``: each burning node sets fire to Geometric(0.4) others."""
    burned, queue = {start: None}, [start]
    while len(burned) < size:
        if not queue:
            queue = [node for node in burned if any(other not in burned for other in neighbours[node])]
            queue = [queue[rng.integers(len(queue))]]
        node = queue.pop(0)
        fresh = [other for other in neighbours[node] if other not in burned]
        count = min(rng.geometric(0.4), len(fresh), size - len(burned))
        for choice in rng.permutation(len(fresh))[:count]:
            burned[fresh[choice]] = None
            queue.append(fresh[choice])
    return list(burned)


def fires(dataset: Dataset, part: str, count: int, seed: int) -> list[list[tuple]]:
    rng = np.random.default_rng(seed)
    graph = whole_graph(dataset.data)
    neighbours = {node: list(graph[node]) for node in graph}
    starts = rng.permutation(np.resize(dataset.splits[part].numpy(), count))
    return [burn(neighbours, ("author", int(start)), int(rng.choice(SIZES)), rng) for start in starts]


def induced(dataset: Dataset, nodes: list[tuple]) -> HeteroData:
    """The subgraph on ``nodes``; its first author is the start."""
    data = dataset.data
    chosen = {kind: torch.tensor([n for k, n in nodes if k == kind], dtype=torch.long) for kind in data.node_types}
    small = HeteroData()
    place = {}
    for kind, index in chosen.items():
        small[kind].x = data[kind].x[index]
        place[kind] = torch.full((data[kind].num_nodes,), -1)
        place[kind][index] = torch.arange(len(index))
    small["author"].y = data["author"].y[chosen["author"]]
    small["author"].start = torch.arange(len(chosen["author"])) == 0
    small["author"].number = chosen["author"]
    for source, name, target in data.edge_types:
        u, v = data[source, name, target].edge_index
        u, v = place[source][u], place[target][v]
        keep = (u >= 0) & (v >= 0)
        small[source, name, target].edge_index = torch.stack([u[keep], v[keep]])
    return small


def shows_motif(dataset: Dataset, nodes: list[tuple]) -> bool:
    """Whether the start author's motif lies wholly in the subgraph (found in the graph, not remembered)."""
    start = nodes[0][1]
    papers = {n for kind, n in nodes if kind == "paper"}
    written = [(a, p) for a, p in dataset.data["author", "writes", "paper"].edge_index.T.tolist() if p in papers]
    mine = {p for a, p in written if a == start}
    if int(dataset.data["author"].y[start]) % 2 == 0:
        cites = map(tuple, dataset.data["paper", "cites", "paper"].edge_index.T.tolist())
        return any(p in mine and q in mine for p, q in cites)
    others = {n for kind, n in nodes if kind == "author"} - {start}
    return any(len({p for a, p in written if a == other} & mine) >= 2 for other in others)


# -- a small heterogeneous GNN ------------------------------------------------------------------------


class SmallGNN(nn.Module):
    """Layers of [self, mean, sum] per edge type, concatenated; ``blind`` hides all features."""

    def __init__(self, data: HeteroData, width: int = 32, layers: int = 3, blind: bool = False) -> None:
        super().__init__()
        self.blind, self.edge_types = blind, data.edge_types
        self.enter = nn.ModuleDict({k: nn.Linear(1 if blind else data[k].x.size(1), width) for k in data.node_types})
        self.own = nn.ModuleList(
            nn.ModuleDict({k: nn.Linear(width, width) for k in data.node_types}) for _ in range(layers)
        )
        self.from_others = nn.ModuleList(
            nn.ModuleDict({"-".join(e): nn.Linear(2 * width, width, bias=False) for e in data.edge_types})
            for _ in range(layers)
        )
        self.norm = nn.ModuleList(
            nn.ModuleDict({k: nn.LayerNorm(width) for k in data.node_types}) for _ in range(layers)
        )
        self.head = nn.Linear((layers + 1) * width, 4)

    def forward(self, data: HeteroData) -> Tensor:
        x = {k: data[k].x[:, :1] * 0 + 1 if self.blind else data[k].x for k in data.node_types}
        h = {k: functional.relu(self.enter[k](value)) for k, value in x.items()}
        seen = [h["author"]]
        for own, others, norm in zip(self.own, self.from_others, self.norm, strict=True):
            new = {k: own[k](value) for k, value in h.items()}
            for edge_type in self.edge_types:
                u, v = data[edge_type].edge_index
                size = len(h[edge_type[2]])
                sent = h[edge_type[0]][u]
                both = [scatter(sent, v, dim_size=size, reduce=reduce) for reduce in ("mean", "sum")]
                new[edge_type[2]] = new[edge_type[2]] + others["-".join(edge_type)](torch.cat(both, 1))
            h = {k: functional.relu(norm[k](value)) for k, value in new.items()}
            seen.append(h["author"])
        return self.head(torch.cat(seen, 1))


def train(dataset: Dataset, seed: int, *, blind: bool, subgraphs: bool, epochs: int) -> tuple[float, float | None]:
    """Test accuracy on the full graph and on start authors of held-out subgraphs; best validation epoch of both."""
    torch.manual_seed(seed)
    data, splits = dataset.data, dataset.splits
    model = SmallGNN(data, blind=blind)
    in_train = torch.zeros(len(data["author"].y), dtype=torch.bool)
    in_train[splits["train"]] = True
    pool: list[Batch] = []
    held_out: dict[str, Batch] = {}
    if subgraphs:
        small = [induced(dataset, nodes) for nodes in fires(dataset, "train", 2048, seed)]
        pool = [Batch.from_data_list(small[i : i + 128]) for i in range(0, len(small), 128)]
        for part in ("val", "test"):
            held_out[part] = Batch.from_data_list(
                [induced(dataset, nodes) for nodes in fires(dataset, part, 640, seed + 1000)]
            )
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-4)
    batches = itertools.cycle(pool) if pool else None

    @torch.no_grad()
    def accuracy(part: str) -> tuple[float, float | None]:
        full = (model(data).argmax(1) == data["author"].y)[splits[part]].float().mean().item()
        if part not in held_out:
            return full, None
        batch = held_out[part]
        right = (model(batch).argmax(1) == batch["author"].y)[batch["author"].start]
        return full, right.float().mean().item()

    best, weights = -1.0, copy.deepcopy(model.state_dict())
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(data)[splits["train"]], data["author"].y[splits["train"]])
        if batches is not None:
            batch = next(batches)
            known = in_train[batch["author"].number]
            loss = loss + functional.cross_entropy(model(batch)[known], batch["author"].y[known])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        if epoch % 5 == 4:
            score = sum(value for value in accuracy("val") if value is not None)
            if score > best:
                best, weights = score, copy.deepcopy(model.state_dict())
    model.load_state_dict(weights)
    return accuracy("test")


def features_alone(dataset: Dataset) -> dict[str, float]:
    """Test accuracy from the author's own keywords."""
    x, y = dataset.data["author"].x.numpy(), dataset.data["author"].y.numpy()
    fit, test = dataset.splits["train"].numpy(), dataset.splits["test"].numpy()
    models = {
        "logistic regression": LogisticRegression(max_iter=1000),
        "gradient boosting": HistGradientBoostingClassifier(random_state=0),
    }
    return {name: float(model.fit(x[fit], y[fit]).score(x[test], y[test])) for name, model in models.items()}


# -- tests --------------------------------------------------------------------------------------------


def test_keywords_alone_do_not_suffice() -> None:
    scores = features_alone(load("planted", seed=0))
    assert max(scores.values()) <= 0.75, scores


def test_structure_alone_does_not_suffice() -> None:
    full, _ = train(load("planted", seed=0), 0, blind=True, subgraphs=False, epochs=60)
    assert full <= 0.75


def test_small_subgraphs_show_the_motif() -> None:
    dataset = load("planted", seed=0)
    shown = [shows_motif(dataset, nodes) for nodes in fires(dataset, "test", 480, seed=0)]
    assert np.mean(shown) >= 0.75


@pytest.mark.slow
def test_difficulty_over_three_seeds() -> None:
    rows = []
    for seed in SEEDS:
        dataset = load("planted", seed=seed)
        row = features_alone(dataset)
        row["structure alone"] = train(dataset, seed, blind=True, subgraphs=False, epochs=200)[0]
        row["both"] = train(dataset, seed, blind=False, subgraphs=False, epochs=200)[0]
        full, start = train(dataset, seed, blind=False, subgraphs=True, epochs=300)
        row["both, trained on subgraphs too"] = full
        row["its subgraphs, start author"] = start or 0.0
        row["motif shown"] = float(
            np.mean([shows_motif(dataset, nodes) for nodes in fires(dataset, "test", 960, seed)])
        )
        rows.append(row)
    mean = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    for name, value in mean.items():
        print(f"{name:32} {value:.3f}  ", *(f"{row[name]:.3f}" for row in rows))  # noqa: T201
    assert max(mean["logistic regression"], mean["gradient boosting"], mean["structure alone"]) <= 0.75
    assert mean["both"] >= 0.95
    assert mean["both, trained on subgraphs too"] >= 0.95
    assert mean["its subgraphs, start author"] >= 0.87
    assert mean["motif shown"] >= 0.75
