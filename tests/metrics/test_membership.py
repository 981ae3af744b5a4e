"""Membership: copies are found, chance is told beside them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from dignn.core.seeds import Seed
from dignn.explainers.settings import RunSettings
from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.isomorphism import kinds
from dignn.metrics.membership import Membership, membership
from dignn.sampling.division import RealGraphs, divide
from dignn.zoo.datasets.registry import load


@pytest.fixture(scope="module")
def real() -> RealGraphs:
    dataset = load("planted")
    settings = RunSettings(sizes=(4, 8), subgraphs_per_size=150)
    found = divide(dataset.data, dataset.schema, settings, Seed(0))
    found.sample()
    return found


def of(graphs: GraphBatch, real: RealGraphs) -> Membership:
    return membership(graphs, real, seed=Seed(0))


def noise(graphs: GraphBatch) -> GraphBatch:
    """The same graphs with rows that nobody has."""
    rng = Seed(0).torch()
    tables = {name: torch.randint(2, 9, table.shape, generator=rng).float() for name, table in graphs.tables.items()}
    return replace(graphs, tables=tables)


def test_training_graphs_are_copies_and_their_learned_rows_too(real: RealGraphs) -> None:
    graphs = real.train[:40]
    found = of(graphs, real)
    assert found.graphs == 1.0
    shares = []
    for name in ("author", "paper", "term"):
        known = {tuple(row) for row in real.data.tables[name][real.learned_rows[name]].tolist()}
        rows = graphs.tables[name][graphs.row[graphs.node_type == graphs.schema.type_index(name)]].tolist()
        shares.append(sum(tuple(row) in known for row in rows) / len(rows))
    assert found.rows == pytest.approx(sum(shares) / 3)
    assert found.rows > 0.7
    assert found.held_out_rows is not None
    assert found.held_out_rows < 0.1
    assert found.nearer is not None
    assert found.held_out_nearer is not None
    assert found.nearer > found.held_out_nearer


def test_graphs_with_other_rows_are_copies_of_structure_alone(real: RealGraphs) -> None:
    found = of(noise(real.train[:40]), real)
    assert (found.graphs, found.rows) == (1.0, 0.0)


def test_classes_do_not_make_a_graph_another(real: RealGraphs) -> None:
    graphs = real.train[:10]
    assert of(replace(graphs, label=torch.where(graphs.label >= 0, 3 - graphs.label, PADDING)), real).graphs == 1.0


def test_held_out_graphs_are_compared_exactly(real: RealGraphs) -> None:
    both = GraphBatch.cat([real.train, real.held_out])
    first = kinds(replace(both, label=torch.full_like(both.label, PADDING)))[len(real.train) :]
    expected = sum(number < len(real.train) for number in first) / len(real.held_out)
    found = of(real.held_out, real)
    assert found.graphs == found.held_out_graphs == expected
    assert 0 < expected < 1  # graphs of four nodes repeat, those of eight hardly


def test_without_features_only_graphs_are_compared() -> None:
    dataset = load("ba-shapes")
    found = divide(dataset.data, dataset.schema, RunSettings(sizes=(5,), subgraphs_per_size=40), Seed(0))
    found.sample()
    told = of(found.train[:5], found)
    assert told.graphs == 1.0
    assert (told.rows, told.held_out_rows, told.nearer, told.held_out_nearer) == (None,) * 4
