"""Fresh worlds: other data by the same recipe, for data sets whose recipe is known."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from dignn.graphs.adjacency import Adjacency
from dignn.zoo.datasets import ba_3motif
from dignn.zoo.datasets.column_selection import select_columns
from dignn.zoo.datasets.registry import DATASETS, fresh_world, load


@pytest.mark.parametrize("name", ["planted", "ba-shapes", "tree-cycle", "tree-grids"])
def test_a_fresh_world_is_of_the_same_kind_and_another(name: str) -> None:
    dataset = load(name)
    one, other, again = (fresh_world(dataset, seed) for seed in (0, 1, 0))
    real = Adjacency.build(dataset.data, dataset.schema)
    first, second, same = (Adjacency.build(data, dataset.schema) for data in (one, other, again))
    assert np.array_equal(first.neighbour, same.neighbour)
    for fresh in (first, second):
        assert np.array_equal(np.bincount(fresh.node_type), np.bincount(real.node_type))
        assert len(fresh.neighbour) == pytest.approx(len(real.neighbour), rel=0.05)
        assert not np.array_equal(fresh.neighbour, real.neighbour)


def test_a_fresh_world_has_the_columns_that_were_selected() -> None:
    dataset = select_columns(load("planted"), {"author": 7})
    fresh = fresh_world(dataset, 0)
    assert fresh["author"].x.size(1) == 7
    whole = fresh_world(load("planted"), 0)
    assert torch.equal(fresh["author"].x, whole["author"].x[:, list(dataset.columns["author"])])


def test_nobody_knows_how_to_make_molecules() -> None:
    assert DATASETS["mutag"].fresh is None


def told(graphs: list[Data]) -> dict[str, list[float]]:
    """By class what the graphs are like: sizes, edges, degrees of base nodes and of the first motif's nodes."""
    found = {}
    for label in range(3):
        own = [graph for graph in graphs if int(graph.y) == label]
        degrees = [torch.bincount(graph.edge_index[0], minlength=graph.num_nodes)[:11].float() for graph in own]
        sizes = Counter(graph.num_nodes for graph in own)
        shares = [sizes[size] / len(own) for size in sorted(sizes)]
        edges = sum(graph.num_edges for graph in own) / len(own)
        found[str(label)] = [*shares, edges / 30, *(torch.stack(degrees).mean(0) / 5).tolist()]
    return found


@pytest.mark.skipif(not DATASETS["ba-3motif"].available, reason="needs BA-3Motif's file")
def test_made_graphs_are_like_those_of_the_file() -> None:
    made, real = told(ba_3motif.made(1)), told(load("ba-3motif").data)
    for label in made:
        assert made[label] == pytest.approx(real[label], abs=0.05)


def test_made_graphs_are_connected_and_contain_their_motifs() -> None:
    dataset = ba_3motif.make(seed=3)
    assert Counter(int(graph.y) for graph in dataset.data) == {0: 1000, 1: 1000, 2: 1000}
    assert sum(map(len, dataset.splits.values())) == 3000
    for graph in dataset.data[::100]:
        motif = dataset.truth.motifs[int(graph.y)][0]
        joined = set(map(tuple, graph.edge_index.T.tolist()))
        assert {(6 + u, 6 + v) for u, v in motif.edges} <= joined
        reached, border = {0}, {0}
        while border:
            border = {v for u, v in joined if u in border} - reached
            reached |= border
        assert len(reached) == graph.num_nodes
