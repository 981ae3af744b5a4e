"""What edges carry is generated: it depends on both ends, follows redrawn nodes, and is kept in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.utils import to_undirected

from carrying_graphs import EVERY, bonded, citations, friends, priced_shops, rng
from dignn import infer_schema
from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.features.bank import FeatureBank
from dignn.features.conditions import DataConditions, class_of_condition, condition_batch
from dignn.features.end_columns import end_columns
from dignn.features.ends import context_of_edges, training_edges
from dignn.features.settings import DiTabDDPMConfig, FeatureSettings, TabDDPMConfig
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.edge_tables import edge_values, own_cells
from dignn.graphs.schema import Schema
from dignn.sampling.forest_fire import forest_fire
from mixed_world import KINDS, SHOP, mixed_data

TARGETS = {"two types, one row": "shop", "two types, other rows back": "shop", "directed, more fields back": "paper"}
HASTE = TrainingConfig(steps=5, validate_every=5)
QUICK = FeatureSettings(
    ditabddpm=DiTabDDPMConfig(width=8, blocks=1, sampler_steps=3, training=HASTE, marginal_training=HASTE),
    tabddpm=TabDDPMConfig(width=8, blocks=1, sampler_steps=3, training=HASTE),
)


def world(name: str) -> tuple[Adjacency, GraphBatch]:
    data = EVERY[name]()
    target = TARGETS.get(name, None if isinstance(data, list) else "person")
    adjacency = Adjacency.build(data, infer_schema(data, target))
    return adjacency, forest_fire(adjacency, [5], 40, seed=Seed(0))


@pytest.mark.parametrize("features", ["ditabddpm", "tabddpm", "bootstrap", "independent"])
@pytest.mark.parametrize("name", EVERY)
def test_every_edge_gets_a_row_that_its_spec_allows(name: str, features: str) -> None:
    adjacency, graphs = world(name)
    settings = FeatureSettings(features, ditabddpm=QUICK.ditabddpm, tabddpm=QUICK.tabddpm)
    bank = FeatureBank(adjacency.schema, settings).fit(adjacency, None, graphs, seed=Seed(1))
    made = bank.fill(graphs, seed=Seed(2)).check()
    assert set(made.edge_tables) == set(adjacency.schema.generated_edges)
    for label, table in made.edge_tables.items():
        spec = adjacency.schema.generated_edges[label].spec
        for group in spec.groups:
            assert bool((table[:, list(group)].sum(1) == 1).all())
        assert bool(table.isfinite().all())
    again = bank.fill(graphs, seed=Seed(2))
    assert all(torch.equal(made.edge_tables[label], again.edge_tables[label]) for label in made.edge_tables)
    other = bank.fill(graphs, seed=Seed(3))
    assert any(not torch.equal(made.edge_tables[label], other.edge_tables[label]) for label in made.edge_tables)


def test_what_was_learned_is_kept(tmp_path: Path) -> None:
    adjacency, graphs = world("two types, one row")
    bank = FeatureBank(adjacency.schema, QUICK).fit(adjacency, None, graphs, seed=Seed(1))
    bank.save(tmp_path / "features.safetensors")
    loaded = FeatureBank(adjacency.schema, QUICK).load(tmp_path / "features.safetensors")
    one, other = (each.fill(graphs, seed=Seed(2)) for each in (bank, loaded))
    assert all(torch.equal(one.edge_tables[label], other.edge_tables[label]) for label in one.edge_tables)
    assert set(bank.report) == {"shop", "product", "shop -sells- product", "product -like- product"}
    with pytest.raises(DignnError, match="were not learned yet; call fit first"):
        FeatureBank(adjacency.schema, QUICK).fill_edges(graphs.without_features(), seed=Seed(0))


def likes(nodes: int = 240, seed: int = 0) -> Data:
    """A weight is 3 where both ends have the first interest, else 1, with a little noise."""
    x = (torch.rand(nodes, 4, generator=rng(seed)) < 0.5).float()
    pairs = (torch.rand(nodes, nodes, generator=rng(seed + 1)) < 6 / nodes).triu(1).nonzero().T
    weight = 1 + 2 * x[pairs[0], 0] * x[pairs[1], 0] + 0.05 * torch.randn(pairs.size(1), generator=rng(seed + 2))
    index, weight = to_undirected(pairs, weight)
    return Data(x=x, edge_index=index, edge_weight=weight, y=torch.arange(nodes) % 2)


@pytest.mark.parametrize("features", ["ditabddpm", "bootstrap"])
def test_rows_depend_on_the_features_of_both_ends(features: str) -> None:
    data = likes()
    adjacency = Adjacency.build(data, infer_schema(data, "person"))
    graphs = forest_fire(adjacency, [8], 120, seed=Seed(0))
    enough = TabDDPMConfig(width=64, blocks=1, sampler_steps=20, training=TrainingConfig(steps=250, validate_every=50))
    settings = FeatureSettings(features, tabddpm=enough, ditabddpm=QUICK.ditabddpm)
    bank = FeatureBank(adjacency.schema, settings).fit(adjacency, None, graphs, seed=Seed(1))
    made = bank.fill(graphs, seed=Seed(2))
    (label,) = made.edge_tables
    graph, source, target = cells = own_cells(made, made.node_type, label)
    first = made.tables["person"][made.row][..., 0]  # (B, N)
    both = first[graph, source] * first[graph, target] > 0
    weight = edge_values(made, label, cells)[:, 0]
    assert float(((weight > 2) == both).double().mean()) > 0.9
    assert abs(float(weight[both].mean()) - 3) < 0.35
    assert abs(float(weight[~both].mean()) - 1) < 0.35


def test_rows_depend_on_the_classes_of_both_ends_unless_generators_are_blind() -> None:
    """A weight is 3 where both ends are of one class, whichever, else 1; no feature tells the class."""
    data = likes()
    source, target = data.edge_index
    alike = data.y[source] == data.y[target]
    data.edge_weight = torch.where(alike, 3.0, 1.0) + 0.05 * (source + target).sin()
    adjacency = Adjacency.build(data, infer_schema(data, "person"))
    graphs = forest_fire(adjacency, [8], 120, seed=Seed(0))
    enough = TabDDPMConfig(width=48, blocks=1, sampler_steps=10, training=TrainingConfig(steps=120, validate_every=40))

    def right(**settings: Any) -> float:
        """Share of edges with the weight that the classes of their ends say."""
        bank = FeatureBank(adjacency.schema, FeatureSettings(tabddpm=enough, ditabddpm=QUICK.ditabddpm, **settings))
        made = bank.fit(adjacency, None, graphs, seed=Seed(1)).fill(graphs, seed=Seed(2))
        (label,) = made.edge_tables
        graph, one, other = cells = own_cells(made, made.node_type, label)
        alike = made.label[graph, one] == made.label[graph, other]
        return float(((edge_values(made, label, cells)[:, 0] > 2) == alike).double().mean())

    assert right() > 0.8
    assert right(one_model_per_class=True) < 0.7


def test_what_is_known_of_ends_does_not_depend_on_which_comes_first() -> None:
    data = friends()
    schema = infer_schema(data, "person")
    batch = Adjacency.build(data, schema).induced([list(range(20))])
    (label,) = schema.generated_edges
    graph, source, target = own_cells(batch, batch.node_type, label)
    around = condition_batch(batch)
    one = context_of_edges(batch, label, (graph, source, target), around)
    assert torch.equal(one, context_of_edges(batch, label, (graph, target, source), around))
    x = torch.cat([class_of_condition(around)[0], batch.tables["person"][batch.row[0]]], dim=1)
    assert torch.equal(one, torch.cat([x[source] + x[target], (x[source] - x[target]).abs()], dim=1))
    shops = infer_schema(priced_shops(), "shop")
    some = Adjacency.build(priced_shops(), shops).induced([list(range(100))])
    graph, source, target = cells = own_cells(some, some.node_type, "shop -sells- product")
    around = condition_batch(some)
    classes = class_of_condition(around)[0]
    ends = [
        (classes[end], some.tables[name][some.row[0, end]]) for name, end in (("shop", source), ("product", target))
    ]
    expected = torch.cat([part for end in ends for part in end], dim=1)
    assert torch.equal(context_of_edges(some, "shop -sells- product", cells, around), expected)


def test_what_is_known_of_mixed_ends_goes_by_what_their_columns_hold() -> None:
    x = mixed_data()["shop"].x
    data = friends()
    data.x = x.repeat(2, 1)[: data.num_nodes]
    schema = infer_schema(data, "person", names={"person": list(SHOP)}, kinds={"person": KINDS["shop"]})
    adjacency = Adjacency.build(data, schema)
    batch = forest_fire(adjacency, [6], 30, seed=Seed(0))
    (label,) = schema.generated_edges
    graph, source, target = cells = own_cells(batch, batch.node_type, label)
    around = condition_batch(batch)
    one, other = (
        torch.cat(
            [
                class_of_condition(around)[graph, end],
                end_columns(batch.tables["person"][batch.row[graph, end]], schema.spec("person")),
            ],
            dim=1,
        )
        for end in (source, target)
    )
    expected = torch.cat([one + other, (one - other).abs()], dim=1)
    assert bool(expected.isnan().any())
    torch.testing.assert_close(context_of_edges(batch, label, cells, around), expected, rtol=0, atol=0, equal_nan=True)
    bank = FeatureBank(schema, FeatureSettings("bootstrap")).fit(adjacency, None, batch, seed=Seed(1))
    assert bool(bank.fill(batch, seed=Seed(2)).check().edge_tables[label].isfinite().all())


def test_rows_are_learned_from_edges_between_learned_nodes() -> None:
    data = citations()
    adjacency = Adjacency.build(data, infer_schema(data, "paper"))
    (label,) = adjacency.schema.generated_edges
    learned = np.random.default_rng(0).random(60) < 0.7
    graphs = forest_fire(adjacency, [6], 60, seed=Seed(0))
    source, target = adjacency.edge_ends(label)
    allowed = {tuple(row) for row in adjacency.edge_tables[label][learned[source] & learned[target]].tolist()}
    for some in (graphs, None):
        table = training_edges(adjacency, learned, some, DataConditions(adjacency), label)
        assert table is not None
        assert {tuple(row) for row in table.rows.tolist()} <= allowed
    cells = own_cells(graphs, graphs.node_type, label)
    every = training_edges(adjacency, np.ones(60, dtype=bool), graphs, DataConditions(adjacency), label)
    assert every is not None
    assert float(every.weight.sum()) == len(cells[0])


def test_edges_of_redrawn_nodes_follow_and_all_others_stay() -> None:
    adjacency, graphs = world("a row each way")
    bank = FeatureBank(adjacency.schema, FeatureSettings("bootstrap")).fit(adjacency, None, graphs, seed=Seed(1))
    made = bank.fill(graphs, seed=Seed(2))
    marks = torch.zeros_like(made.mask)
    marks[:, 0] = True
    redrawn = bank.redraw(made, marks, seed=Seed(3))
    (label,) = made.edge_tables
    _graph, source, target = cells = own_cells(made, made.node_type, label)
    touched = (source == 0) | (target == 0)
    before, after = (edge_values(each, label, cells) for each in (made, redrawn))
    assert torch.equal(before[~touched], after[~touched])
    assert float((before[touched] != after[touched]).any(1).double().mean()) > 0.5
    nothing = bank.redraw(made, torch.zeros_like(marks), seed=Seed(3))
    assert torch.equal(edge_values(nothing, label, cells), before)


def test_edges_of_nodes_without_features_are_generated_by_class() -> None:
    """Graphs of class 1 have heavy edges, though nodes carry nothing."""
    graphs = bonded(number=60)
    for graph in graphs:
        graph.x = torch.ones(graph.num_nodes, 1)
        graph.edge_attr = int(graph.y) * 5 + torch.rand(graph.num_edges, 1, generator=rng())
    adjacency = Adjacency.build(graphs, infer_schema(graphs))
    some = forest_fire(adjacency, [5], 60, seed=Seed(0))
    bank = FeatureBank(adjacency.schema, FeatureSettings("bootstrap")).fit(adjacency, None, some, seed=Seed(1))
    made = bank.fill(some, seed=Seed(2))
    (label,) = made.edge_tables
    cells = own_cells(made, made.node_type, label)
    heavy = edge_values(made, label, cells)[:, 0] > 3
    assert torch.equal(heavy, made.graph_label[cells[0]] == 1)


def test_few_edges_are_repeated_as_they_are(caplog: pytest.LogCaptureFixture) -> None:
    data = HeteroData()
    data["paper"].x = (torch.rand(60, 4, generator=rng()) < 0.5).float()
    data["paper"].y = torch.arange(60) % 2
    every = torch.arange(60)
    data["paper", "cites", "paper"].edge_index = torch.stack([every, every.roll(1)])
    data["paper", "likes", "paper"].edge_index = torch.stack([every[:6], every[:6].roll(3)])
    data["paper", "likes", "paper"].edge_weight = torch.rand(6, generator=rng())
    schema: Schema = infer_schema(data, "paper")
    adjacency = Adjacency.build(data, schema)
    graphs = adjacency.induced([list(range(10))] * 3)
    bank = FeatureBank(schema, QUICK).fit(adjacency, None, graphs, seed=Seed(0))
    assert "only 6 feature rows of 'paper -likes- paper'" in caplog.text or "few" in caplog.text
    made = bank.fill(graphs, seed=Seed(1))
    real = adjacency.edge_tables["paper -likes- paper"]
    assert bool(torch.isin(made.edge_tables["paper -likes- paper"], real).all())
