"""The bank fills graphs: every type that has features gets rows that follow the class around each node."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch_geometric.data import Data

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.features.bank import FeatureBank
from dignn.features.settings import FeatureSettings
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Layout, Relation, Schema
from strategies import batch_of, hetero, plain_schema

SCHEMA = Schema(
    node_types=("author", "paper", "venue", "term"),
    relations=(Relation("author", "writes", "paper"), Relation("paper", "at", "venue")),
    features=(
        FeatureSpec(FeatureKind.CONTINUOUS, 1),
        FeatureSpec(FeatureKind.CONTINUOUS, 1),
        FeatureSpec(FeatureKind.IDENTITY, 2),
        FeatureSpec(width=1, constant=(1.0,)),
    ),
    classes=("old", "new"),
    target="author",
)


def adjacency() -> Adjacency:
    """Six authors, one paper each, and a venue per class; a feature is ten times the class plus a number."""
    label = [0, 1, 0, 1, 0, 1]
    own = [[10.0 * y + i] for i, y in enumerate(label)]
    edges = {
        ("author", "writes", "paper"): [(i, i) for i in range(6)],
        ("paper", "at", "venue"): [(i, y) for i, y in enumerate(label)],
    }
    x = {"author": own, "paper": own, "venue": torch.eye(2), "term": torch.ones(1, 1)}
    return Adjacency.build(
        hetero({"author": 6, "paper": 6, "venue": 2, "term": 1}, edges, x=x, y={"author": label}), SCHEMA
    )


def structures(count: int = 40) -> GraphBatch:
    """Two authors of random classes with a paper each, a venue, and a term."""
    rng = np.random.default_rng(0)
    graphs = []
    for _ in range(count):
        first, second = rng.integers(0, 2, 2).tolist()
        types = [1, 0, 2, 0, 1, 3]
        edges = {(1, 0): 1, (3, 4): 1, (0, 2): 2, (4, 2): 2}
        graphs.append(batch_of(SCHEMA, types, edges, labels={1: first, 3: second}))
    return GraphBatch.cat(graphs)


def filled(seed: int = 0, method: str = "bootstrap", batch: GraphBatch | None = None) -> GraphBatch:
    bank = FeatureBank(SCHEMA, FeatureSettings(features=method)).fit(adjacency(), seed=Seed(0))
    return bank.fill(structures() if batch is None else batch, seed=Seed(seed))


def value(batch: GraphBatch, number: int, node: int) -> float:
    name = batch.schema.node_types[int(batch.node_type[number, node])]
    return float(batch.tables[name][batch.row[number, node], 0])


@pytest.mark.parametrize("method", ["bootstrap", "independent"])
def test_target_nodes_get_rows_of_their_own_class(method: str) -> None:
    batch = filled(method=method)
    for number, node in batch.target_mask.nonzero().tolist():
        assert int(value(batch, number, node)) // 10 == batch.label[number, node]


@pytest.mark.parametrize("method", ["bootstrap", "independent"])
def test_neighbours_get_rows_of_the_class_around_them(method: str) -> None:
    batch = filled(method=method)
    for number in range(len(batch)):
        for author, paper in ((1, 0), (3, 4)):
            assert int(value(batch, number, paper)) // 10 == batch.label[number, author]


def test_a_node_between_two_classes_gets_rows_of_either() -> None:
    edges = {(0, 1): 1, (2, 3): 1, (1, 4): 2, (3, 4): 2}
    batch = batch_of(SCHEMA, [0, 1, 0, 1, 2], edges, labels={0: 0, 2: 1})
    venues = Counter(filled(batch=batch[[0] * 600]).features("venue").argmax(1).tolist())
    assert chisquare([venues[0], venues[1]]).pvalue > 1e-3


def test_nodes_without_a_class_get_any_row() -> None:
    batch = filled(batch=batch_of(SCHEMA, [0, 1], {(0, 1): 1})[[0] * 600])
    counts = Counter(batch.features("author").flatten().tolist())
    assert len(counts) == 6
    assert chisquare(list(counts.values())).pvalue > 1e-3


def test_types_without_features_get_none() -> None:
    batch = filled()
    assert set(batch.tables) == {"author", "paper", "venue"}
    assert (batch.row[batch.node_type == 3] == -1).all()
    assert (batch.features("term") == 1).all()


def test_filled_graphs_keep_their_structure_and_every_promise() -> None:
    before, after = structures(), filled()
    after.check()
    assert set(after.tables) == {"author", "paper", "venue"}
    for name in ("node_type", "edge", "label", "graph_label"):
        assert torch.equal(getattr(before, name), getattr(after, name))


def test_features_of_before_are_replaced() -> None:
    assert torch.equal(filled(batch=filled(seed=7)).features("author"), filled().features("author"))


def test_same_seed_same_features() -> None:
    assert torch.equal(filled(1).features("paper"), filled(1).features("paper"))
    assert not torch.equal(filled(1).features("paper"), filled(2).features("paper"))


def test_types_draw_independently_of_each_other() -> None:
    alone = batch_of(SCHEMA, [0], {}, labels={0: 1})[[0] * 50]
    beside = batch_of(SCHEMA, [0, 1], {(0, 1): 1}, labels={0: 1})[[0] * 50]
    assert torch.equal(filled(batch=alone).features("author"), filled(batch=beside).features("author"))


def test_an_unknown_method_is_answered_with_the_nearest() -> None:
    with pytest.raises(DignnError, match="no feature generator called 'botstrap'.*did you mean 'bootstrap'"):
        FeatureBank(SCHEMA, FeatureSettings(features="botstrap"))


def test_progress_counts_types() -> None:
    seen: list[tuple[int, int]] = []
    bank = FeatureBank(SCHEMA).fit(adjacency(), seed=Seed(0), tick=lambda done, total: seen.append((done, total)))
    bank.fill(structures(), seed=Seed(0), tick=lambda done, total: seen.append((done, total)))
    done = [count / total for count, total in seen]
    half = done.index(1.0) + 1
    assert done[:half] == sorted(done[:half])
    assert done[-1] == 1.0
    assert {1 / 3, 2 / 3, 1.0} <= set(done[:half])


def test_a_type_that_is_empty_in_the_data_needs_no_rows() -> None:
    data = hetero({"a": 2, "b": 0}, x={"a": [[0.0], [1.0]], "b": torch.empty(0, 3)}, y={"a": [0, 1]})
    schema = Schema.from_hetero(data, "a")
    bank = FeatureBank(schema).fit(Adjacency.build(data, schema), seed=Seed(0))
    batch = bank.fill(batch_of(schema, [0], {}, labels={0: 1}), seed=Seed(0))
    batch.check()
    assert batch.features("a").tolist() == [[1]]
    assert batch.features("b").shape == (0, 3)


def test_a_type_that_was_empty_in_the_data_cannot_be_filled() -> None:
    data = hetero({"a": 2, "b": 0}, x={"a": [[0.0], [1.0]], "b": torch.empty(0, 3)}, y={"a": [0, 1]})
    schema = Schema.from_hetero(data, "a")
    bank = FeatureBank(schema).fit(Adjacency.build(data, schema), seed=Seed(0))
    with pytest.raises(DignnError, match="The data has no feature rows of 'b', so none can be generated"):
        bank.fill(batch_of(schema, [1], {}), seed=Seed(0))


def test_filling_before_learning_says_so() -> None:
    with pytest.raises(DignnError, match="The features of 'author' were not learned yet; call fit first"):
        FeatureBank(SCHEMA).fill(structures(), seed=Seed(0))


def test_in_graph_classification_features_follow_the_class_of_the_graph() -> None:
    graphs = [Data(x=torch.full((2, 1), 10.0 * y + i), y=y) for y in (0, 1) for i in (0, 1)]
    schema = plain_schema((), features=(FeatureSpec(FeatureKind.CONTINUOUS, 1),), layout=Layout.HOMOGENEOUS)
    bank = FeatureBank(schema).fit(Adjacency.build(graphs, schema), seed=Seed(0))
    for label in (0, 1):
        batch = bank.fill(batch_of(schema, [0, 0], {}, graph_label=label)[[0] * 20], seed=Seed(1))
        assert set((batch.features("node") // 10).flatten().tolist()) == {label}


def test_held_out_rows_are_never_generated() -> None:
    data = hetero({"a": 10}, x={"a": torch.arange(10.0)[:, None] + 0.5}, y={"a": [0, 1] * 5})
    schema = Schema.from_hetero(data, "a")
    learned = torch.arange(10).numpy() < 6
    bank = FeatureBank(schema).fit(Adjacency.build(data, schema), learned, seed=Seed(0))
    batch = bank.fill(batch_of(schema, [0] * 40, {}, labels={node: node % 2 for node in range(40)}), seed=Seed(0))
    assert set(batch.features("a")[:, 0].tolist()) == {0.5, 1.5, 2.5, 3.5, 4.5, 5.5}


def test_a_member_stands_at_most_once_in_a_graph() -> None:
    data = hetero({"a": 4, "venue": 5}, x={"venue": torch.eye(5)}, y={"a": [0, 1, 0, 1]})
    schema = Schema.from_hetero(data, "a")
    bank = FeatureBank(schema).fit(Adjacency.build(data, schema), seed=Seed(0))
    one = batch_of(schema, [1, 1, 1, 1], {})
    batch = bank.fill(GraphBatch.cat([one] * 20), seed=Seed(0))
    members = batch.features("venue").argmax(1).view(20, 4)
    assert all(len(set(row)) == 4 for row in members.tolist())
    crowded = bank.fill(batch_of(schema, [1] * 7, {}), seed=Seed(0))  # more nodes than members: some must repeat
    assert crowded.features("venue").shape == (7, 5)
