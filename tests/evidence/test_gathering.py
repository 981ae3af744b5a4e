"""What an explanation carries, gathered at once."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
import torch

from dignn.evidence.gathering import KEPT_COLUMNS, Evidence, gather
from dignn.evidence.neutral_rows import average_rows
from dignn.evidence.removal import removal_effects
from dignn.evidence.variants import Kind
from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter
from evidence.planned import SCHEMA, adapter, bibliography
from strategies import random_batch
from tiny_models import TinyHetero


class Item(NamedTuple):
    graph: GraphBatch
    node: int | None
    class_index: int


@pytest.fixture(scope="module")
def real() -> GraphBatch:
    graphs = random_batch(SCHEMA, [6] * 30, np.random.default_rng(0))
    kind = graphs.node_type.clone()
    kind[:, 0] = 0
    return replace(graphs, node_type=kind, edge=torch.zeros_like(graphs.edge), row=torch.zeros_like(graphs.row))


def test_one_for_each_in_order(real: GraphBatch) -> None:
    items = [Item(bibliography(), 0, 1), Item(bibliography(), 5, 0), Item(bibliography(), 0, 0)]
    found = gather(adapter(), items, real)
    assert len(found) == 3
    for item, evidence in zip(items, found, strict=True):
        effects = removal_effects(adapter(), item.graph, item.node, item.class_index, average_rows(real))
        assert evidence.effects.log_odds == effects.log_odds
        assert set(effects.effects) <= set(evidence.effects.effects)
        assert gather(adapter(), [item], real, adapter().score(real)) == [evidence]
    assert "“Data Mining”" in found[0].text
    assert [column.name for column in found[0].own_columns] == ["mining", "query"]
    assert gather(adapter(), [], real) == []


def test_a_graph_that_explains_several_classes_is_asked_about_once(
    real: GraphBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    score = GNNAdapter.score
    monkeypatch.setattr(GNNAdapter, "score", lambda *given, **more: asked.append(1) or score(*given, **more))
    graph, times = bibliography(), []
    for classes in ([1], [1, 0, 1, 0]):
        asked.clear()
        found = gather(adapter(), [Item(graph, 0, each) for each in classes], real)
        times.append(len(asked))
    assert [each.effects.class_index for each in found] == [1, 0, 1, 0]
    assert found[:2] == [gather(adapter(), [Item(bibliography(), 0, each)], real)[0] for each in (1, 0)]
    assert times[1] == times[0]


def test_as_json(real: GraphBatch) -> None:
    (found,) = gather(adapter(), [Item(bibliography(), 0, 1)], real)
    assert Evidence.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_nearest_is_by_the_embedding_of_the_explained_node(real: GraphBatch) -> None:
    model = GNNAdapter(TinyHetero(SCHEMA), SCHEMA)
    known = model.score(real)
    for row in (0, 7):
        graph, node = int(known.graph[row]), int(known.node[row])
        (found,) = gather(model, [Item(real[graph], node, 1)], real, known)
        assert found.nearest.distance == pytest.approx(0, abs=1e-5)
        same = known.embedding[(known.graph == found.nearest.graph) & (known.node == found.nearest.node)][0]
        assert torch.allclose(same, known.embedding[row], atol=1e-5)


def test_many_columns_are_shortened(real: GraphBatch) -> None:
    wide = replace(SCHEMA, features=(replace(SCHEMA.features[0], width=100, names=None), *SCHEMA.features[1:]))
    graph = bibliography()
    tables = {**graph.tables, "author": torch.ones(2, 100)}
    graph = replace(graph, schema=wide, tables=tables)
    (found,) = gather(GNNAdapter(TinyHetero(wide), wide), [Item(graph, 0, 1)], graph)
    assert len(found.effects.of(Kind.COLUMN)) == KEPT_COLUMNS
