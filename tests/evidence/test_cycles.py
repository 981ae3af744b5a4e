"""Cycles agree with networkx, and do not depend on the order of nodes, however many there are."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dignn.evidence.cycles import LONGEST_CYCLE, MOST_CYCLES, chordless_cycles, on_cycle
from strategies import PROPERTY


def joined(graph: nx.Graph) -> torch.Tensor:
    return torch.from_numpy(nx.to_numpy_array(graph, nodelist=range(len(graph))) > 0)


@given(st.integers(1, 14), st.sampled_from([0.1, 0.2, 0.4, 0.8]), st.integers(0, 2**32 - 1))
@settings(PROPERTY, max_examples=40)
def test_agrees_with_networkx(size: int, density: float, seed: int) -> None:
    graph = nx.gnp_random_graph(size, density, seed=seed)
    expected = {frozenset(cycle) for cycle in nx.chordless_cycles(graph, length_bound=LONGEST_CYCLE)}
    found = chordless_cycles(joined(graph))
    assert {frozenset(cycle) for cycle in found} == expected
    assert len(found) == len(expected)
    for cycle in found:
        assert all(graph.has_edge(u, v) for u, v in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    blocks = [block for block in nx.biconnected_components(graph) if len(block) > 2]
    for node in graph:
        through = chordless_cycles(joined(graph), node)
        assert {frozenset(cycle) for cycle in through} == {nodes for nodes in expected if node in nodes}
        assert on_cycle(joined(graph), node) == any(node in block for block in blocks)


@pytest.mark.parametrize("length", [3, 8, 9, 10, 60])
def test_a_ring_with_a_tail(length: int) -> None:
    graph = nx.cycle_graph(length)
    graph.add_edges_from([(0, length), (length, length + 1)])
    assert [on_cycle(joined(graph), node) for node in graph] == [True] * length + [False] * 2
    assert len(chordless_cycles(joined(graph), 0)) == (length <= LONGEST_CYCLE)


def test_of_each_length_all_cycles_or_none() -> None:
    """Two sets of 40 nodes, all joined across, have more squares than are wanted; a triangle hangs on one of them."""
    graph = nx.complete_bipartite_graph(40, 40)
    graph.add_edges_from([(0, 80), (80, 81), (81, 0), (81, 82), (82, 83), (83, 84), (84, 81)])
    assert len(chordless_cycles(joined(graph), 82)) == 1
    assert len(chordless_cycles(joined(graph), 80)) == 1
    lengths = {len(cycle) for cycle in chordless_cycles(joined(graph), 1)}
    assert lengths == {4}
    assert len(chordless_cycles(joined(graph), 1)) == 39 * 40 * 39 / 2 > MOST_CYCLES
    order = np.random.default_rng(0).permutation(85)
    moved = nx.relabel_nodes(graph, {node: int(order[node]) for node in graph})
    assert len(chordless_cycles(joined(moved), int(order[0]))) == len(chordless_cycles(joined(graph), 0))
