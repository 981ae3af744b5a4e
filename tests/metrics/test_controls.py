"""Control sets: each is wrong in the way it says, and in no other."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation, Schema
from dignn.graphs.validity import check_validity
from dignn.metrics.controls import control_sets, random_trees
from dignn.sampling.forest_fire import forest_fire
from dignn.zoo.datasets.registry import load
from strategies import PROPERTY, batch_of, plain_schema, random_batch, schemas

NAMES = {"real_subgraphs", "random_trees", "column_noise", "shuffled_rows"}


@pytest.fixture(scope="module")
def real() -> tuple[GraphBatch, ...]:
    """Candidates (real graphs stand for them), training and held-out graphs."""
    dataset = load("planted")
    adjacency = Adjacency.build(dataset.data, dataset.schema)
    return tuple(forest_fire(adjacency, (8, 11), count, seed=Seed(count)) for count in (60, 100, 30))


@pytest.fixture(scope="module")
def controls(real: tuple[GraphBatch, ...]) -> dict[str, GraphBatch]:
    return control_sets(*real[:2], Seed(0))


def same_structure(one: GraphBatch, other: GraphBatch) -> bool:
    return all(torch.equal(getattr(one, name), getattr(other, name)) for name in ("node_type", "edge", "label"))


def rows_of(table: torch.Tensor) -> set[tuple[float, ...]]:
    return {tuple(row) for row in table.tolist()}


def test_all_four_and_every_promise_kept(real: tuple[GraphBatch, ...], controls: dict[str, GraphBatch]) -> None:
    assert set(controls) == NAMES
    assert {name: len(batch) for name, batch in controls.items()} == dict.fromkeys(NAMES, len(real[0]))
    for batch in controls.values():
        assert bool(check_validity(batch.check()).valid.all())
        for name in batch.schema.node_types:
            assert len(batch.features(name)) == int((batch.node_type == batch.schema.type_index(name)).sum())


def test_real_subgraphs_are_different_training_graphs(
    real: tuple[GraphBatch, ...], controls: dict[str, GraphBatch]
) -> None:
    train, drawn = real[1], control_sets(real[0][:20], real[1], Seed(1))["real_subgraphs"]
    known = [tuple(row) for row in train.row.tolist()]
    width = train.row.size(1)
    found = [tuple(row + [-1] * (width - len(row))) for row in drawn.row.tolist()]
    assert len(found) == len(set(found)) == 20
    assert set(found) <= set(known)
    assert drawn.tables is train.tables or all(drawn.tables[name] is train.tables[name] for name in drawn.tables)


def test_structure_is_that_of_some_candidates(real: tuple[GraphBatch, ...], controls: dict[str, GraphBatch]) -> None:
    assert same_structure(controls["column_noise"], controls["shuffled_rows"])
    everything = control_sets(*real[:2], Seed(0))
    assert same_structure(everything["column_noise"], real[0])
    assert controls["random_trees"].sizes.tolist() == controls["column_noise"].sizes.tolist()


def test_shuffled_rows_are_real_rows_as_often_as_in_training_graphs(real: tuple[GraphBatch, ...]) -> None:
    candidates, train, _ = real
    batch = control_sets(*real[:2], Seed(0))["shuffled_rows"]
    for code, name in enumerate(batch.schema.node_types):
        if not batch.schema.spec(name).generated:
            continue
        here, there = batch.row[batch.node_type == code], train.row[train.node_type == code]
        assert batch.tables[name] is train.tables[name]
        assert set(here.tolist()) <= set(there.tolist())
        made, expected = batch.features(name).mean(0), train.features(name).mean(0)
        deviation = (train.features(name).std(0) / len(here) ** 0.5).clamp(min=1e-6)
        assert float(((made - expected) / deviation).abs().max()) < 5
        assert not torch.equal(batch.features(name), candidates.features(name))


def test_column_noise_has_the_marginals_and_no_correlation() -> None:
    """Two equal columns stay equal in real rows and come apart in noise."""
    schema = plain_schema(features=(FeatureSpec(FeatureKind.COUNT, 2, levels=(4, 4)),), target="node")
    rng = np.random.default_rng(0)
    train = random_batch(schema, [6] * 300, rng)
    values = torch.tensor([0.0, 1.0, 3.0])[torch.arange(1000) % 3]
    train = replace(
        train, tables={"node": torch.stack([values, values], 1)}, row=torch.arange(1800).reshape(300, 6) % 4
    )
    sets = control_sets(train, train, Seed(0))
    noise, shuffled = sets["column_noise"].features("node"), sets["shuffled_rows"].features("node")
    assert bool((shuffled[:, 0] == shuffled[:, 1]).all())
    # rows 0 to 3 hold 0, 1, 3, 0: one half is 0 in each column
    for column in (0, 1):
        assert np.bincount(noise[:, column].long(), minlength=4) / 1800 == pytest.approx([0.5, 0.25, 0, 0.25], abs=0.05)
    assert float((noise[:, 0] == noise[:, 1]).double().mean()) == pytest.approx(0.25 + 2 / 16, abs=0.05)


def test_an_identity_type_draws_members() -> None:
    schema = plain_schema(features=(FeatureSpec(FeatureKind.IDENTITY, 5),))
    batch = random_batch(schema, [7] * 40, np.random.default_rng(0))
    for made in control_sets(batch, batch, Seed(0)).values():
        rows = made.features("node")
        assert bool((rows.sum(1) == 1).all() and (rows.max(1).values == 1).all())
        assert rows_of(rows) <= rows_of(batch.features("node"))


def test_types_without_features_keep_what_they_have() -> None:
    schema = plain_schema(features=(FeatureSpec(FeatureKind.NONE, 2, constant=(1.0, 2.0)),))
    batch = random_batch(schema, [5] * 20, np.random.default_rng(0))
    made = control_sets(batch, batch, Seed(0))
    for name in ("column_noise", "shuffled_rows"):
        assert torch.equal(made[name].row, batch.row)
        assert made[name].tables == {}
    assert bool((made["random_trees"].features("node") == torch.tensor([1.0, 2.0])).all())


def test_same_seed_same_bits_another_seed_others(real: tuple[GraphBatch, ...]) -> None:
    one, again, other = (control_sets(real[0][:30], real[1], Seed(number)) for number in (0, 0, 1))
    for name in NAMES:
        assert same_structure(one[name], again[name])
        assert torch.equal(one[name].row, again[name].row)
        for kind, table in one[name].tables.items():
            assert torch.equal(table, again[name].tables[kind])
    assert not torch.equal(one["random_trees"].edge, other["random_trees"].edge)
    assert not torch.equal(one["shuffled_rows"].row, other["shuffled_rows"].row)


def test_without_candidates_there_are_no_controls(real: tuple[GraphBatch, ...]) -> None:
    made = control_sets(real[0][:0], real[1], Seed(0))
    assert {name: len(batch.check()) for name, batch in made.items()} == dict.fromkeys(NAMES, 0)


# -- trees --------------------------------------------------------------------------------------------


@given(schemas(), st.integers(0, 2**16))
@PROPERTY
def test_trees_are_connected_and_consistent(schema: Schema, number: int) -> None:
    graphs = random_batch(schema, [6, 4, 5], np.random.default_rng(number))
    there = set(graphs.node_type[graphs.mask].tolist())
    first = there if schema.target is None else {schema.target_index}
    assume(first <= there)
    pairs = {(source, target) for source, target in np.argwhere(schema.allowed[:, :, 1:].any(2)).tolist()}
    if not any((one, other) in pairs for one in first for other in there):
        with pytest.raises(DignnError, match="leave its type alone"):
            random_trees(graphs, [1, 2, 7], seed=Seed(number))
        return
    trees = random_trees(graphs, [1, 2, 7], seed=Seed(number)).check()
    assert trees.sizes.tolist() == [1, 2, 7]
    for place, size in enumerate((1, 2, 7)):
        assert nx.is_tree(nx.from_numpy_array(trees.undirected[place, :size, :size].numpy()))
    assert bool(check_validity(trees).valid.all())
    if schema.target is not None:
        assert bool(trees.target_mask.any(1).all())


def test_labels_of_trees_are_as_frequent_as_in_training_graphs(real: tuple[GraphBatch, ...]) -> None:
    train = real[1]
    trees = random_trees(train, [8] * 400, seed=Seed(0))
    shares = [
        np.bincount(batch.label[batch.target_mask], minlength=batch.schema.num_classes) / int(batch.target_mask.sum())
        for batch in (train, trees)
    ]
    assert shares[1] == pytest.approx(shares[0], abs=0.06)


def test_labels_of_whole_graphs() -> None:
    schema = plain_schema(classes=("a", "b", "c"))
    graphs = GraphBatch.cat([batch_of(schema, [0, 0], {(0, 1): 1}, graph_label=label) for label in (2, 2, 2, 0, -1)])
    trees = random_trees(graphs, [3] * 400, seed=Seed(0))
    assert np.bincount(trees.graph_label, minlength=3) / 400 == pytest.approx([0.25, 0, 0.75], abs=0.07)
    assert bool((trees.label == -1).all())


def test_directed_relations_point_both_ways() -> None:
    schema = plain_schema((Relation("node", "cites", "node", directed=True),))
    trees = random_trees(batch_of(schema, [0, 0], {(0, 1): 1}), [6] * 100, seed=Seed(0)).check()
    forward = int(trees.edge.triu().sum())
    assert 150 < forward < 350
    assert int(trees.edge.sum()) == 500


def test_a_type_that_nothing_joins() -> None:
    schema = plain_schema((Relation("b", "to", "b", "to"),), node_types=("a", "b"), target="a")
    with pytest.raises(DignnError, match="leave its type alone"):
        random_trees(batch_of(schema, [0, 1], {}), [2], seed=Seed(0))
