"""The data of worlds: what a recipe says is in it, edges are simple, and same recipe, same bits."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.zoo.worlds.decks import SEVERAL_TYPES_SHAPES
from dignn.zoo.worlds.edge_columns import FIELD_OF
from dignn.zoo.worlds.furnishing import WorldData, furnish
from dignn.zoo.worlds.mixed_tables import DATE
from dignn.zoo.worlds.type_plans import OTHER_TABLES
from dignn.zoo.worlds.world_recipe import GRAPH_SIZES, WorldRecipe, recipe_of

FIRST_TWELVE = [recipe_of(number) for number in range(1, 13)]
RECIPES = [*FIRST_TWELVE, *(recipe_of(number) for number in (99, 100, 103))]


@cache
def made(number: int) -> WorldData:
    return furnish(recipe_of(number))


def graphs_of(data: WorldData) -> list[Data | HeteroData]:
    return data.graphs if isinstance(data.graphs, list) else [data.graphs]


def found(**properties: object) -> WorldRecipe:
    """The world of the first twelve with a property."""
    (recipe,) = [
        each for each in FIRST_TWELVE if all(getattr(each, name) == value for name, value in properties.items())
    ]
    return recipe


def targets(data: WorldData) -> Tensor:
    """Labels as the data has them."""
    if isinstance(data.graphs, list):
        return torch.cat([graph.y for graph in data.graphs])
    return data.graphs[data.target].y if isinstance(data.graphs, HeteroData) else data.graphs.y


def target_table(data: WorldData) -> Tensor:
    graph = graphs_of(data)[0]
    return graph[data.target].x if isinstance(graph, HeteroData) else torch.cat([each.x for each in graphs_of(data)])


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_counts_are_those_of_the_recipe(recipe: WorldRecipe) -> None:
    data = made(recipe.number)
    label, table = targets(data), target_table(data)
    assert len(label) == len(data.labels) == recipe.targets
    assert table.size(1) == recipe.columns
    sizes = data.labels.bincount()
    assert len(sizes) == recipe.classes
    assert sizes.min() > 0
    assert 0.7 * recipe.imbalance <= sizes.max() / sizes.min() <= 1.3 * recipe.imbalance + 0.3
    known = label >= 0
    assert torch.equal(label[known], data.labels[known])
    assert abs(float(known.float().mean()) - recipe.labelled) < 0.02
    together = torch.cat(list(data.splits.values()))
    assert torch.equal(together.sort().values, known.nonzero()[:, 0])
    assert set(data.labels[data.splits["train"]].tolist()) == set(range(recipe.classes))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_edges_are_simple_and_both_ways_alike(recipe: WorldRecipe) -> None:
    data = made(recipe.number)
    for graph in graphs_of(data)[:20]:
        if isinstance(graph, HeteroData):
            _check_typed(graph)
            continue
        pairs = list(map(tuple, graph.edge_index.T.tolist()))
        assert len(set(pairs)) == len(pairs)
        assert not graph.has_self_loops()
        if recipe.shape == "citations":
            assert not {(v, u) for u, v in pairs} & set(pairs)
            continue
        assert graph.is_undirected()
        if recipe.edges != "none":
            values = dict(zip(pairs, graph[FIELD_OF[recipe.edges]].tolist(), strict=True))
            assert all(values[v, u] == value for (u, v), value in values.items())


def _check_typed(graph: HeteroData) -> None:
    joined: dict[tuple[str, str], set[tuple[int, int]]] = {}
    for source, name, target in graph.edge_types:
        if name.startswith("rev_"):
            continue
        store, back = graph[source, name, target], graph[target, f"rev_{name}", source]
        assert torch.equal(store.edge_index, back.edge_index.flip(0))
        for field in ("edge_attr", "edge_weight"):
            assert (field in store) == (field in back)
            assert field not in store or torch.equal(store[field], back[field])
        pairs = set(map(tuple, store.edge_index.T.tolist()))
        assert len(pairs) == store.edge_index.size(1)
        assert not pairs & joined.setdefault((source, target), set())  # no pair of nodes has two relations
        joined[source, target] |= pairs
        if source == target:
            assert not {(v, u) for u, v in pairs} & pairs  # nor a loop


def test_the_first_twelve_have_every_kind_of_table() -> None:
    assert {other.table for recipe in FIRST_TWELVE for other in recipe.others} == set(OTHER_TABLES)
    assert {recipe.types for recipe in FIRST_TWELVE} >= {1, 2, 3, 20}
    assert {recipe.columns for recipe in FIRST_TWELVE} >= {1, 5000}
    assert {recipe.classes for recipe in FIRST_TWELVE} >= {2, 60}
    assert {recipe.imbalance for recipe in FIRST_TWELVE} >= {1, 200}


def test_edge_features_are_on_graphs_of_every_layout() -> None:
    with_edges = [recipe for recipe in FIRST_TWELVE if recipe.edges != "none"]
    assert any(recipe.of_graphs for recipe in with_edges)
    assert any(recipe.shape in SEVERAL_TYPES_SHAPES for recipe in with_edges)
    assert any(recipe.types == 1 and not recipe.of_graphs for recipe in with_edges)


def test_values_are_missing_in_some_classes_more_often() -> None:
    recipe = found(table="missing")
    data = made(recipe.number)
    x = target_table(data)
    if recipe.of_graphs:
        sizes = torch.tensor([graph.num_nodes for graph in graphs_of(data)])
        label = data.labels.repeat_interleave(sizes)
    else:
        label = data.labels
    rates = torch.stack([x[label == number].isnan().float().mean(0) for number in range(recipe.classes)])
    assert (rates.amax(0) - rates.amin(0)).max() > 0.1
    assert (x[:, -1] == x[0, -1]).all()  # and a column is constant


def test_a_mixed_table_has_a_date_codes_a_constant_and_gaps() -> None:
    recipe = found(table="mixed")
    data = made(recipe.number)
    (kinds,) = data.kinds.values()
    assert sorted(kinds.values()) == sorted([DATE, "categorical"])
    x = target_table(data)
    assert x.isnan().any()
    assert (x[:, 2] == x[0, 2]).all()


def test_codes_are_whole_numbers_of_which_it_is_said() -> None:
    data = made(found(table="codes").number)
    assert target_table(data).dtype == torch.int64
    assert list(data.kinds.values()) == ["categorical"]


def test_two_hubs_hold_a_tenth_of_all_edges_each() -> None:
    graph = made(found(shape="hubs").number).graphs
    degree = graph.edge_index[0].bincount().sort(descending=True).values
    assert (degree[:2] >= 0.09 * graph.edge_index.size(1) / 2).all()
    assert degree[2] < 0.03 * graph.edge_index.size(1) / 2


def test_one_target_in_a_thousand() -> None:
    data = made(found(shape="rare target").number)
    assert 900 <= data.graphs.num_nodes / data.graphs[data.target].num_nodes <= 1100


def test_a_tree_is_a_tree_and_islands_are_many() -> None:
    import networkx as nx

    tree, islands = (made(found(shape=shape).number).graphs for shape in ("tree", "islands"))
    assert nx.is_tree(nx.Graph(tree.edge_index.T.tolist()))
    assert nx.number_connected_components(nx.Graph(islands.edge_index.T.tolist())) > 20


def test_some_targets_are_joined_to_nothing() -> None:
    alone = [recipe for recipe in FIRST_TWELVE if recipe.isolated]
    assert alone
    for recipe in alone:
        data = made(recipe.number)
        degree = torch.zeros(recipe.targets)
        graph = data.graphs
        for kind in graph.edge_types if isinstance(graph, HeteroData) else [None]:
            if kind is None or kind[0] == data.target:
                index = graph.edge_index if kind is None else graph[kind].edge_index
                degree += index[0].bincount(minlength=recipe.targets)
        assert 0.5 * recipe.isolated < float((degree == 0).float().mean()) < 2 * recipe.isolated + 0.01


def test_graphs_have_the_sizes_that_are_said() -> None:
    for shape, (least, most) in GRAPH_SIZES.items():
        sizes = [graph.num_nodes for graph in graphs_of(made(found(shape=shape).number))]
        assert (min(sizes), max(sizes)) == (least, most)


def test_a_clue_is_where_it_is_said() -> None:
    """Of two worlds: a target's own row says nothing, the hidden class of its neighbours' rows does."""
    for recipe in FIRST_TWELVE:
        if recipe.clue == "two steps away" and recipe.table in ("binary", "count"):
            x, y = target_table(made(recipe.number)).numpy(), made(recipe.number).labels.numpy()
            means = np.stack([x[y == number].mean(0) for number in range(recipe.classes)])
            error = x.std(0) / np.sqrt(np.bincount(y).min())
            assert (np.abs(means - x.mean(0)) < 6 * error + 1e-6).all()


@pytest.mark.parametrize("number", [2, 4, 5, 9])
def test_same_recipe_same_bits(number: int) -> None:
    one, same = made(number), furnish(recipe_of(number))
    for graph, again in zip(graphs_of(one), graphs_of(same), strict=True):
        for store, other in zip(graph.stores, again.stores, strict=True):
            assert list(store) == list(other)
            for name, value in store.items():
                assert torch.equal(value.nan_to_num(7.5), other[name].nan_to_num(7.5)), name
    assert all(torch.equal(one.splits[part], same.splits[part]) for part in one.splits)


@pytest.mark.parametrize("recipe", FIRST_TWELVE, ids=lambda recipe: recipe.name)
def test_a_recipe_reads_in_one_line(recipe: WorldRecipe) -> None:
    assert "\n" not in recipe.summary
    assert recipe.table in recipe.summary
    assert f"{recipe.classes} classes" in recipe.summary
    assert recipe == recipe_of(recipe.number)
