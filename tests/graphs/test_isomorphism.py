"""Are two graphs the same? Against a plain isomorphism test of networkx that shares no code with ours."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.isomorphism import distinct, fingerprints, isomorphic
from dignn.graphs.schema import Relation
from strategies import PROPERTY, batch_of, batches, plain_schema, random_batch, schemas

PLAIN = plain_schema()
TYPED = plain_schema(
    (Relation("a", "to", "a", "to"), Relation("a", "cites", "a", directed=True), Relation("a", "with", "a", "with")),
    node_types=("a", "b"),
    target="a",
)


def cycle(*nodes: int) -> dict[tuple[int, int], int]:
    return dict.fromkeys(zip(nodes, [*nodes[1:], nodes[0]], strict=True), 1)


SIX_CYCLE = batch_of(PLAIN, [0] * 6, cycle(0, 1, 2, 3, 4, 5))
TWO_TRIANGLES = batch_of(PLAIN, [0] * 6, cycle(0, 1, 2) | cycle(3, 4, 5))


def torus(*steps: tuple[int, int]) -> GraphBatch:
    """A 4 x 4 torus whose nodes are joined when they differ by one of ``steps``."""
    nodes = [(x, y) for x in range(4) for y in range(4)]
    pairs = [
        (nodes.index(node), nodes.index(((node[0] + dx) % 4, (node[1] + dy) % 4))) for node in nodes for dx, dy in steps
    ]
    return batch_of(PLAIN, [0] * 16, dict.fromkeys(((min(pair), max(pair)) for pair in pairs), 1))


# Strongly regular with equal parameters: the same walks between nodes, and not the same graph.
ROOK = torus((0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0))
SHRIKHANDE = torus((0, 1), (1, 0), (1, 1))


def same(batch: GraphBatch, one: int, other: int) -> bool:
    """By networkx: a DiGraph with an arc for every cell, coloured by everything that counts."""
    graphs = []
    for number in (one, other):
        size = int(batch.sizes[number])
        graph = nx.DiGraph(label=int(batch.graph_label[number]))
        for node in range(size):
            graph.add_node(node, colour=(int(batch.node_type[number, node]), int(batch.label[number, node])))
        graph.add_edges_from(
            (u, v, {"relation": int(batch.edge[number, u, v])}) for u, v in batch.edge[number].nonzero().tolist()
        )
        graphs.append(graph)
    return graphs[0].graph == graphs[1].graph and nx.is_isomorphic(
        *graphs, node_match=lambda a, b: a == b, edge_match=lambda a, b: a == b
    )


def shuffled(batch: GraphBatch, seed: int) -> GraphBatch:
    count, size = batch.node_type.shape
    order = np.random.default_rng(seed).permuted(np.tile(np.arange(size), (count, 1)), axis=1)
    return batch.permute(torch.from_numpy(order))


@PROPERTY
@given(batches(), st.integers(0, 2**32 - 1))
def test_fingerprints_do_not_depend_on_the_order_of_nodes(batch: GraphBatch, seed: int) -> None:
    assert fingerprints(shuffled(batch, seed)) == fingerprints(batch)


@PROPERTY
@given(batches(min_graphs=1, max_graphs=1))
def test_fingerprints_do_not_depend_on_padding(batch: GraphBatch) -> None:
    larger = random_batch(batch.schema, [int(batch.sizes[0]) + 2], np.random.default_rng(0))
    assert fingerprints(GraphBatch.cat([batch, larger]))[0] == fingerprints(batch)[0]


@PROPERTY
@given(batches(min_graphs=1, max_graphs=4))
def test_fingerprints_do_not_depend_on_the_other_graphs(batch: GraphBatch) -> None:
    assert fingerprints(batch) == [fingerprints(batch[number])[0] for number in range(len(batch))]


@PROPERTY
@given(batches(min_graphs=1, max_graphs=1), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_padding_between_nodes_does_not_count(batch: GraphBatch, extra: int, seed: int) -> None:
    size = int(batch.sizes[0]) + extra
    padding = random_batch(batch.schema, [size], np.random.default_rng(0))
    spread = shuffled(GraphBatch.cat([replace(batch, tables={}), replace(padding, tables={})]), seed)
    assert fingerprints(spread)[0] == fingerprints(batch)[0]
    assert isomorphic(spread, batch)
    assert distinct(GraphBatch.cat([spread[:1], replace(batch, tables={})]), [1, 0]) == [1]


def test_fingerprints_are_the_same_on_every_machine() -> None:
    assert fingerprints(GraphBatch.cat([SIX_CYCLE, batch_of(PLAIN, [], {})])) == [
        "7f8320bb9a4bd07c",
        "5e41ab087439611e",
    ]


def test_many_graphs_are_refined_in_pieces() -> None:
    batch = random_batch(TYPED, [9] * 3000, np.random.default_rng(0))
    assert fingerprints(batch)[::700] == [fingerprints(batch[number])[0] for number in range(0, 3000, 700)]
    assert distinct(batch[list(range(600)) * 2], list(range(1200))) == distinct(batch[:600], list(range(600)))


@PROPERTY
@given(batches(min_graphs=1, max_graphs=1), st.integers(0, 2**32 - 1))
def test_a_graph_is_isomorphic_to_itself_in_any_order(batch: GraphBatch, seed: int) -> None:
    assert isomorphic(batch, shuffled(batch, seed))


@PROPERTY
@given(batches(schemas(), min_graphs=2, max_graphs=2, min_nodes=2, max_nodes=3))
def test_isomorphic_agrees_with_networkx(batch: GraphBatch) -> None:
    expected = same(batch, 0, 1)
    assert isomorphic(batch[0], batch[1]) == expected
    assert not expected or len(set(fingerprints(batch))) == 1


@PROPERTY
@given(st.integers(0, 2**32 - 1))
def test_distinct_keeps_one_of_each_kind(seed: int) -> None:
    rng = np.random.default_rng(seed)
    batch = random_batch(replace(TYPED, classes=("x",)), [3] * 25, rng)
    order = rng.permutation(25).tolist()
    expected: list[int] = []
    for number in order:
        if not any(same(batch, number, other) for other in expected):
            expected.append(number)
    assert distinct(batch, order) == expected


def test_closed_walks_tell_graphs_apart_that_colour_refinement_cannot() -> None:
    assert fingerprints(SIX_CYCLE) != fingerprints(TWO_TRIANGLES)
    assert not isomorphic(SIX_CYCLE, TWO_TRIANGLES)


def test_distinct_tells_graphs_apart_that_fingerprints_cannot() -> None:
    both = GraphBatch.cat([ROOK, SHRIKHANDE, shuffled(ROOK, 0), shuffled(SHRIKHANDE, 1)])
    assert len(set(fingerprints(both))) == 1
    assert distinct(both, [0, 1, 2, 3]) == [0, 1]
    assert isomorphic(ROOK, shuffled(ROOK, 2))
    assert not isomorphic(ROOK, SHRIKHANDE)


def test_long_cycles_are_told_apart_exactly() -> None:
    one = batch_of(PLAIN, [0] * 20, cycle(*range(9)) | cycle(*range(9, 20)))
    other = batch_of(PLAIN, [0] * 20, cycle(*range(10)) | cycle(*range(10, 20)))
    assert not isomorphic(one, other)
    assert isomorphic(one, shuffled(one, 0))


def test_the_first_of_the_order_is_kept_and_the_limit_obeyed() -> None:
    batch = GraphBatch.cat([SIX_CYCLE, shuffled(SIX_CYCLE, 1), TWO_TRIANGLES, batch_of(PLAIN, [0], {})])
    assert distinct(batch, [3, 1, 0, 2]) == [3, 1, 2]
    assert distinct(batch, [3, 1, 0, 2], limit=2) == [3, 1]
    assert distinct(batch, [3, 1, 0, 2], limit=0) == []
    assert distinct(batch, []) == []


BASE = batch_of(TYPED, [0, 0, 1], {(0, 1): 1})


@pytest.mark.parametrize(
    "other",
    [
        batch_of(TYPED, [0, 0, 0], {(0, 1): 1}),
        batch_of(TYPED, [0, 0, 1], {(0, 1): 1}, labels={0: 1}),
        batch_of(TYPED, [0, 0, 1], {(0, 1): 3}),
        batch_of(TYPED, [0, 0, 1], {(0, 1): 2}),
        batch_of(TYPED, [0, 0, 1], {}),
        batch_of(TYPED, [0, 0, 1], {(0, 1): 1}, graph_label=1),
        batch_of(TYPED, [0, 0, 1, 1], {(0, 1): 1}),
    ],
    ids=["type", "label", "relation", "direction", "edge", "graph label", "size"],
)
def test_what_counts(other: GraphBatch) -> None:
    assert fingerprints(BASE) != fingerprints(other)
    assert not isomorphic(BASE, other)


def test_orientations_count() -> None:
    into = batch_of(TYPED, [0, 0, 0], {(0, 1): 2, (2, 1): 2})
    out = batch_of(TYPED, [0, 0, 0], {(1, 0): 2, (1, 2): 2})
    mutual = batch_of(TYPED, [0, 0, 0], {(0, 1): 2, (1, 0): 2, (2, 1): 2})
    assert len({fingerprints(batch)[0] for batch in (into, out, mutual)}) == 3
    assert distinct(GraphBatch.cat([into, out, mutual]), [0, 1, 2]) == [0, 1, 2]


def test_features_do_not_count() -> None:
    schema = plain_schema(features=(FeatureSpec(FeatureKind.BINARY, 1),))
    batch = random_batch(schema, [4], np.random.default_rng(0))
    other = replace(batch, tables={"node": 1 - batch.tables["node"]})
    assert fingerprints(batch) == fingerprints(other)
    assert isomorphic(batch, other)
