"""Feature rows of whole graphs: which are compared with which, and what is measured of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist
from torch import Tensor
from torch_geometric.data import Data

from dignn.core.seeds import Seed
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.inference import infer_schema
from dignn.graphs.schema import Relation, Schema
from dignn.metrics.feature_realism import feature_realism
from dignn.metrics.feature_rows import LEAST_HELD_OUT_ROWS, RealRows
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.measures.feature_errors import VALUES, feature_errors
from dignn.sampling.division import divide
from dignn.zoo.datasets.registry import load
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
ROWS = 300  # of each table


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.metrics.c2st.TREES", 2)


def graphs(count: int, seed: int, tables: dict[str, Tensor] | None = None) -> GraphBatch:
    """Graphs whose nodes take any rows of their tables."""
    rng = np.random.default_rng(seed)
    tables = tables or {name: random_rows(SCHEMA.spec(name), ROWS, rng) for name in WITH_ROWS}
    batch = random_batch(SCHEMA, [6] * count, rng)
    row = torch.from_numpy(rng.integers(ROWS, size=batch.row.shape))
    return replace(batch, row=torch.where(batch.mask, row, -1), tables=tables).check()


def with_rows(batch: GraphBatch, name: str, rows: Tensor) -> GraphBatch:
    """The same graphs; nodes of a type take these rows of its table, over and over."""
    here = batch.node_type == SCHEMA.type_index(name)
    row = batch.row.clone()
    row[here] = rows[torch.arange(int(here.sum())) % len(rows)]
    return replace(batch, row=row)


def graph_features(
    candidates: GraphBatch, train: GraphBatch, held_out: GraphBatch, learned: dict[str, Tensor]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """``sound.features`` of candidates, and of training graphs as their floor."""
    rows, reality = RealRows(train, held_out, learned, learned), Reality(seed=Seed(0))
    value, floor = (
        feature_errors(MeasuredGraphs(frozenset({"features"}), rows=found), reality)
        for found in (rows.compared_with(candidates), rows.compared_with(train, learned=True))
    )
    return value, floor


def rows_in(batch: GraphBatch, name: str) -> Tensor:
    return batch.row[batch.node_type == SCHEMA.type_index(name)]


@pytest.fixture(scope="module")
def three() -> tuple[GraphBatch, GraphBatch, GraphBatch]:
    """Candidates, training and held-out graphs; as in real data, both sets of real graphs have rows of both sorts."""
    train = graphs(80, 0)
    return graphs(60, 1), train, graphs(120, 2, train.tables)


@pytest.fixture(scope="module")
def learned() -> dict[str, Tensor]:
    """Four rows of five, at random; of places all."""
    masks = {name: torch.rand(ROWS, generator=Seed(0).child(name).torch()) < 0.8 for name in WITH_ROWS}
    return {**masks, "place": torch.ones(ROWS, dtype=torch.bool)}


# -- which rows are compared --------------------------------------------------------------------------


def test_rows_of_the_nodes_that_were_learned_and_of_those_that_were_not(
    three: tuple[GraphBatch, ...], learned: dict[str, Tensor]
) -> None:
    candidates, train, held_out = three
    value, floor = graph_features(*three, learned)
    assert set(value["by_type"]) == set(floor["by_type"]) == set(WITH_ROWS)
    for name in WITH_ROWS:
        table = train.tables[name]
        old = [row for row in rows_in(train, name).tolist() if learned[name][row]]
        new = [row for row in rows_in(held_out, name).tolist() if name == "place" or not learned[name][row]]
        assert len(new) >= LEAST_HELD_OUT_ROWS
        seed = Seed(0).child("features", name)
        for found, rows in ((value, candidates.features(name)), (floor, table[old])):
            expected = feature_realism(rows, None, table[new], SCHEMA.spec(name).kind, seed=seed)
            for metric in set(VALUES) - {"memorisation"}:
                assert found["by_type"][name][metric] == expected.value[metric]


def test_learned_rows_in_held_out_graphs_are_not_held_out(
    three: tuple[GraphBatch, ...], learned: dict[str, Tensor]
) -> None:
    """Most rows in held-out graphs were learned, and here they are quite different from those that were not."""
    _, train, held_out = three
    papers = train.tables["paper"] + 10 * learned["paper"][:, None]
    train, held_out = (replace(batch, tables={**batch.tables, "paper": papers}) for batch in (train, held_out))
    rows = rows_in(held_out, "paper")
    assert learned["paper"][rows].float().mean() > 0.7
    new = rows[~learned["paper"][rows]]
    value, floor = graph_features(with_rows(held_out, "paper", new), train, held_out, learned)
    assert value["by_type"]["paper"]["column_error"] < 0.2
    assert floor["by_type"]["paper"]["column_error"] == pytest.approx(1)
    assert value["by_type"]["paper"]["memorisation"] == 0


def test_all_rows_of_held_out_graphs_where_few_were_not_learned(
    three: tuple[GraphBatch, ...], learned: dict[str, Tensor]
) -> None:
    candidates, train, held_out = three
    rows = rows_in(held_out, "author")
    for left in (LEAST_HELD_OUT_ROWS - 1, LEAST_HELD_OUT_ROWS):
        number, mask = rows.unique(), torch.ones(ROWS, dtype=torch.bool)
        times = torch.bincount(rows, minlength=ROWS)[number]
        mask[number[times == 1][:left]] = False
        compared = rows if left < LEAST_HELD_OUT_ROWS else rows[~mask[rows]]
        value, _ = graph_features(candidates, train, held_out, {**learned, "author": mask})
        expected = feature_realism(candidates.features("author"), None, train.tables["author"][compared], "binary")
        assert value["by_type"]["author"]["row_density"] == pytest.approx(expected.value["row_density"])


def test_at_most_so_many_rows(
    three: tuple[GraphBatch, ...], learned: dict[str, Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    all_rows = graph_features(*three, learned)[1]["by_type"]["author"]
    monkeypatch.setattr("dignn.metrics.feature_rows.MOST_COMPARED_ROWS", 10)
    few = graph_features(*three, learned)[1]["by_type"]["author"]
    # fewer rows, more noise
    assert few["column_error"] > 1.3 * all_rows["column_error"]


def test_types_without_rows(three: tuple[GraphBatch, ...], learned: dict[str, Tensor]) -> None:
    candidates, train, held_out = three
    without = replace(candidates, tables={"author": candidates.tables["author"]})
    value, floor = graph_features(without, train, held_out, learned)
    assert set(value["by_type"]) == {"author"}
    assert set(floor["by_type"]) == set(WITH_ROWS)
    nothing = {**dict.fromkeys(VALUES), "by_type": None}
    assert graph_features(candidates[:0], train, held_out, learned)[0] == nothing
    nobody = {**learned, "paper": torch.zeros(ROWS, dtype=torch.bool)}
    assert "paper" not in graph_features(*three, nobody)[0]["by_type"]


# -- memorisation -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["author", "paper"])
def test_a_bootstrap_remembers_and_rows_that_were_not_learned_do_not(
    three: tuple[GraphBatch, ...], learned: dict[str, Tensor], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dignn.metrics.feature_rows.MOST_COMPARED_ROWS", 4000)
    monkeypatch.setattr("dignn.metrics.told_apart.area", lambda *_: None)
    _, train, held_out = three
    there = torch.cat([rows_in(train, name), rows_in(held_out, name)]).unique()
    old, new = there[learned[name][there]], there[~learned[name][there]]
    shares = {}
    everything = RealRows(train, held_out, learned, learned)
    for sort, graphs_ in {
        "bootstrap": with_rows(train, name, old),
        "held out": with_rows(train, name, new),
        "fresh": graphs(400, 9),
        "floor": train,
    }.items():
        rows = everything.compared_with(graphs_, learned=sort == "floor")
        measured = MeasuredGraphs(frozenset({"features"}), rows=rows)
        # A share hangs on which learned rows stand against the others; so it is the mean over several choices.
        found = [feature_errors(measured, Reality(seed=Seed(number)))["by_type"][name] for number in range(6)]
        shares[sort] = np.mean([values["memorisation"] for values in found])
    assert shares["floor"] == pytest.approx(0.5, abs=0.07)
    assert shares["fresh"] == pytest.approx(0.5, abs=0.07)
    # copies are looked for in so many of the learned rows at a time
    assert shares["bootstrap"] == pytest.approx(0.5 + len(new) / len(old) / 2, abs=0.06)
    assert shares["bootstrap"] > max(shares["floor"], shares["fresh"]) + 0.05
    assert shares["held out"] < 0.1


def test_memorisation_by_hand() -> None:
    """As many learned rows as others, each used by one node: the metric is that of the plain tables."""
    batch = graphs(40, 0)
    number = int((batch.node_type == SCHEMA.type_index("paper")).sum()) // 2 * 2
    train, held_out = (with_rows(batch, "paper", torch.arange(start, number, 2)) for start in (0, 1))
    masks = {name: torch.arange(ROWS) % 2 == 0 for name in WITH_ROWS}
    made = graphs(60, 3)
    value, floor = graph_features(made, train, held_out, masks)
    papers = batch.tables["paper"][:number].double().numpy()
    unit = papers[::2].std(0)
    near, far = (cdist(made.features("paper").numpy() / unit, papers[start::2] / unit).min(1) for start in (0, 1))
    assert value["by_type"]["paper"]["memorisation"] == pytest.approx((near < far).mean())
    assert floor["by_type"]["paper"]["memorisation"] is None


def test_too_few_rows_to_tell_what_is_remembered(three: tuple[GraphBatch, ...], learned: dict[str, Tensor]) -> None:
    for left, known in ((LEAST_HELD_OUT_ROWS - 1, False), (LEAST_HELD_OUT_ROWS, True)):
        mask = torch.ones(ROWS, dtype=torch.bool)
        mask[rows_in(three[1], "paper").unique()[:left]] = False
        value, _ = graph_features(*three, {**learned, "paper": mask})
        assert (value["by_type"]["paper"]["memorisation"] is not None) == known


def test_held_out_rows_of_other_data(three: tuple[GraphBatch, ...], learned: dict[str, Tensor]) -> None:
    """Of data that nothing has seen, all rows are new, whatever their numbers."""
    candidates, train, _ = three
    fresh = graphs(120, 7)
    unseen = {name: torch.zeros(ROWS, dtype=torch.bool) for name in WITH_ROWS}
    rows = RealRows(train, fresh, learned, unseen).compared_with(candidates)["author"]
    assert rows.real.shape[0] == int((fresh.node_type == 0).sum())
    assert rows.sides is not None
    there = set(rows_in(train, "author").tolist())
    old, new = (len([row for row in there if bool(learned["author"][row]) == known]) for known in (True, False))
    assert rows.sides[0].shape[0] == old
    assert rows.sides[1].shape[0] == new + len(rows_in(fresh, "author").unique())


# -- which rows were learned --------------------------------------------------------------------------


def test_learned_rows_of_divided_nodes() -> None:
    planted = load("planted")
    real = divide(planted.data, planted.schema, PRESETS["smoke"], Seed(0))
    masks = real.learned_rows
    assert set(masks) == set(planted.schema.node_types)  # venues too, which have no features
    for node, is_learned in enumerate(real.learned):
        name = planted.schema.node_types[real.data.node_type[node]]
        assert bool(masks[name][real.data.row[node]]) == is_learned
    assert all(0.75 < mask.float().mean() < 0.85 for mask in masks.values() if len(mask) > 20)


def test_learned_rows_of_divided_graphs() -> None:
    generator = Seed(0).torch()
    chain = torch.tensor([[0, 1, 2], [1, 2, 3]])
    data = [
        Data(
            x=torch.rand(4, 2, generator=generator),
            edge_index=torch.cat([chain, chain.flip(0)], 1),
            y=torch.tensor([n % 2]),
        )
        for n in range(20)
    ]
    real = divide(data, infer_schema(data, None), PRESETS["smoke"], Seed(0))
    real.sample()
    ((name, mask),) = real.learned_rows.items()
    assert mask[real.train.row[real.train.mask]].all()
    assert not mask[real.held_out.row[real.held_out.mask]].any()
    assert torch.equal(real.train.tables[name], real.data.tables[name])  # the masks are of these rows


# -- summaries ----------------------------------------------------------------------------------------


def test_means_over_the_types_that_have_a_value(three: tuple[GraphBatch, ...], learned: dict[str, Tensor]) -> None:
    for found in graph_features(*three, learned):
        types = found["by_type"]
        assert [metric for metric, value in types["place"].items() if value is not None] == ["column_error"]
        for metric in VALUES:
            known = [types[name][metric] for name in WITH_ROWS if types[name][metric] is not None]
            assert found[metric] == pytest.approx(np.mean(known))


def test_real_rows_are_taken_once_for_all_graphs() -> None:
    train, held_out = graphs(60, 0), graphs(60, 1)
    learned = {name: torch.arange(ROWS) % 2 == 0 for name in WITH_ROWS}
    rows = RealRows(train, held_out, learned, learned)
    one, other = rows.compared_with(graphs(20, 2)), rows.compared_with(graphs(20, 3))
    for name in WITH_ROWS:
        assert one[name].real is other[name].real
        assert one[name].sides is other[name].sides
        assert one[name].made is not other[name].made
    made, again = (rows.class_rows(graphs(20, seed)) for seed in (2, 3))
    assert all(here.real is there.real for here, there in zip(made, again, strict=True))
