"""BA-Shapes, Tree-Cycle and Tree-Grids: published counts, motifs in place, same seed same bits."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dignn.core.seeds import Seed
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from dignn.zoo.datasets.splits import stratified_split

NAMES = ("ba-shapes", "tree-cycle", "tree-grids")
NODES = {"ba-shapes": 700, "tree-cycle": 871, "tree-grids": 1231}
LABELS = {"ba-shapes": [300, 160, 160, 80], "tree-cycle": [511, 360], "tree-grids": [511, 720]}
BASE = {"ba-shapes": 300, "tree-cycle": 511, "tree-grids": 511}


def graph_of(dataset: Dataset) -> nx.Graph:
    return nx.Graph(dataset.data.edge_index.T.tolist())


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_published_counts(name: str, seed: int) -> None:
    dataset = load(name, seed=seed)
    data = dataset.data
    assert data.num_nodes == NODES[name]
    assert data.y.bincount().tolist() == LABELS[name]
    assert data.is_undirected()
    assert not data.has_self_loops()
    assert data.is_coalesced()
    assert torch.equal(data.x, torch.ones(data.num_nodes, 1))
    edges = data.edge_index.size(1) // 2
    if name == "tree-cycle":  # 930 edges, a second link for about half of 60 cycles, one percent more
        assert 1.01 * 930 - 1 <= edges <= 1.01 * 990
        assert edges > 1.01 * 930 + 5
    else:
        assert edges == {"ba-shapes": 2055, "tree-grids": 1705}[name]
    assert nx.is_connected(graph_of(dataset))


@pytest.mark.parametrize("name", NAMES)
def test_schema(name: str) -> None:
    schema = load(name).schema
    assert schema.node_types == ("node",)
    assert schema.target == "node"
    assert len(schema.relations) == 1
    assert schema.relations[0].symmetric
    classes = {
        "ba-shapes": ("base", "middle", "bottom", "top"),
        "tree-cycle": ("base", "cycle"),
        "tree-grids": ("base", "grid"),
    }
    assert schema.classes == classes[name]
    assert load(name).sizes == (10, 11, 12, 13, 14, 15)


@pytest.mark.parametrize("name", NAMES)
def test_every_motif_node_lies_in_a_motif_of_the_right_shape(name: str) -> None:
    dataset = load(name)
    labels = dataset.data.y.numpy()
    assert dataset.truth.motifs[0] == ()
    (motif,) = dataset.truth.motifs[1]
    pattern = nx.Graph(list(motif.edges))
    graph = graph_of(dataset)
    base, size = BASE[name], len(motif.node_types)
    for start in range(base, len(labels), size):
        copy = graph.subgraph(range(start, start + size))
        assert nx.isomorphism.GraphMatcher(copy, pattern).subgraph_is_monomorphic()
        assert graph.has_edge(start, (start - base) // size * (base // ((len(labels) - base) // size)))
    assert (labels[:base] == 0).all()
    assert (labels[base:] > 0).all()


def test_roles_in_a_house_are_told_by_the_shape() -> None:
    dataset = load("ba-shapes")
    (house,) = dataset.truth.motifs[1]
    inside = nx.Graph(list(house.edges))
    roles = dataset.data.y[300:305].tolist()
    for node, role in enumerate(roles):
        triangle = nx.triangles(inside, node) > 0
        assert role == (2 if not triangle else 1 if inside.degree(node) == 3 else 3)


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_bits(name: str) -> None:
    one, same, other = load(name, seed=5), load(name, seed=5), load(name, seed=6)
    assert torch.equal(one.data.edge_index, same.data.edge_index)
    assert all(torch.equal(one.splits[part], same.splits[part]) for part in one.splits)
    assert one.data.edge_index.shape != other.data.edge_index.shape or not torch.equal(
        one.data.edge_index, other.data.edge_index
    )
    assert not torch.equal(one.splits["test"], other.splits["test"])


@pytest.mark.parametrize("name", NAMES)
def test_split_is_80_10_10_in_every_class(name: str) -> None:
    dataset = load(name)
    for label, count in enumerate(LABELS[name]):
        for part, share in (("train", 0.8), ("val", 0.1), ("test", 0.1)):
            assert abs(int((dataset.data.y[dataset.splits[part]] == label).sum()) - share * count) <= 1.1


@settings(max_examples=50, deadline=None)
@given(labels=st.lists(st.integers(0, 3), max_size=60), seed=st.integers(0, 9))
def test_a_split_takes_every_item_once(labels: list[int], seed: int) -> None:
    if not labels:
        labels = [0]
    parts = stratified_split(np.array(labels), (0.6, 0.2, 0.2), Seed(seed))
    assert torch.cat(list(parts.values())).sort().values.tolist() == list(range(len(labels)))


def test_shares_must_sum_to_one() -> None:
    with pytest.raises(ValueError, match="do not sum to 1"):
        stratified_split(np.zeros(4, dtype=int), (0.5, 0.1, 0.1), Seed(0))
