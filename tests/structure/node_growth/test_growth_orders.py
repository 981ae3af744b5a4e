"""Taking graphs apart, and what comes next when they are put together again."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from dignn.core.seeds import Seed
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Relation
from dignn.graphs.validity import connected
from dignn.structure.node_growth.growth_decisions import decisions_of, targets_of
from dignn.structure.node_growth.growth_events import FAR, WALK, events_of
from dignn.structure.node_growth.growth_orders import Actions, Grown, grow
from dignn.structure.vocabulary import Vocabulary
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
def test_there_is_one_event_per_edge_and_the_next_one_is_always_admissible(batch: GraphBatch, seed: int) -> None:
    graphs = whole(batch)
    if not len(graphs):
        return
    words, actions, grown = grown_from(graphs, seed)
    events = events_of(grown, words, actions)
    edges = graphs.undirected.sum((1, 2)) // 2
    assert torch.equal(events.length, edges + 1)
    options, target = decisions_of(events).options(actions), targets_of(events, actions)
    number = options.number(target.graph, target.step, target.item)
    assert bool((number >= 0).all())
    assert bool(options.allowed[number, target.action].all())
    more = torch.arange(events.code.size(1)) < events.length[:, None] - 1  # events that another one follows
    total = torch.zeros(more.shape).index_put_((target.graph, target.step), target.weight, accumulate=True)
    torch.testing.assert_close(total, more.float())
    # The event that does follow is among the predicted ones.
    for graph, step in more.nonzero().tolist():
        action = int(events.code[graph, step + 1]) - words.node_count
        node = int(events.at[graph, step + 1])
        item = node if node < int(events.node[graph, step]) else events.tokens.size(1) - 1
        here = (target.graph == graph) & (target.step == step)
        assert bool((here & (target.item == item) & (target.action == action)).any())
    # What has grown and what is to come make the whole graph.
    here = torch.arange(more.size(1)) < events.length[:, None]
    to_come = events.remaining.sum(2) + events.extra
    assert torch.equal((to_come + torch.arange(more.size(1)))[here], edges[:, None].expand_as(to_come)[here])


@PROPERTY
@given(batches(min_graphs=1, max_graphs=3, min_nodes=1), st.integers(0, 99))
def test_what_the_newest_node_sees_is_what_is_there(batch: GraphBatch, seed: int) -> None:
    graphs = whole(batch)
    if not len(graphs):
        return
    words, actions, grown = grown_from(graphs, seed)
    events = events_of(grown, words, actions)
    for number in range(len(graphs)):
        graph = nx.Graph()
        graph.add_node(0)
        for step in range(int(events.length[number])):
            newest = int(events.node[number, step])
            if step:
                graph.add_edge(newest, int(events.at[number, step]))
            size = newest + 1
            far = nx.single_source_shortest_path_length(graph, newest)
            seen = {name: values[number, step, :size] for name, values in vars(events.relative).items()}
            assert seen["distance"].tolist() == [min(far[node], FAR) for node in range(size)]
            assert seen["degree"].tolist() == [graph.degree[node] for node in range(size)]
            assert seen["age"].tolist() == list(range(newest, -1, -1))
            kinds = [int(grown.edges[number, node, newest]) * graph.has_edge(node, newest) for node in range(size)]
            assert seen["kind"].tolist() == kinds
            adjacency = nx.to_numpy_array(graph, nodelist=range(size))
            walk = adjacency / np.maximum(adjacency.sum(1, keepdims=True), 1)
            powers = [np.linalg.matrix_power(walk, steps)[newest] for steps in range(2, WALK + 2)]
            np.testing.assert_allclose(seen["walk"].T.numpy(), powers, atol=1e-6)
            for node in seen["closed"].nonzero()[:, 0].tolist():
                complete = int((grown.edges[number, node] > 0).sum())
                assert graph.degree[node] == complete


def test_the_latest_node_that_lacks_an_edge_comes_next_and_further_edges_come_first() -> None:
    # A triangle 0-1-2 with a tail 2-3, grown in this order: 1 comes by 0, 2 by 1, then 2-0 closes, 3 comes by 2.
    graph = batch_of(PLAIN, [0, 0, 0, 0], {(0, 1): 1, (1, 2): 1, (0, 2): 1, (2, 3): 1})
    words, actions, _ = grown_from(graph)
    nodes, edges = words.encode(graph)
    turn = torch.full((1, 4, 4), -1)
    turn[0, 0, 1] = turn[0, 1, 2] = turn[0, 2, 3] = 0
    turn[0, 0, 2] = 1
    events = events_of(Grown(nodes, edges, turn, graph.graph_label), words, actions)
    attach, join = 0, 1
    assert (actions.attaches, actions.count) == (1, 2)
    assert events.node.tolist() == [[0, 1, 2, 2, 3]]
    assert events.code.tolist() == [[0, 1 + attach, 1 + attach, 1 + join, 1 + attach]]
    assert events.final.tolist() == [[True, True, False, True, True]]
    assert events.extra.tolist() == [[1, 1, 1, 0, 0]]
    target = targets_of(events, actions)
    found = dict(zip(target.step.tolist(), zip(target.item.tolist(), target.action.tolist(), strict=True), strict=True))
    # Items are nodes 0, 1 and 2 where they are earlier, and item 3 is the newest node.
    assert found == {0: (3, attach), 1: (3, attach), 2: (0, join), 3: (3, attach)}
    assert decisions_of(events).visible[0].long().tolist() == [
        [0, 0, 0, 1],
        [1, 0, 0, 1],
        [1, 1, 0, 1],
        [1, 1, 0, 1],
        [1, 1, 1, 1],
    ]
    assert events.last.tolist() == [[0, 1, 3, 4]]


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
    assert len(counts) == 2  # the last node came by the third; its edges to the two others in either order
    assert chisquare(list(counts.values())).pvalue > 1e-3


def test_actions_of_a_directed_relation_keep_the_orientation() -> None:
    cites = Relation("paper", "cites", "paper", directed=True)
    schema = plain_schema((cites,), node_types=("paper",))
    words = Vocabulary.of(batch_of(schema, [0, 0], {(0, 1): 1}))
    actions = Actions.of(words)
    assert actions.attaches == 2
    assert sorted(words.edges[e] for e in actions.attach_edge.tolist()) == [(0, 1), (1, 0)]
