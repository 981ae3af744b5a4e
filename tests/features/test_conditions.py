"""The class around a node, against a breadth-first computation."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from dignn.features.conditions import (
    DataConditions,
    class_of_condition,
    condition_batch,
    condition_data,
    steps_to_target,
)
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureSpec
from dignn.graphs.schema import Relation, Schema
from strategies import PROPERTY, arcs_of, batch_of, batches, hetero, plain_schema, pyg_of, schemas

NODES = schemas(node_classification=True)


def class_around_batch(batch: GraphBatch) -> Tensor:
    return class_of_condition(condition_batch(batch))


def class_around_data(data: Adjacency) -> Tensor:
    return class_of_condition(condition_data(data))


def expected_around(batch: GraphBatch, number: int) -> dict[int, list[float]]:
    """Distances from labelled nodes first, then means over the neighbours that are one step nearer."""
    size, classes = int(batch.sizes[number]), batch.schema.num_classes
    label, target = batch.label[number].tolist(), batch.target_mask[number].tolist()
    graph = nx.Graph((u, v) for _, u, v in arcs_of(batch, number))
    graph.add_nodes_from(range(size))
    sources = [node for node in range(size) if label[node] >= 0]
    graph.remove_nodes_from([node for node in range(size) if target[node] and label[node] < 0])
    graph.remove_edges_from([edge for edge in graph.edges if all(target[node] for node in edge)])
    distance = nx.multi_source_dijkstra_path_length(graph, sources) if sources else {}
    around = {node: [0.0] * classes for node in range(size)}
    for node, far in sorted(distance.items(), key=lambda item: item[1]):
        if not far:
            around[node][label[node]] = 1.0
            continue
        nearer = [around[other] for other in graph[node] if distance[other] == far - 1]
        around[node] = [sum(column) / len(nearer) for column in zip(*nearer, strict=True)]
    return around


@PROPERTY
@given(batches(NODES, min_graphs=1, max_nodes=9))
def test_batches_agree_with_a_breadth_first_computation(batch: GraphBatch) -> None:
    found = class_around_batch(batch)
    for number in range(len(batch)):
        expected = expected_around(batch, number)
        for node in range(batch.node_type.size(1)):
            wanted = torch.tensor(expected.get(node, [0.0] * batch.schema.num_classes))
            assert torch.allclose(found[number, node], wanted, atol=1e-6)


@PROPERTY
@given(batches(min_graphs=1, max_graphs=1, max_nodes=9))
def test_data_and_batch_agree_when_the_batch_is_the_whole_graph(batch: GraphBatch) -> None:
    adjacency = Adjacency.build(pyg_of(batch), batch.schema)
    whole = adjacency.induced([range(len(adjacency.node_type))])
    assert torch.allclose(class_around_data(adjacency), class_around_batch(whole)[0], atol=1e-6)


@PROPERTY
@given(batches(NODES, min_graphs=1))
def test_rows_are_distributions_or_zero(batch: GraphBatch) -> None:
    total = class_around_batch(batch).sum(2)
    assert ((total - 1).abs().lt(1e-5) | (total == 0)).all()


@PROPERTY
@given(batches(schemas(node_classification=False), min_graphs=1))
def test_in_graph_classification_every_node_has_the_class_of_its_graph(batch: GraphBatch) -> None:
    found = class_around_batch(batch)
    for number, label in enumerate(batch.graph_label.tolist()):
        for node, there in enumerate(batch.mask[number].tolist()):
            expected = [float(there and label == code) for code in range(batch.schema.num_classes)]
            assert found[number, node].tolist() == expected


BIBLIOGRAPHY = plain_schema(
    (Relation("author", "writes", "paper"), Relation("paper", "at", "venue")),
    node_types=("author", "paper", "venue"),
    target="author",
)


def test_papers_take_their_authors_classes_and_venues_their_papers() -> None:
    """Author 0 (class 0) and 1 (class 1) write paper 2, author 1 alone paper 3; both appear at venue 4."""
    batch = batch_of(
        BIBLIOGRAPHY,
        [0, 0, 1, 1, 2],
        {(0, 2): 1, (1, 2): 1, (1, 3): 1, (2, 4): 2, (3, 4): 2},
        labels={0: 0, 1: 1},
    )
    assert class_around_batch(batch)[0].tolist() == [[1, 0], [0, 1], [0.5, 0.5], [0, 1], [0.25, 0.75]]


def test_a_target_node_without_a_label_has_no_class_and_passes_none_on() -> None:
    batch = batch_of(BIBLIOGRAPHY, [0, 1, 0, 1], {(0, 1): 1, (1, 2): 1, (2, 3): 1}, labels={0: 1})
    assert class_around_batch(batch)[0].tolist() == [[0, 1], [0, 1], [0, 0], [0, 0]]


def test_without_labels_there_is_no_class_anywhere() -> None:
    batch = batch_of(BIBLIOGRAPHY, [0, 1], {(0, 1): 1})
    assert not class_around_batch(batch).any()


def test_the_class_does_not_depend_on_padding() -> None:
    batch = batch_of(BIBLIOGRAPHY, [0, 1], {(0, 1): 1}, labels={0: 1})
    large = batch_of(BIBLIOGRAPHY, [0, 1, 1, 1, 2], {(0, 1): 1}, labels={0: 1})
    both = GraphBatch.cat([batch, replace(large, schema=batch.schema)])
    assert torch.equal(class_around_batch(both)[0, :2], class_around_batch(batch)[0])
    assert not class_around_batch(both)[0, 2:].any()


CHAIN = Schema(
    node_types=("author", "paper", "venue", "island"),
    relations=(
        Relation("author", "writes", "paper"),
        Relation("paper", "at", "venue"),
        Relation("paper", "cites", "paper"),
    ),
    features=(FeatureSpec(),) * 4,
    classes=("old", "new"),
    target="author",
)


def test_steps_to_the_target_are_those_of_the_metagraph() -> None:
    assert steps_to_target(CHAIN)[:3].tolist() == [0, 1, 2]
    assert int(steps_to_target(CHAIN)[3]) > 3  # no way leads there


def test_near_and_far_nodes_have_their_class_in_columns_of_their_own() -> None:
    """An author, the author's paper and its venue are near; a paper that the paper cites and its venue are far."""
    types = [0, 1, 2, 1, 2]
    batch = batch_of(CHAIN, types, {(0, 1): 1, (1, 2): 2, (1, 3): 3, (3, 4): 2}, labels={0: 1})
    assert condition_batch(batch)[0].tolist() == [[0, 1, 0, 0]] * 3 + [[0, 0, 0, 1]] * 2


@PROPERTY
@given(batches(min_graphs=1, max_graphs=1, max_nodes=9))
def test_conditions_of_data_and_batch_agree(batch: GraphBatch) -> None:
    adjacency = Adjacency.build(pyg_of(batch), batch.schema)
    whole = adjacency.induced([range(len(adjacency.node_type))])
    found = condition_batch(whole)[0]
    assert torch.allclose(condition_data(adjacency), found, atol=1e-6)
    near, far = found.chunk(2, dim=1)
    assert not bool(((near > 0).any(1) & (far > 0).any(1)).any())


@PROPERTY
@given(batches(NODES, min_graphs=1, max_nodes=9), st.randoms(use_true_random=False))
def test_conditions_of_some_nodes_are_those_among_all(batch: GraphBatch, random: Random) -> None:
    """However they are asked for: what was looked at before changes nothing."""
    adjacency = Adjacency.build(pyg_of(batch), batch.schema)
    every, around = condition_data(adjacency), DataConditions(adjacency)
    size = len(adjacency.node_type)
    for _ in range(4):
        nodes = np.array(
            [random.randrange(size) for _ in range(random.randrange(1, 4))] if size else [], dtype=np.int64
        )
        assert torch.equal(around.of(nodes), every[torch.from_numpy(nodes)])


def test_conditions_look_at_the_surroundings_of_the_nodes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of papers beside an author their neighbours, whatever else the graph holds."""
    relations = (Relation("author", "writes", "paper"),)
    schema = plain_schema(relations, node_types=("author", "paper"), target="author")
    edges = {("author", "writes", "paper"): [(number, number) for number in range(500)]}
    data = hetero({"author": 500, "paper": 500}, edges, y={"author": [0] * 500})
    adjacency = Adjacency.build(data, schema)
    asked: list[int] = []
    whole = Adjacency.joined
    monkeypatch.setattr(Adjacency, "joined", lambda self, nodes: asked.append(len(nodes)) or whole(self, nodes))
    found = DataConditions(adjacency).of(np.array([600, 601, 7]))
    assert found[:, 0].tolist() == [1.0, 1.0, 1.0]
    assert sum(asked) <= 4
