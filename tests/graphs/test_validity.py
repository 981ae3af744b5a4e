"""Connected and consistent with the metagraph, against networkx and plain loops."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Relation
from dignn.graphs.validity import check_validity, components, connected, consistent
from strategies import PROPERTY, batch_of, batches, plain_schema, random_batch


@PROPERTY
@given(batches(max_graphs=4, max_nodes=9), st.integers(0, 2**32 - 1))
def test_connected_agrees_with_networkx(batch: GraphBatch, seed: int) -> None:
    thinned = torch.from_numpy(np.random.default_rng(seed).random(batch.edge.shape) < 0.4)
    batch = replace(batch, edge=batch.edge * (thinned | thinned.transpose(1, 2)))
    pieces = components(batch)
    for number, found in enumerate(connected(batch).tolist()):
        nodes = batch.mask[number].nonzero()[:, 0].tolist()
        graph = nx.Graph(batch.edge[number].nonzero().tolist())
        graph.add_nodes_from(nodes)
        assert found == (bool(nodes) and nx.is_connected(graph))
        groups = {frozenset((pieces[number] == each).nonzero()[:, 0].tolist()) for each in pieces[number, nodes]}
        assert groups == set(map(frozenset, nx.connected_components(graph)))
    assert (pieces[~batch.mask] == -1).all()


def test_long_paths_are_connected() -> None:
    for size in (1, 2, 3, 4, 5, 8, 9, 16, 17, 33):
        path = batch_of(plain_schema(), [0] * size, {(i, i + 1): 1 for i in range(size - 1)})
        assert connected(path).tolist() == [True]
        broken = replace(path, edge=path.edge.clone())
        if size > 1:
            broken.edge[0, size - 1, :] = broken.edge[0, :, size - 1] = 0
            assert connected(broken).tolist() == [False]


def test_one_direction_is_enough_to_connect() -> None:
    schema = plain_schema((Relation("a", "cites", "a", directed=True),), node_types=("a",))
    assert connected(batch_of(schema, [0, 0, 0], {(0, 1): 1, (2, 1): 1})).tolist() == [True]


def test_a_graph_without_nodes_is_not_connected() -> None:
    assert connected(batch_of(plain_schema(), [], {})).tolist() == [False]


def test_connected_does_not_depend_on_the_place_of_padding() -> None:
    schema = plain_schema()
    batch = GraphBatch.cat([batch_of(schema, [0, 0], {(0, 1): 1}), batch_of(schema, [0, 0, 0, 0], {(0, 1): 1})])
    moved = batch.permute(torch.tensor([[2, 0, 3, 1], [3, 2, 1, 0]]))
    assert connected(moved).tolist() == connected(batch).tolist() == [True, False]


@PROPERTY
@given(batches(max_graphs=4))
def test_real_graphs_are_consistent(batch: GraphBatch) -> None:
    assert consistent(batch).all()


@PROPERTY
@given(st.integers(0, 2**32 - 1))
def test_consistent_means_that_every_edge_joins_types_of_its_relation(seed: int) -> None:
    relations = (
        Relation("a", "to", "b"),
        Relation("b", "to", "b", "to"),
        Relation("c", "cites", "c", directed=True),
    )
    schema = plain_schema(relations, node_types=("a", "b", "c"))
    rng = np.random.default_rng(seed)
    batch = random_batch(schema, [4, 3, 0, 2, 4, 4], rng)
    wild = torch.from_numpy(rng.integers(0, 4, batch.edge.shape) * (rng.random(batch.edge.shape) < 0.1))
    wild = wild * batch.mask[:, :, None] * batch.mask[:, None, :]
    batch = replace(batch, edge=torch.where(wild > 0, wild, batch.edge))
    pairs = {("a", "b"): 1, ("b", "a"): 1, ("b", "b"): 2, ("c", "c"): 3}
    for number, found in enumerate(consistent(batch).tolist()):
        names = [schema.node_types[code] for code in batch.node_type[number].tolist()]
        cells = batch.edge[number].nonzero().tolist()
        assert found == all(pairs.get((names[u], names[v])) == batch.edge[number, u, v] for u, v in cells)


def test_relations_need_not_all_be_present() -> None:
    schema = plain_schema((Relation("a", "to", "b"), Relation("b", "to", "b", "to")), node_types=("a", "b"))
    assert consistent(batch_of(schema, [0, 1], {(0, 1): 1})).tolist() == [True]


def test_counts_are_those_of_the_papers_table() -> None:
    schema = plain_schema((Relation("a", "to", "b"),), node_types=("a", "b"))
    good, loose = batch_of(schema, [0, 1], {(0, 1): 1}), batch_of(schema, [0, 1], {})
    bad = batch_of(schema, [1, 1], {(0, 1): 1})
    validity = check_validity(GraphBatch.cat([good, loose, bad, good]))
    assert validity.valid.tolist() == [True, False, False, True]
    assert validity.counts() == {"generated": 4, "connected": 3, "valid": 2}
