"""Heterogeneous graphs of any size, drawn with NumPy, and a small model that learned from one of the same kind."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv

# What a paper is joined to, on average: other kinds of nodes, and papers that it cites.
PER_PAPER = {"author": 3, "term": 6, "venue": 1}
CITED = 1
# Papers for each node of another kind.
PAPERS_FOR_ONE = {"author": 2, "term": 20, "venue": 500}
WORDS, MEASURES, OWN_WORDS = 32, 16, 0.125
# A node joins its own class so often; otherwise it joins anything.
LOYALTY = 0.8
HIDDEN, EPOCHS, SMALL = 32, 30, 60_000


def scale_graph(edges: int, classes: int, types: int, seed: int = 0) -> HeteroData:
    """Authors, papers, terms, venues and, where more types are wanted, tags of several kinds.

    Every node has a class, which most of its neighbours share, and degrees have a heavy tail. Features go by the class:
    binary ones of papers, continuous ones of authors and of every other kind of tags; the rest has a constant column.

    Args:
        edges: how many there are, about; both directions of each are stored.
        classes: of authors.
        types: of nodes, at least 4.
        seed: of everything that is drawn.
    """
    rng = np.random.default_rng(seed)
    tags = [f"tag {number}" for number in range(types - 4)]
    per_paper = PER_PAPER | dict.fromkeys(tags, 1)
    papers = max(2 * classes, edges // (CITED + sum(per_paper.values())))
    count = {"paper": papers} | {name: max(classes, papers // PAPERS_FOR_ONE.get(name, 100)) for name in per_paper}
    kind = {name: rng.integers(0, classes, number) for name, number in count.items()}
    data = HeteroData()
    measured = ["author", *tags[::2]]
    for name, own in kind.items():
        constant = torch.ones(count[name], 1)
        data[name].x = _words(own, rng) if name == "paper" else _measures(own, rng) if name in measured else constant
    data["author"].y = torch.from_numpy(kind["author"])
    for name, mean in per_paper.items():
        paper, other = _joined(kind["paper"], kind[name], mean, classes, rng)
        _store(data, "paper", "has", name, paper, other)
    _store(data, "paper", "cites", "paper", *_joined(kind["paper"], kind["paper"], CITED, classes, rng))
    return data


def _joined(
    kind: np.ndarray, others: np.ndarray, mean: int, classes: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of edges, each once: ``mean`` for each node, mostly to popular nodes of its own class."""
    of_class = np.argsort(others, kind="stable")
    number = np.bincount(others, minlength=classes)
    first = np.cumsum(number) - number
    source = np.repeat(np.arange(len(kind)), mean)
    popular = rng.random(len(source)) ** 2
    loyal = (rng.random(len(source)) < LOYALTY) & (number[kind[source]] > 0)
    within = first[kind[source]] + (popular * number[kind[source]]).astype(np.int64)
    target = np.where(loyal, of_class[np.minimum(within, len(others) - 1)], (popular * len(others)).astype(np.int64))
    key = np.sort(source * len(others) + target)
    key = key[np.concatenate([[True], key[1:] != key[:-1]])]
    source, target = np.divmod(key, len(others))
    if others is kind:
        apart = source != target
        source, target = source[apart], target[apart]
    return source, target


def _store(data: HeteroData, source: str, name: str, target: str, one: np.ndarray, other: np.ndarray) -> None:
    """Edges in no order, and their reverse."""
    order = np.random.default_rng(len(one)).permutation(len(one))
    index = torch.from_numpy(np.stack([one[order], other[order]]))
    data[source, name, target].edge_index = index
    data[target, f"rev_{name}", source].edge_index = index.flip(0)


def _measures(kind: np.ndarray, rng: np.random.Generator) -> Tensor:
    """(n, 16) float32, around a centre of the class, which is the same in all graphs."""
    centre = np.random.default_rng(0).normal(size=(int(kind.max()) + 1, MEASURES)).astype(np.float32)
    found = rng.standard_normal((len(kind), MEASURES), dtype=np.float32)
    found += centre[kind]
    return torch.from_numpy(found)


def _words(kind: np.ndarray, rng: np.random.Generator) -> Tensor:
    """(n, 32) of 0 and 1: a few words are the class's own, the same in all graphs."""
    own = np.random.default_rng(0).random((int(kind.max()) + 1, WORDS)) < OWN_WORDS
    chance = np.where(own, 0.5, 0.05).astype(np.float32)
    return torch.from_numpy((rng.random((len(kind), WORDS), dtype=np.float32) < chance[kind]).astype(np.float32))


class ScaleGNN(nn.Module):
    """Two rounds of GraphSAGE over all edge types."""

    def __init__(self, data: HeteroData, classes: int) -> None:
        super().__init__()
        widths = {name: x.size(1) for name, x in data.x_dict.items()}
        self.enter = nn.ModuleDict({name: nn.Linear(width, HIDDEN) for name, width in widths.items()})
        layers = [{name: SAGEConv((HIDDEN, HIDDEN), HIDDEN) for name in data.edge_types} for _ in range(2)]
        self.layers = nn.ModuleList(HeteroConv(layer, aggr="mean") for layer in layers)
        self.leave = nn.Linear(HIDDEN, classes)

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[tuple[str, str, str], Tensor]) -> Tensor:
        """(authors, C) logits."""
        hidden = {name: self.enter[name](x).relu() for name, x in x_dict.items()}
        for layer in self.layers:
            hidden = {name: h.relu() for name, h in layer(hidden, edge_index_dict).items()}
        return self.leave(hidden["author"])


def scale_model(classes: int, types: int) -> ScaleGNN:
    """A model that learned from a small graph of the kind; it can be asked about any."""
    data = scale_graph(SMALL, classes, types, seed=1)
    torch.manual_seed(0)
    model = ScaleGNN(data, classes)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(EPOCHS):
        optimiser.zero_grad()
        loss = cross_entropy(model(data.x_dict, data.edge_index_dict), data["author"].y)
        loss.backward()
        optimiser.step()
    return model.eval()
