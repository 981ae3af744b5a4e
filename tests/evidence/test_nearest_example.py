"""The nearest real example by slow loops."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from dignn.core.errors import DignnError
from dignn.core.json_types import restored
from dignn.evidence.nearest_example import NearestExample, nearest_real
from dignn.graphs.batch import GraphBatch
from dignn.model.scores import Scores
from strategies import batch_of, plain_schema

SCHEMA = replace(plain_schema(), classes=("x", "y"), target="node", task=None)


def divide(rng: np.random.Generator, count: int = 12) -> tuple[GraphBatch, Scores]:
    """Pairs of nodes out of 15, so that many stand in several graphs, with random embeddings."""
    graphs = GraphBatch.cat([batch_of(SCHEMA, [0, 0], {(0, 1): 1}, labels={0: 0, 1: 1})] * count)
    row = np.stack([rng.choice(15, 2, replace=False) for _ in range(count)])
    graphs = replace(graphs, row=torch.from_numpy(row))
    graph, node = graphs.mask.nonzero(as_tuple=True)
    scores = torch.from_numpy(rng.normal(size=(2 * count, 5))).float()
    return graphs, Scores(graph, node, scores[:, :2], scores[:, 2:], SCHEMA.task)


@pytest.mark.parametrize("seed", range(4))
def test_by_slow_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graphs, real = divide(rng)
    made = rng.normal(size=(6, 3))
    classes = [0, 1, 0, 1, 0, 1]
    found = nearest_real(torch.from_numpy(made).float(), classes, real, graphs)
    points, answer = real.embedding.double().numpy(), real.logits.argmax(1).numpy()
    who = graphs.row[real.graph, real.node].numpy()
    for point, class_index, example in zip(made.astype(np.float32), classes, found, strict=True):
        far = [float(np.linalg.norm(point.astype(float) - other)) for other in points]
        best = int(np.argmin(far))
        assert (example.graph, example.node) == (int(real.graph[best]), int(real.node[best]))
        assert example.row == who[best]
        assert example.label == example.node  # as labelled above
        assert example.predicted == answer[best]
        assert example.distance == pytest.approx(far[best], abs=1e-9)
        usual = [
            min(np.linalg.norm(points[i] - points[j]) for j in range(len(points)) if who[j] != who[i])
            for i in range(len(points))
            if answer[i] == class_index
        ]
        assert example.farther == pytest.approx(np.mean([value >= far[best] for value in usual]))


def test_a_real_node_is_nearest_to_itself() -> None:
    graphs, real = divide(np.random.default_rng(0))
    found = nearest_real(real.embedding, [0] * len(real.graph), real, graphs)
    assert [(e.graph, e.node) for e in found] == list(zip(real.graph.tolist(), real.node.tolist(), strict=True))
    assert {(example.distance, example.farther) for example in found} == {(0.0, 1.0)}


def test_far_away_is_farther_than_all() -> None:
    graphs, real = divide(np.random.default_rng(0))
    (found,) = nearest_real(torch.full((1, 3), 100.0), [1], real, graphs)
    assert found.farther == 0


def test_the_same_node_elsewhere_is_not_another_one() -> None:
    """Two nodes in ten graphs each, always embedded alike: the nearest other is the other node."""
    graphs = GraphBatch.cat([batch_of(SCHEMA, [0, 0], {(0, 1): 1})] * 10)
    graphs = replace(graphs, row=torch.tensor([[7, 8]] * 10))
    graph, node = graphs.mask.nonzero(as_tuple=True)
    real = Scores(graph, node, torch.tensor([[1.0, 0.0]] * 20), node[:, None].double(), SCHEMA.task)
    near, far = nearest_real(torch.tensor([[0.5], [3.0]]), [0, 0], real, graphs)
    assert (near.distance, near.farther) == (0.5, 1.0)
    assert (far.distance, far.farther) == (2.0, 0.0)
    assert near.label is None


def test_a_class_that_no_real_node_gets() -> None:
    graphs, real = divide(np.random.default_rng(0))
    real = replace(real, logits=torch.tensor([[1.0, 0.0]] * len(real.graph)))
    (found,) = nearest_real(torch.zeros(1, 3), [1], real, graphs)
    assert found.farther is None
    assert restored(NearestExample, json.loads(json.dumps(asdict(found)))) == found


def test_graph_classification() -> None:
    schema = replace(SCHEMA, target=None, task=None)
    graphs = GraphBatch.cat([batch_of(schema, [0], {}, graph_label=number % 2) for number in range(4)])
    real = Scores(
        torch.arange(4), torch.full((4,), -1), torch.eye(2).repeat(2, 1), torch.arange(4.0)[:, None], schema.task
    )
    (found,) = nearest_real(torch.tensor([[2.25]]), [0], real, graphs)
    assert found == NearestExample(2, None, None, 0, 0, 0.25, 1.0)


def test_errors() -> None:
    graphs, real = divide(np.random.default_rng(0))
    with pytest.raises(DignnError, match="one row of 3 columns"):
        nearest_real(torch.zeros(1, 4), [0], real, graphs)
    empty = real[:0]
    with pytest.raises(DignnError, match="no real nodes"):
        nearest_real(torch.zeros(1, 3), [0], empty, graphs)
