"""Feature metrics of whole graphs, and their place in metrics.json."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from dignn.batch import GraphBatch
from dignn.gnn.adapter import Scores
from dignn.metrics import feature_realism, measure
from dignn.metrics.columns import matrix_of
from dignn.metrics.graph_features import GRAPH_FEATURE_METRICS, graph_features
from dignn.metrics.nearest import memorisation
from dignn.runtime.seeds import Seed
from dignn.schema import FeatureKind, FeatureSpec, Relation, Schema
from strategies import random_batch, random_rows

SCHEMA = Schema(
    node_types=("author", "paper", "place", "plain"),
    relations=(Relation("author", "to", "paper", "to"), Relation("paper", "in", "place", "in")),
    features=(
        FeatureSpec(FeatureKind.BINARY, 12),
        FeatureSpec(FeatureKind.CONTINUOUS, 3),
        FeatureSpec(FeatureKind.IDENTITY, 4),
        FeatureSpec(),
    ),
    classes=("a", "b"),
    target="author",
)
WITH_ROWS = ("author", "paper", "place")


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.metrics.c2st.TREES", 5)


def graphs(
    count: int, seed: int, tables: dict[str, Tensor] | None = None, first: int = 0, end: int = 300
) -> GraphBatch:
    """Graphs whose nodes take rows from ``first`` to ``end`` of their tables."""
    rng = np.random.default_rng(seed)
    tables = tables or {name: random_rows(SCHEMA.spec(name), 300, rng) for name in WITH_ROWS}
    batch = random_batch(SCHEMA, [6] * count, rng)
    row = torch.from_numpy(rng.integers(first, end, batch.row.shape))
    return replace(batch, row=torch.where(batch.mask, row, -1), tables=tables).check()


@pytest.fixture(scope="module")
def three() -> tuple[GraphBatch, GraphBatch, GraphBatch]:
    """Candidates, and training and held-out graphs that share rows 100 to 199."""
    train = graphs(80, 0, end=200)
    return graphs(60, 1), train, graphs(50, 2, train.tables, first=100)


def test_rows_are_those_of_the_nodes(three: tuple[GraphBatch, ...]) -> None:
    candidates, train, held_out = three
    value, floor = graph_features(candidates, train, held_out)
    assert set(value["by_type"]) == set(floor["by_type"]) == set(WITH_ROWS)
    for name in WITH_ROWS:
        rows = [batch.features(name) for batch in (candidates, train, held_out)]
        expected = feature_realism(*rows, SCHEMA.spec(name).kind)
        assert expected.floor is not None
        for metric in set(GRAPH_FEATURE_METRICS) - {"memorisation"}:
            assert value["by_type"][name][metric] == expected.value[metric]
            assert floor["by_type"][name][metric] == expected.floor[metric]


def test_means_over_the_types_that_have_a_value(three: tuple[GraphBatch, ...]) -> None:
    for found in graph_features(*three):
        types = found["by_type"]
        assert [metric for metric, value in types["place"].items() if value is not None] == ["column_error"]
        for metric in GRAPH_FEATURE_METRICS:
            known = [types[name][metric] for name in WITH_ROWS if types[name][metric] is not None]
            assert found[metric] == pytest.approx(np.mean(known))


def test_shared_rows_are_left_out_of_memorisation(three: tuple[GraphBatch, ...]) -> None:
    _, train, held_out = three
    code = SCHEMA.type_index("paper")
    used = [set(batch.row[batch.node_type == code].tolist()) for batch in (train, held_out)]
    assert used[0] & used[1]
    # candidates that copy what only training graphs have are nearer to those; copies of what is shared are not
    for rows, low, high in ((sorted(used[0] - used[1]), 0.6, 1.0), (sorted(used[0] & used[1]), 0.3, 0.7)):
        batch = graphs(60, 5, train.tables)
        row = batch.row.clone()
        here = batch.node_type == code
        row[here] = torch.tensor(rows)[torch.arange(int(here.sum())) % len(rows)]
        value, _ = graph_features(replace(batch, row=row), train, held_out)
        assert low <= value["by_type"]["paper"]["memorisation"] <= high
    # the same real rows in tables of their own, as a file holds them
    copied = replace(held_out, tables={name: rows.clone() for name, rows in held_out.tables.items()})
    assert graph_features(train, train, copied) == graph_features(train, train, held_out)


def test_memorisation_by_hand() -> None:
    """Every row in one set only and used once: the metric is that of the plain tables."""
    train = graphs(40, 0)
    code = SCHEMA.type_index("paper")
    here = train.node_type == code
    count = int(here.sum())
    row = train.row.clone()
    row[here] = torch.arange(count)
    train = replace(train, row=row)
    others = torch.randn(count, 3, generator=Seed(3).torch())
    held_out = replace(train, tables={**train.tables, "paper": others})
    value, floor = graph_features(train, train, held_out)
    tables = [matrix_of(rows) for rows in (train.features("paper"), train.features("paper"), others)]
    expected = memorisation(*tables, FeatureKind.CONTINUOUS, seed=Seed(0))
    assert value["by_type"]["paper"]["memorisation"] == expected[0] == 1.0
    assert floor["by_type"]["paper"]["memorisation"] is None


def test_at_most_so_many_rows(three: tuple[GraphBatch, ...]) -> None:
    few, all_rows = graph_features(*three, most=30)[1], graph_features(*three)[1]
    # fewer rows, more noise
    assert few["by_type"]["author"]["column_error"] > 1.3 * all_rows["by_type"]["author"]["column_error"]


def test_types_without_rows(three: tuple[GraphBatch, ...]) -> None:
    candidates, train, held_out = three
    without = replace(candidates, tables={"author": candidates.tables["author"]})
    value, floor = graph_features(without, train, held_out)
    assert set(value["by_type"]) == set(floor["by_type"]) == {"author"}
    nothing = {**dict.fromkeys(GRAPH_FEATURE_METRICS), "by_type": None}
    assert graph_features(candidates[:0], train, held_out) == (nothing, nothing)


def test_metrics_json_has_them(three: tuple[GraphBatch, ...]) -> None:
    def scores(batch: GraphBatch) -> Scores:
        graph, node = batch.target_mask.nonzero(as_tuple=True)
        logits = torch.zeros(len(graph), 2)
        return Scores(graph, node, logits, logits)

    candidates, train, held_out = three
    counts = {"valid": len(candidates), "generated": len(candidates)}
    found = measure(candidates, scores(candidates), counts, train, held_out, scores(held_out))
    assert (found["sound"]["features"], found["floor"]["sound"]["features"]) == graph_features(*three)
