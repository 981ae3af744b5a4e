"""Taking graphs apart, and what comes next when they are put together again."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from dignn.batch import GraphBatch
from dignn.runtime.seeds import Seed
from dignn.schema import Relation
from dignn.structure.growth_orders import Actions, Grown, grow, state_at
from dignn.structure.vocabulary import Vocabulary
from dignn.validity import connected
from strategies import PROPERTY, batch_of, batches, plain_schema

PLAIN = plain_schema()


def grown_from(graphs: GraphBatch, seed: int = 0) -> tuple[Vocabulary, Actions, Grown]:
    words = Vocabulary.of(graphs)
    grown = grow(*words.encode(graphs), graphs.graph_label, Seed(seed).torch())
    return words, Actions.of(words), grown


def whole(batch: GraphBatch) -> GraphBatch:
    return batch[connected(batch)]


@PROPERTY
@given(batches(min_graphs=1, max_graphs=4, min_nodes=1), st.integers(0, 99))
def test_a_growth_is_the_same_graph_and_every_prefix_is_connected(batch: GraphBatch, seed: int) -> None:
    graphs = whole(batch)
    if not len(graphs):
        return
    words, _, grown = grown_from(graphs, seed)
    again = words.decode(grown.nodes, grown.edges, grown.label).check()
    assert again.sizes.tolist() == graphs.sizes.tolist()
    for name in ("node_type", "label"):
        assert torch.equal(getattr(again, name).sort(1).values, getattr(graphs, name).sort(1).values)
    assert torch.equal((again.edge > 0).sum((1, 2)), (graphs.edge > 0).sum((1, 2)))
    for size in range(1, graphs.node_type.size(1) + 1):
        enough = graphs.sizes >= size
        prefix = words.decode(grown.nodes[enough, :size], grown.edges[enough, :size, :size], grown.label[enough])
        assert bool(connected(prefix).all())


@PROPERTY
@given(batches(min_graphs=1, max_graphs=4, min_nodes=1), st.integers(0, 99))
def test_there_is_one_decision_per_edge_and_the_next_edge_is_always_admissible(batch: GraphBatch, seed: int) -> None:
    graphs = whole(batch)
    if not len(graphs):
        return
    words, actions, grown = grown_from(graphs, seed)
    decisions = grown.decisions()
    edges = graphs.undirected.sum((1, 2)) // 2
    assert torch.equal(torch.bincount(decisions[:, 0], minlength=len(graphs)), edges)
    for newest in decisions[:, 1].unique().tolist():
        here = decisions[decisions[:, 1] == newest]
        state, target = state_at(grown, here, words, actions)
        assert state.nodes.shape == (len(here), newest + 1)
        assert bool(((target > 0) <= state.admissible(actions)).all())
        torch.testing.assert_close(target.sum((1, 2)), torch.ones(len(here)))
        # What has grown and what is to come make the whole graph.
        present = (state.edges > 0).sum((1, 2)) // 2
        assert torch.equal(present + state.remaining.sum(1) + state.extra, edges[here[:, 0]])
        assert torch.equal(state.remaining.sum(1) + newest + 1, graphs.sizes[here[:, 0]])
        assert bool(connected(words.decode(state.nodes, state.edges, state.label)).all())


def test_the_next_edge_is_uniform_over_the_boundary_and_further_edges_come_first() -> None:
    # A triangle 0-1-2 with a tail 2-3: seen from the state {0, 1} the next edges are 0-2 and 1-2.
    graph = batch_of(PLAIN, [0, 0, 0, 0], {(0, 1): 1, (1, 2): 1, (0, 2): 1, (2, 3): 1})
    words, actions, _ = grown_from(graph)
    nodes, edges = words.encode(graph)
    turn = torch.full((1, 4, 4), -1)
    turn[0, 0, 1] = turn[0, 1, 2] = turn[0, 2, 3] = 0
    turn[0, 0, 2] = 1
    grown = Grown(nodes, edges, turn, torch.tensor([[0, 1, 2, 1]]), graph.graph_label)
    assert grown.decisions().tolist() == [[0, 0, 0], [0, 1, 1], [0, 2, 1], [0, 2, 2]]
    attach, join = 0, 1
    assert (actions.attaches, actions.count) == (1, 2)
    expected = {
        (0, 0): {(0, attach): 1.0},  # node 0 has two edges to the outside, both the same action
        (1, 1): {(0, attach): 0.5, (1, attach): 0.5},
        (2, 1): {(0, join): 1.0},
        (2, 2): {(2, attach): 1.0},
    }
    for (newest, have), wanted in expected.items():
        state, target = state_at(grown, torch.tensor([[0, newest, have]]), words, actions)
        found = {(int(u), int(a)): float(target[0, u, a]) for u, a in target[0].nonzero()}
        assert found == pytest.approx(wanted)
        assert int(state.extra) == (1 if (newest, have) != (2, 2) else 0)
    state, _ = state_at(grown, torch.tensor([[0, 2, 1]]), words, actions)
    assert int((state.edges > 0).sum()) == 4  # the edge 0-2 has not come yet


def test_orders_start_anywhere_and_take_any_boundary_edge_with_equal_chance() -> None:
    # On the path a-b-c there are four orders: from an end 1/3 each, from the middle 1/6 each.
    schema = plain_schema(
        (Relation("a", "x", "b"), Relation("b", "y", "c")), node_types=("a", "b", "c"), classes=("one",)
    )
    graph = batch_of(schema, [0, 1, 2], {(0, 1): 1, (1, 2): 2})
    many = GraphBatch.cat([graph] * 6000)
    _, _, grown = grown_from(many, seed=3)
    counts = Counter(map(tuple, grown.nodes.tolist()))
    orders = [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)]
    assert set(counts) == set(orders)
    assert chisquare([counts[order] for order in orders], [2000, 2000, 1000, 1000]).pvalue > 1e-3


def test_further_edges_of_a_node_come_in_random_order() -> None:
    complete = {(i, j): 1 for i in range(4) for j in range(i + 1, 4)}
    many = GraphBatch.cat([batch_of(PLAIN, [0] * 4, complete)] * 3000)
    _, _, grown = grown_from(many)
    counts = Counter(tuple(row) for row in grown.turn[:, :3, 3].tolist())
    assert len(counts) == 6
    assert chisquare(list(counts.values())).pvalue > 1e-3


def test_actions_of_a_directed_relation_keep_the_orientation() -> None:
    cites = Relation("paper", "cites", "paper", directed=True)
    schema = plain_schema((cites,), node_types=("paper",))
    words = Vocabulary.of(batch_of(schema, [0, 0], {(0, 1): 1}))
    actions = Actions.of(words)
    assert actions.attaches == 2
    assert sorted(words.edges[e] for e in actions.attach_edge.tolist()) == [(0, 1), (1, 0)]
