"""What has no label gets the model's class, in graphs and in the data, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from dignn.core.seeds import Seed
from dignn.explainers.methods.dignnexplainer.settings import Config
from dignn.graphs.batch import GraphBatch
from dignn.graphs.inference import infer_schema
from dignn.sampling.division import RealGraphs, divide
from dignn.sampling.unlabelled import label_unlabelled
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


def few_labels(dataset: Dataset, every: int) -> RealGraphs:
    """The same data, of which one target node in so many has a label."""
    data = dataset.data.clone()
    y = data[dataset.schema.target].y
    data[dataset.schema.target].y = torch.where(torch.arange(len(y)) % every == 0, y, -1)
    config = Config(sizes=(6, 7), subgraphs_per_size=100)
    made = divide(data, dataset.schema, config, Seed(0))
    made.sample()
    return made


def by_row(graphs: GraphBatch) -> tuple[Tensor, Tensor, Tensor]:
    """A model that goes by the row of a target node: its class is the row's remainder by 3."""
    graph, node = graphs.target_mask.nonzero(as_tuple=True)
    return graph, node, graphs.row[graph, node] % 3


def test_what_has_no_label_gets_that_of_the_model_and_the_rest_keeps_its_own(planted: Dataset) -> None:
    made = few_labels(planted, 5)
    before = made.train
    label_unlabelled(made, by_row)
    target = made.train.target_mask
    own, row = made.train.label[target], made.train.row[target]
    given = before.label[target]
    assert torch.equal(own, torch.where(given >= 0, given, row % 3))
    held_out = few_labels(planted, 5).held_out
    lacked = [int((batch.label[batch.target_mask] < 0).sum()) for batch in (before, held_out)]
    assert made.report["unlabelled"] == sum(lacked) > 0
    assert torch.equal(made.train_given.label, before.label)
    assert bool((made.held_out.label[made.held_out.target_mask] >= 0).all())


def test_nodes_of_the_data_get_the_class_that_they_have_in_graphs(planted: Dataset) -> None:
    made = few_labels(planted, 5)
    given = made.data.label.copy()
    label_unlabelled(made, by_row)
    targets = made.data.targets
    changed = targets[made.data.label[targets] != given[targets]]
    assert len(changed)
    assert (given[changed] == -1).all()
    assert (made.data.label[changed] == made.data.row[changed] % 3).all()
    assert (np.delete(made.data.label, targets) == -1).all()


def test_where_everything_has_a_label_the_model_is_not_asked(planted: Dataset) -> None:
    made = few_labels(planted, 1)

    def never(graphs: GraphBatch) -> tuple[Tensor, Tensor, Tensor]:
        raise AssertionError

    label_unlabelled(made, never)
    assert made.train_given is made.train
    assert made.held_out_given is made.held_out
    assert "unlabelled" not in made.report


def test_graphs_without_a_label_get_that_of_the_model() -> None:
    line = [torch.arange(size) for size in range(3, 13)]
    edges = [torch.stack([place[:-1], place[1:]]) for place in line]
    graphs = [
        Data(num_nodes=len(place), edge_index=torch.cat([index, index.flip(0)], 1), y=torch.tensor([len(place) % 2]))
        for place, index in zip(line, edges, strict=True)
    ]
    for number in (1, 4, 6):
        graphs[number].y = torch.tensor([-1])
    made = divide(graphs, infer_schema(graphs), Config(), Seed(0))
    made.sample()
    label_unlabelled(made, lambda some: (torch.arange(len(some)), torch.full((len(some),), -1), 1 - some.sizes % 2))
    for batch in (made.train, made.held_out):
        own = torch.tensor([int(graphs[size - 3].y) for size in batch.sizes.tolist()])
        assert torch.equal(batch.graph_label, torch.where(own >= 0, own, 1 - batch.sizes % 2))
    assert (made.data.graph_label >= 0).all()


def test_graphs_that_are_sampled_again_know_the_labels_of_the_data_alone(planted: Dataset) -> None:
    made = few_labels(planted, 5)
    label_unlabelled(made, by_row)
    first, told = made.train, dict(made.report)
    made.sample()
    assert torch.equal(made.train.label, made.train_given.label)
    label_unlabelled(made, by_row)
    assert torch.equal(made.train.label, first.label)
    assert made.report == told
