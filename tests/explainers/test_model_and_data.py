"""Facts about model and data: counted again by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch_geometric.data import Data

from dignn.core.seeds import Seed
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.explainers.model_and_data import agreement, model_and_data
from dignn.graphs.batch import GraphBatch
from dignn.graphs.inference import infer_schema
from dignn.graphs.schema import Relation
from dignn.graphs.tasks.base import Task
from dignn.model.scores import Scores
from dignn.sampling.division import divide
from dignn.zoo.datasets.registry import load
from strategies import batch_of, plain_schema
from tiny_models import TinyHetero

SCHEMA = plain_schema(
    (Relation("author", "writes", "paper", "written_by"),),
    node_types=("author", "paper"),
    classes=("one", "two"),
    target="author",
)
CONFIG = replace(PRESETS["smoke"], sizes=(8, 9), subgraphs_per_size=10)


def test_nodes_edges_and_labels_are_counted() -> None:
    dataset = load("planted")
    model = TinyHetero(dataset.schema)
    found = model_and_data(model, divide(dataset.data, dataset.schema, CONFIG, Seed(0)), dataset.schema)
    assert found["model"] == {"name": "TinyHetero", "parameters": sum(p.numel() for p in model.parameters())}
    assert found["data"]["graphs"] == 1
    assert found["data"]["nodes"] == {name: dataset.data[name].num_nodes for name in dataset.schema.node_types}
    assert sum(found["data"]["classes"].values()) == len(dataset.data["author"].y)
    pairs = {
        frozenset([(source, int(u)), (target, int(v))])
        for source, name, target in dataset.data.edge_types
        for u, v in dataset.data[source, name, target].edge_index.T
    }
    assert found["data"]["edges"] == len({pair for pair in pairs if len(pair) == 2})


def test_graphs_that_are_classified_are_counted() -> None:
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    graphs = [Data(x=torch.eye(3)[:3] * k, edge_index=edges, y=torch.tensor([k % 3])) for k in range(1, 9)]
    schema = infer_schema(graphs)

    def answer(data: Any) -> torch.Tensor:
        return torch.zeros(1, 3)

    found = model_and_data(answer, divide(graphs, schema, replace(CONFIG, sizes=None), Seed(0)), schema)
    assert found["model"] == {"name": "answer", "parameters": None}
    assert found["data"]["graphs"] == 8
    assert list(found["data"]["classes"].values()) == [2, 3, 3]
    assert found["data"]["edges"] == 16


def scores(graph: list[int], node: list[int], predicted: list[int], task: Task = SCHEMA.task) -> Scores:
    logits = torch.nn.functional.one_hot(torch.tensor(predicted), 2).float()
    return Scores(torch.tensor(graph), torch.tensor(node), logits, torch.zeros(len(graph), 1), task)


def test_a_node_in_several_graphs_counts_once() -> None:
    one = batch_of(SCHEMA, [0, 1], {(0, 1): 1}, labels={0: 1})
    other = batch_of(SCHEMA, [0, 0, 1], {(0, 2): 1, (1, 2): 1}, labels={0: 0})
    graphs = GraphBatch.cat([one, one, other])
    graphs.row[0, 0] = graphs.row[1, 0] = 7
    graphs.row[2, 0], graphs.row[2, 1] = 3, 4
    found = agreement(scores([0, 1, 2, 2], [0, 0, 0, 1], [1, 0, 0, 0]), graphs)
    assert found["count"] == 2  # the author without a label does not count
    assert found["share"] == pytest.approx(0.75)
    assert found["classes"] == {"one": 1.0, "two": 0.5}


def test_without_labels_there_is_no_share() -> None:
    graphs = batch_of(SCHEMA, [0, 1], {(0, 1): 1})
    graphs.row[0, 0] = 0
    found = agreement(scores([0], [0], [1]), graphs)
    assert found == {"count": 0, "share": None, "classes": {"one": None, "two": None}}
