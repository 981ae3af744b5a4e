"""A bibliography and a model whose log-odds are a sum that can be computed by hand."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation, Schema
from dignn.model.adapter import GNNAdapter
from strategies import batch_of

SCHEMA = Schema(
    node_types=("author", "paper", "term", "venue"),
    relations=(
        Relation("author", "writes", "paper", "rev_writes"),
        Relation("paper", "mentions", "term", "rev_mentions"),
        Relation("paper", "appears_in", "venue", "rev_appears_in"),
        Relation("paper", "cites", "paper", "rev_cites", directed=True),
    ),
    features=(
        FeatureSpec(FeatureKind.BINARY, 3, names=("mining", "query", "logic")),
        FeatureSpec(FeatureKind.COUNT, 2, levels=(4, 4)),
        FeatureSpec(FeatureKind.CONTINUOUS, 2),
        FeatureSpec(FeatureKind.IDENTITY, 3, names=("KDD", "VLDB", "<b>AAAI</b>")),
    ),
    classes=("other", "Data Mining"),
    target="author",
)
AUTHOR, PAPER = torch.tensor([2.0, 0.5, -1.0]), torch.tensor([0.75, -0.25])
TERM, VENUE = torch.tensor([1.0, -2.0]), torch.tensor([3.0, 0.0, -3.0])
EACH_PAPER, CITES = 0.125, 0.5


def model(data: HeteroData) -> Tensor:
    """Log-odds of the second class: own words, plus those of papers, and of the papers' terms and venues."""
    paper = data["paper"].x @ PAPER + EACH_PAPER
    for relation, rows, weight in (("rev_mentions", "term", TERM), ("rev_appears_in", "venue", VENUE)):
        source, target = data[rows, relation, "paper"].edge_index
        paper = paper.index_add(0, target, (data[rows].x @ weight)[source])
    _, cited = data["paper", "cites", "paper"].edge_index
    paper = paper.index_add(0, cited, torch.full((len(cited),), CITES))
    source, target = data["paper", "rev_writes", "author"].edge_index
    score = (data["author"].x @ AUTHOR).index_add(0, target, paper[source])
    return torch.stack([torch.zeros_like(score), score], dim=1)


def bibliography() -> GraphBatch:
    """Author 0 wrote papers 1 and 2; paper 1 cites 2, mentions term 3 and appears in venue 4; author 5 wrote 2."""
    edges = {(0, 1): 1, (0, 2): 1, (5, 2): 1, (1, 3): 2, (1, 4): 3, (1, 2): 4}
    graph = batch_of(SCHEMA, [0, 1, 1, 2, 3, 0], edges)
    tables = {
        "author": torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        "paper": torch.tensor([[2.0, 1.0], [0.0, 3.0]]),
        "term": torch.tensor([[0.5, -0.5]]),
        "venue": torch.tensor([[1.0, 0.0, 0.0]]),
    }
    return replace(graph, tables=tables, row=torch.tensor([[0, 0, 1, 0, 0, 1]])).check()


def adapter() -> GNNAdapter:
    return GNNAdapter(model, SCHEMA)


AVERAGES = {
    "author": torch.tensor([0.5, 0.25, 0.25]),
    "paper": torch.tensor([1.0, 1.0]),
    "term": torch.tensor([0.25, 0.25]),
    "venue": torch.full((3,), 1 / 3),
}
