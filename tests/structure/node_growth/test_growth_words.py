"""Words that say which part a node plays."""

from __future__ import annotations

from unittest import mock

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.core.errors import SchemaError
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Relation
from dignn.sampling.forest_fire import forest_fire
from dignn.structure.node_growth import growth_roles, growth_words
from dignn.structure.node_growth.growth_orders import Actions
from dignn.structure.node_growth.growth_roles import (
    DETAILS,
    TREE_DETAILS,
    Detail,
    heights_above_leaves,
    shortest_cycles,
)
from dignn.structure.node_growth.growth_words import GrowthWords
from dignn.structure.vocabulary import Vocabulary
from dignn.zoo.datasets.registry import load
from strategies import PROPERTY, batch_of, plain_schema

PLAIN = plain_schema()
GRID = {(0, 1): 1, (1, 2): 1, (3, 4): 1, (4, 5): 1, (6, 7): 1, (7, 8): 1} | {(i, i + 3): 1 for i in range(6)}


@pytest.fixture(scope="module")
def planted() -> GraphBatch:
    dataset = load("planted")
    return forest_fire(Adjacency.build(dataset.data, dataset.schema), (8, 10), 40, seed=Seed(0))


def told(graphs: GraphBatch, detail: Detail = DETAILS[0]) -> GrowthWords:
    plain = Vocabulary.of(graphs)
    return GrowthWords.told(plain, *plain.encode(graphs), detail)


def shortest(graph: nx.Graph, node: int, longest: int) -> int:
    """The shortest cycle through a node, found by taking away each of its edges."""
    found = []
    for neighbour in list(graph[node]):
        graph.remove_edge(node, neighbour)
        if nx.has_path(graph, node, neighbour):
            found.append(1 + nx.shortest_path_length(graph, node, neighbour))
        graph.add_edge(node, neighbour)
    return min((length for length in found if length <= longest), default=0)


@PROPERTY
@given(st.integers(2, 12), st.floats(0.05, 0.6), st.integers(3, 9), st.integers(0, 99))
def test_shortest_cycles_are_those_that_a_search_finds(size: int, density: float, longest: int, seed: int) -> None:
    graphs = [nx.gnp_random_graph(size, density, seed=seed + number) for number in range(3)]
    joined = torch.stack([torch.tensor(nx.to_numpy_array(graph)) > 0 for graph in graphs])
    expected = [[shortest(graph, node, longest) for node in range(size)] for graph in graphs]
    assert shortest_cycles(joined, longest).tolist() == expected
    with mock.patch.object(growth_roles, "_CELLS", 1):  # one graph at a time
        assert shortest_cycles(joined, longest).tolist() == expected


@PROPERTY
@given(st.integers(2, 14), st.floats(0.0, 0.3), st.integers(2, 5), st.integers(0, 99))
def test_heights_say_when_leaves_that_are_taken_away_reach_a_node(
    size: int, density: float, most: int, seed: int
) -> None:
    graph = nx.compose(nx.random_labeled_tree(size, seed=seed), nx.gnp_random_graph(size, density, seed=seed))
    left, expected = graph.copy(), [most] * size
    for height in range(1, most):
        leaves = [node for node, degree in left.degree if degree < 2]
        for node in leaves:
            expected[node] = height
        left.remove_nodes_from(leaves)
    joined = torch.tensor(nx.to_numpy_array(graph)) > 0
    padded = torch.nn.functional.pad(joined, (0, 2, 0, 2))
    assert heights_above_leaves(padded[None], most).tolist() == [[*expected, 0, 0]]


def test_heights_are_told_of_few_large_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of small ones they would tell next to all: every node has role 0 there."""
    monkeypatch.setattr(growth_words, "_ROOM", 10)
    boughs = [(i, i + 1) for i in range(5)] + [(i, 6 + i) for i in range(6)] + [(6, 12)]
    large = batch_of(PLAIN, [0] * 13, dict.fromkeys(boughs, 1))
    small = batch_of(PLAIN, [0] * 4, {(0, 1): 1, (1, 2): 1, (1, 3): 1})
    trees = GraphBatch.cat([large, small] * 10)
    words = GrowthWords.fitting(trees, torch.arange(4, 20), torch.arange(4))
    nodes, edges = words.encode(trees)
    roles = [words.roles[token] for token in nodes[0].tolist()]
    assert roles == [3, 3, 3, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1]
    assert [words.roles[token] for token in nodes[1][:4].tolist()] == [0] * 4
    assert words.misfits(nodes, edges).tolist() == [0] * len(trees)
    assert GrowthWords.from_json(words.to_json(), PLAIN) == words
    ring = GraphBatch.cat([trees, batch_of(PLAIN, [0] * 12, {(i, (i + 1) % 12): 1 for i in range(12)})])
    assert set(GrowthWords.fitting(ring, torch.arange(4, 20), torch.arange(4)).roles) <= {0, -1}


def test_corners_sides_and_the_centre_of_a_grid_are_different_words() -> None:
    grid = batch_of(PLAIN, [0] * 9, GRID)
    words = told(grid)
    nodes, _ = words.encode(grid)
    kinds = {
        name: {int(nodes[0, place]) for place in places}
        for name, places in {"corner": (0, 2, 6, 8), "side": (1, 3, 5, 7), "centre": (4,)}.items()
    }
    assert all(len(tokens) == 1 for tokens in kinds.values())
    assert words.node_count == 3
    assert [int(words.most_edges[kinds[name].pop()]) for name in ("corner", "side", "centre")] == [2, 3, 4]


def test_real_graphs_are_as_planned_and_others_are_not() -> None:
    grid = batch_of(PLAIN, [0] * 9, GRID)
    words = told(grid)
    nodes, edges = words.encode(grid)
    assert words.misfits(nodes, edges).tolist() == [0]
    edges[0, 0, 1] = edges[0, 1, 0] = 0
    assert words.misfits(nodes, edges).tolist() == [2]  # 0 and 1 lack an edge, and still lie on squares: 0 does not


def test_tokens_come_back_as_types_and_classes(planted: GraphBatch) -> None:
    words = told(planted)
    assert words.node_count > Vocabulary.of(planted).node_count
    again = words.decode(*words.encode(planted), planted.graph_label)
    for name in ("node_type", "label", "edge"):
        assert torch.equal(getattr(again, name), getattr(planted, name))
    assert bool(
        (words.most_edges[words.encode(planted)[0].clamp_min(0)] >= planted.undirected.sum(2))[planted.mask].all()
    )


def test_only_edges_that_nodes_of_a_kind_have_are_allowed(planted: GraphBatch) -> None:
    words = told(planted)
    nodes, edges = words.encode(planted)
    graph, u, v = edges.nonzero(as_tuple=True)
    assert bool(words.allowed[nodes[graph, u], nodes[graph, v], edges[graph, u, v]].all())
    assert Actions.of(words).attaches <= sum(map(len, words.ends))
    # Ends of this path have single bonds only, its middle has both kinds.
    bonds = plain_schema((Relation("c", "single", "c"), Relation("c", "double", "c")), node_types=("c",))
    words = told(batch_of(bonds, [0] * 4, {(0, 1): 1, (1, 2): 2, (2, 3): 1}))
    assert words.ends == ((1,), (1, 2))
    assert words.allowed.long().tolist() == [[[1, 1, 0], [1, 1, 0]], [[1, 1, 0], [1, 1, 1]]]


def test_words_keep_within_their_room(planted: GraphBatch, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Vocabulary.of(planted)
    many = told(planted)
    monkeypatch.setattr(growth_words, "_PAIRS", 20)
    few = told(planted)
    assert plain.node_count <= few.node_count < many.node_count
    nodes, edges = few.encode(planted)
    assert few.misfits(nodes, edges).tolist() == [0] * len(planted)
    assert -1 in few.roles  # the tokens of all other roles


def test_detail_is_told_as_far_as_plans_are_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_words, "FEW", 20)
    square = {(0, 1): 1, (1, 2): 1, (2, 3): 1, (3, 0): 1}
    same = GraphBatch.cat([batch_of(PLAIN, [0] * 5, square | {(3, 4): 1})] * 40)
    learning, validation = torch.arange(4, 40), torch.arange(4)
    assert GrowthWords.fitting(same, learning, validation).detail == DETAILS[0]
    # Rings with a random tree each: hardly two have the same degrees, and cycles tell nothing.
    shapes = [nx.random_labeled_tree(30, seed=seed) for seed in range(40)]
    rings = [[*tree.edges, (0, 30), (30, 31), (31, 32), (32, 0)] for tree in shapes]
    others = GraphBatch.cat([batch_of(PLAIN, [0] * 33, dict.fromkeys(ring, 1)) for ring in rings])
    assert GrowthWords.fitting(others, learning, validation).detail == Detail(0, 6)
    # Trees of many shapes have as many nodes of each height, now and then.
    trees = GraphBatch.cat([batch_of(PLAIN, [0] * 30, dict.fromkeys(tree.edges, 1)) for tree in shapes])
    assert GrowthWords.fitting(trees, learning, validation).detail == TREE_DETAILS[-2]
    # Stars and paths, at a triangle, in which every graph has a twin: by their degrees half of them would be known, and
    # all of those copies, so degrees are not told.
    monkeypatch.setattr(growth_words, "_COPIES", 0.4)
    arms = [[(0, i) for i in range(1, arm + 1)] + [(i, i + 1) for i in range(arm, 15)] for arm in range(1, 15)]
    corner = [(0, 16), (16, 17), (17, 0)]
    brooms = [batch_of(PLAIN, [0] * 18, dict.fromkeys(edges + corner, 1)) for edges in arms]
    mixed = GraphBatch.cat([*brooms[:6], *brooms[:3], *brooms[10:13], *brooms[:6], *brooms[:6]])
    found = GrowthWords.fitting(mixed, torch.tensor([*range(6), *range(12, 24)]), torch.arange(6, 12))
    assert found.detail == Detail(0, 6)
    monkeypatch.setattr(growth_words, "FEW", 100)
    assert GrowthWords.fitting(same, learning, validation).detail == DETAILS[-1]


def test_a_text_gives_the_same_words_back(planted: GraphBatch) -> None:
    words = told(planted)
    assert GrowthWords.from_json(words.to_json(), planted.schema) == words
    with pytest.raises(SchemaError, match="another schema"):
        GrowthWords.from_json(words.to_json(), PLAIN)
