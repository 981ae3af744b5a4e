"""Worlds: models learn what there is to learn, same seed, same bits, and the caller's random state stays as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from dignn.graphs.inference import infer_schema
from dignn.zoo.worlds.drawing import World, draw, draw_from
from dignn.zoo.worlds.edge_columns import FIELD_OF
from dignn.zoo.worlds.furnishing import furnish
from dignn.zoo.worlds.row_encoder import row_encoder
from dignn.zoo.worlds.world_recipe import recipe_of
from dignn.zoo.worlds.world_training import build_model

PLAIN = 12  # a world of one node type whose tables and edges every version can describe


@pytest.fixture(scope="module")
def world() -> World:
    return draw(PLAIN)


def test_a_model_is_much_better_than_the_majority(world: World) -> None:
    assert world.accuracy > world.majority + 0.2
    assert world.name == f"worlds-{PLAIN}"
    assert world.summary == recipe_of(PLAIN).summary


@pytest.mark.parametrize("number", [4, PLAIN])
def test_same_seed_same_weights_and_the_caller_keeps_its_own(number: int) -> None:
    first = draw_from(recipe_of(number), epochs=3)
    torch.rand(5)
    before = torch.random.get_rng_state()
    again = draw_from(recipe_of(number), epochs=3)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert again.accuracy == first.accuracy
    one, other = first.model.state_dict(), again.model.state_dict()
    assert list(one) == list(other)
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_the_dataset_describes_the_data(world: World) -> None:
    dataset = world.dataset
    assert dataset is world.dataset
    assert dataset.data is world.made.graphs
    assert dataset.schema == infer_schema(dataset.data)
    assert dataset.schema.num_classes == world.recipe.classes
    assert dataset.name == world.name
    assert set(dataset.splits) == {"train", "val", "test"}


@pytest.mark.parametrize("number", [2, 4, 5, 9])
def test_every_layout_trains(number: int) -> None:
    found = draw_from(recipe_of(number), epochs=2)
    assert not found.model.training
    assert 0 <= found.accuracy <= 1


@pytest.mark.parametrize("number", [2, 4, 5])
def test_a_model_goes_by_the_features_of_edges(number: int) -> None:
    recipe = recipe_of(number)
    made = furnish(recipe)
    model, field = build_model(recipe, made).eval(), FIELD_OF[recipe.edges]
    graph = made.graphs[0] if isinstance(made.graphs, list) else made.graphs
    several = recipe.types > 1
    given = (graph.x_dict, graph.edge_index_dict) if several else (graph.x, graph.edge_index)
    edges = graph.collect(field) if several else graph[field]
    other = {kind: value.flip(0) for kind, value in edges.items()} if several else edges.flip(0)
    with torch.no_grad():
        assert not torch.equal(model(*given, edges), model(*given, other))


def test_missing_values_are_read_as_missing() -> None:
    x = torch.tensor([[1.0, 5.0], [2.0, float("nan")], [3.0, 7.0]])
    encoder = row_encoder(x, (), 4)
    rows = encoder(x)
    assert rows.isfinite().all()
    filled = x.clone()
    filled[1, 1] = 6.0  # the mean of the column
    assert not torch.equal(encoder(filled)[1], rows[1])


def test_codes_have_no_order() -> None:
    codes = torch.tensor([[0], [1], [2]])
    encoder = row_encoder(codes, (0,), 4)
    assert isinstance(encoder, nn.Module)
    zero, one, two = encoder(codes)
    assert not torch.allclose(two - one, one - zero)


def test_a_wide_table_may_be_sparse() -> None:
    x = (torch.rand(7, 200, generator=torch.Generator().manual_seed(0)) < 0.1).float()
    encoder = row_encoder(x, (), 4)
    assert torch.allclose(encoder(x), encoder(x.to_sparse_csr()), atol=1e-6)


def test_a_recipe_can_be_changed() -> None:
    recipe = replace(recipe_of(PLAIN), targets=300, labelled=1.0)
    assert len(draw_from(recipe, epochs=1).made.labels) == 300
