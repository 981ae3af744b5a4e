"""Forest fire sampling: exact sizes, connected, reproducible, and with the distribution that it claims."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, geom
from torch_geometric.data import Data

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Layout, Relation
from dignn.sampling.forest_fire import HUB_DEGREE, forest_fire
from strategies import PROPERTY, arcs_of, batches, hetero, plain_schema, pyg_of, schemas

UNLIKELY = 1e-3  # what a chi-square test may say of a sampler that is right, at a fixed seed
SCHEMA = plain_schema(
    (Relation("start", "to", "other"), Relation("other", "to", "other", "to")),
    node_types=("start", "other"),
    target="start",
)


def star(leaves: int) -> Adjacency:
    """One node of the target type amid others."""
    edges = {("start", "to", "other"): [(0, leaf) for leaf in range(leaves)]}
    return Adjacency.build(hetero({"start": 1, "other": leaves}, edges), SCHEMA)


def of_networkx(graph: nx.Graph) -> Adjacency:
    """A homogeneous graph on nodes 0, 1, ..."""
    index = torch.tensor(list(graph.to_directed().edges), dtype=torch.long).reshape(-1, 2).T
    schema = plain_schema(target="node", layout=Layout.HOMOGENEOUS)
    return Adjacency.build(Data(num_nodes=len(graph), edge_index=index), schema)


def burned(batch: GraphBatch) -> list[list[int]]:
    """Row numbers of the nodes of each graph, in the order in which they caught fire."""
    return [[row for row in line if row >= 0] for line in batch.row.tolist()]


# -- every fire ---------------------------------------------------------------------------------------

LARGE = batches(schemas(node_classification=True), min_graphs=1, max_graphs=1, min_nodes=1, max_nodes=14)


@PROPERTY
@given(LARGE, st.integers(0, 99), st.floats(0.05, 1))
def test_fires_have_exact_size_are_connected_and_start_at_the_target(
    batch: GraphBatch, seed: int, probability: float
) -> None:
    adjacency = Adjacency.build(pyg_of(batch), batch.schema)
    sizes = [1, 2, 4]
    if not len(adjacency.targets):
        return
    graphs = forest_fire(adjacency, sizes, 3, seed=Seed(seed), burning_probability=probability)
    graphs.check()
    found = {size: int((graphs.sizes == size).sum()) for size in sizes}
    assert graphs.sizes.tolist() == [size for size in sizes for _ in range(found[size])]
    assert max(found.values()) <= 3
    for number in range(len(graphs)):
        nodes = range(int(graphs.sizes[number]))
        joined = nx.Graph((u, v) for _, u, v in arcs_of(graphs, number))
        joined.add_nodes_from(nodes)
        assert nx.is_connected(joined)
        assert bool(graphs.target_mask[number, 0])
        assert len({(int(graphs.node_type[number, i]), int(graphs.row[number, i])) for i in nodes}) == len(nodes)


@PROPERTY
@given(LARGE, st.integers(1, 9))
def test_a_size_is_found_exactly_if_a_start_has_such_a_component(batch: GraphBatch, size: int) -> None:
    adjacency = Adjacency.build(pyg_of(batch), batch.schema)
    joined = nx.Graph((u, v) for _, u, v in arcs_of(batch, 0))
    joined.add_nodes_from(range(batch.node_type.size(1)))
    starts = batch.target_mask[0].nonzero()[:, 0].tolist()
    possible = any(len(nx.node_connected_component(joined, start)) >= size for start in starts)
    if possible:
        assert forest_fire(adjacency, [size], 5, seed=Seed(0)).sizes.tolist() == [size] * 5
    else:
        with pytest.raises(DignnError):
            forest_fire(adjacency, [size], 5, seed=Seed(0))


def test_each_node_after_the_first_touches_one_before_it() -> None:
    adjacency = of_networkx(nx.gnm_random_graph(60, 90, seed=1))
    graphs = forest_fire(adjacency, [12], 50, seed=Seed(0))
    for number in range(len(graphs)):
        for node in range(1, 12):
            assert graphs.undirected[number, node, :node].any()


def test_directed_relations_are_followed_both_ways() -> None:
    schema = plain_schema((Relation("a", "cites", "a", directed=True),), node_types=("a",), target="a")
    adjacency = Adjacency.build(hetero({"a": 3}, {("a", "cites", "a"): [(1, 0), (2, 1)]}), schema)
    graphs = forest_fire(adjacency, [3], 4, seed=Seed(0), starts=np.array([0]))
    assert len(graphs) == 4
    assert set(map(tuple, burned(graphs))) == {(0, 1, 2)}


# -- seeds --------------------------------------------------------------------------------------------

GRAPH = nx.gnm_random_graph(80, 160, seed=3)


def test_same_seed_same_subgraphs() -> None:
    one, other = (forest_fire(of_networkx(GRAPH), [4, 7], 5, seed=Seed(1)) for _ in range(2))
    assert torch.equal(one.row, other.row)
    assert torch.equal(one.edge, other.edge)


def test_different_seeds_differ() -> None:
    one, other = (forest_fire(of_networkx(GRAPH), [4, 7], 5, seed=Seed(seed)) for seed in (1, 2))
    assert not torch.equal(one.row, other.row)


def test_sizes_do_not_depend_on_each_other() -> None:
    adjacency = of_networkx(GRAPH)
    both = burned(forest_fire(adjacency, [4, 7], 5, seed=Seed(1)))
    assert both[5:] == burned(forest_fire(adjacency, [7], 5, seed=Seed(1)))
    assert both == burned(forest_fire(adjacency, [7, 4], 5, seed=Seed(1)))[5:] + both[5:]


def test_sizes_do_not_repeat_each_other() -> None:
    small, large = (burned(forest_fire(of_networkx(GRAPH), [size], 20, seed=Seed(1))) for size in (4, 7))
    assert sum(one == other[:4] for one, other in zip(small, large, strict=True)) < 3


def test_asking_for_more_begins_with_the_same() -> None:
    adjacency = of_networkx(GRAPH)
    few, many = (burned(forest_fire(adjacency, [6], count, seed=Seed(1))) for count in (3, 8))
    assert many[:3] == few


# -- components that are too small --------------------------------------------------------------------

TWO_PATHS = nx.disjoint_union(nx.path_graph(3), nx.path_graph(6))


def test_starts_in_a_small_component_are_set_aside(caplog: pytest.LogCaptureFixture) -> None:
    graphs = forest_fire(of_networkx(TWO_PATHS), [5], 30, seed=Seed(0))
    assert len(graphs) == 30
    assert all(min(nodes) >= 3 for nodes in burned(graphs))
    assert not caplog.records


def test_a_size_without_any_start_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    graphs = forest_fire(of_networkx(TWO_PATHS), [3, 8], 4, seed=Seed(0))
    assert graphs.sizes.tolist() == [3] * 4
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith("0 of 4 subgraphs with 8 nodes")


def test_nothing_at_all_is_an_error() -> None:
    with pytest.raises(DignnError, match="has 7 nodes, the largest has 6; .* sizes= .* --sizes, up to 6"):
        forest_fire(of_networkx(TWO_PATHS), [8, 7], 4, seed=Seed(0))


def test_an_isolated_start_burns_alone() -> None:
    adjacency = Adjacency.build(hetero({"start": 1, "other": 4}), SCHEMA)
    assert burned(forest_fire(adjacency, [1], 2, seed=Seed(0))) == [[0], [0]]
    with pytest.raises(DignnError, match="No component"):
        forest_fire(adjacency, [2], 2, seed=Seed(0))


def test_isolated_starts_among_others_are_passed_over() -> None:
    graph = nx.path_graph(4)
    graph.add_nodes_from(range(4, 40))
    graphs = forest_fire(of_networkx(graph), [4], 20, seed=Seed(0))
    assert len(graphs) == 20
    assert all(set(nodes) == {0, 1, 2, 3} for nodes in burned(graphs))


def test_many_starts_in_one_component_that_is_too_small_cost_one_fire() -> None:
    adjacency = of_networkx(nx.path_graph(400))
    with pytest.raises(DignnError, match="No component"):  # a fire each would take minutes
        forest_fire(adjacency, [401], 1, seed=Seed(0))


# -- distributions ------------------------------------------------------------------------------------


def assert_uniform(chosen: list[int], options: int) -> None:
    counts = Counter(chosen)
    assert set(counts) <= set(range(options))
    assert chisquare([counts[option] for option in range(options)]).pvalue > UNLIKELY


@pytest.mark.parametrize("leaves", [20, HUB_DEGREE + 1, 3 * HUB_DEGREE], ids=["listed", "just a hub", "hub"])
def test_neighbours_are_chosen_uniformly(leaves: int) -> None:
    graphs = forest_fire(star(leaves), [5], 20 * leaves, seed=Seed(4))
    for position in range(1, 5):
        assert_uniform(graphs.row[:, position].tolist(), leaves)


@pytest.mark.parametrize("leaves", [8, HUB_DEGREE + 6], ids=["listed", "hub"])
def test_pairs_of_neighbours_are_chosen_uniformly(leaves: int) -> None:
    graphs = forest_fire(star(leaves), [3], 3 * leaves * leaves, seed=Seed(5))
    pairs = [u * leaves + v for u, v in np.sort(graphs.row[:, 1:].numpy(), axis=1).tolist()]
    counts = Counter(pairs)
    every = [counts[u * leaves + v] for u in range(leaves) for v in range(u + 1, leaves)]
    assert sum(every) == len(graphs)
    assert chisquare(every).pvalue > UNLIKELY


def test_a_hub_never_burns_a_neighbour_twice() -> None:
    graphs = forest_fire(star(HUB_DEGREE + 1), [HUB_DEGREE + 2, 40], 20, seed=Seed(6), burning_probability=0.01)
    for nodes in burned(graphs):
        assert len(set(nodes[1:])) == len(nodes) - 1


def test_starts_are_chosen_uniformly() -> None:
    graphs = forest_fire(of_networkx(nx.star_graph(19)), [2], 4000, seed=Seed(7))
    assert_uniform(graphs.row[:, 0].tolist(), 20)


def test_starts_that_can_work_are_chosen_uniformly_when_others_cannot() -> None:
    graph = nx.disjoint_union(nx.cycle_graph(10), nx.empty_graph(30))
    graphs = forest_fire(of_networkx(graph), [3], 3000, seed=Seed(8))
    assert_uniform(graphs.row[:, 0].tolist(), 10)


def test_only_given_starts_are_used() -> None:
    graphs = forest_fire(of_networkx(GRAPH), [3], 40, seed=Seed(0), starts=np.array([5, 9]))
    assert set(graphs.row[:, 0].tolist()) == {5, 9}


def balanced_tree(branches: int, twigs: int) -> Adjacency:
    """A start, its branches, and the twigs of each."""
    edges = {
        ("start", "to", "other"): [(0, branch) for branch in range(branches)],
        ("other", "to", "other"): [(b, branches + b * twigs + twig) for b in range(branches) for twig in range(twigs)],
    }
    return Adjacency.build(hetero({"start": 1, "other": branches * (twigs + 1)}, edges), SCHEMA)


@pytest.mark.parametrize("probability", [0.2, 0.4, 0.8])
@pytest.mark.parametrize("branches", [HUB_DEGREE // 2, 2 * HUB_DEGREE], ids=["listed", "hub"])
def test_the_number_of_neighbours_set_on_fire_is_geometric(probability: float, branches: int) -> None:
    """The first to burn are those that the start set on fire; then come twigs, which the first branch set on fire."""
    size, fires = 12, 3000
    graphs = forest_fire(balanced_tree(branches, 3), [size], fires, seed=Seed(9), burning_probability=probability)
    first = [next((i for i, row in enumerate(nodes[1:]) if row >= branches), size - 1) for nodes in burned(graphs)]
    counts = Counter(first)
    law = geom(probability)
    expected = [fires * law.pmf(k) for k in range(1, size - 1)] + [fires * law.sf(size - 2)]
    observed = [counts[k] for k in range(1, size)]
    while expected[-1] < 5:  # a chi-square test needs full bins
        expected[-2:], observed[-2:] = [sum(expected[-2:])], [sum(observed[-2:])]
    assert sum(observed) == fires
    assert chisquare(observed, np.array(expected) * fires / sum(expected)).pvalue > UNLIKELY


def test_with_burning_probability_one_each_node_sets_one_on_fire() -> None:
    """On a tree such a fire is a path away from its start, until it comes to a leaf."""
    tree = nx.balanced_tree(3, 6)
    graphs = forest_fire(of_networkx(tree), [6], 30, seed=Seed(0), starts=np.array([0]), burning_probability=1.0)
    for nodes in burned(graphs):
        assert nx.is_path(tree, nodes)


def test_with_a_tiny_burning_probability_everything_around_burns() -> None:
    graphs = forest_fire(balanced_tree(9, 3), [10], 20, seed=Seed(0), burning_probability=1e-9)
    assert all(set(nodes[1:]) == set(range(9)) for nodes in burned(graphs))


def test_a_fire_that_died_is_lit_again_beside_a_burned_node() -> None:
    """With probability one a fire on a star dies at its first leaf, and goes on from the centre."""
    graphs = forest_fire(star(9), [7], 10, seed=Seed(0), burning_probability=1.0)
    assert len(graphs) == 10
    assert all(len(set(nodes[1:])) == 6 for nodes in burned(graphs))


# -- graph classification -----------------------------------------------------------------------------


def test_fires_stay_inside_one_graph_and_carry_its_class() -> None:
    cycles = [nx.cycle_graph(size) for size in (5, 7, 9)]
    graphs = [
        Data(num_nodes=len(cycle), edge_index=torch.tensor(list(cycle.to_directed().edges)).T, y=number % 2)
        for number, cycle in enumerate(cycles)
    ]
    adjacency = Adjacency.build(graphs, plain_schema(layout=Layout.HOMOGENEOUS))
    owner = np.repeat([0, 1, 2], [5, 7, 9])
    found = forest_fire(adjacency, [5], 200, seed=Seed(0))
    owners = [set(owner[nodes]) for nodes in burned(found)]
    assert all(len(one) == 1 for one in owners)
    assert set().union(*owners) == {0, 1, 2}
    assert found.graph_label.tolist() == [min(one) % 2 for one in owners]


# -- bad arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"burning_probability": 0.0}, "The burning probability is 0.0"),
        ({"burning_probability": 1.5}, "The burning probability is 1.5"),
        ({"burning_probability": float("nan")}, "The burning probability is nan"),
        ({"sizes": []}, "give positive numbers"),
        ({"sizes": [3, 0]}, r"Sizes \[3, 0\] with 2 graphs each cannot be sampled"),
        ({"per_size": 0}, "give positive numbers"),
        ({"sizes": [3, 4, 3]}, r"Sizes \[3, 4, 3\] name one twice"),
        ({"starts": np.array([], dtype=np.int64)}, "There are no nodes to start from"),
        ({"starts": np.array([3, 80])}, "starts names a node that does not exist"),
        ({"starts": np.array([-1])}, "starts names a node that does not exist"),
    ],
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    options = {"sizes": [3], "per_size": 2} | options
    with pytest.raises(DignnError, match=message):
        forest_fire(of_networkx(GRAPH), seed=Seed(0), **options)


def test_a_graph_without_target_nodes() -> None:
    adjacency = Adjacency.build(hetero({"start": 0, "other": 3}), SCHEMA)
    with pytest.raises(DignnError, match="There are no nodes of type 'start' to start from"):
        forest_fire(adjacency, [1], 1, seed=Seed(0))
