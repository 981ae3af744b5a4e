"""Cycles of many graphs at once are those that are found one graph at a time."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dignn.evidence.cycles import LONGEST_CYCLE
from dignn.goes_by.ring_paths import rings_of
from strategies import PROPERTY


def cells(graphs: list[nx.Graph], size: int) -> np.ndarray:
    found = np.zeros((len(graphs), size, size), dtype=bool)
    for place, graph in enumerate(graphs):
        found[place, : len(graph), : len(graph)] = nx.to_numpy_array(graph, nodelist=range(len(graph))) > 0
    return found


@given(st.lists(st.tuples(st.integers(1, 12), st.sampled_from([0.1, 0.2, 0.5, 0.9])), max_size=4), st.integers(0, 99))
@settings(PROPERTY, max_examples=30)
def test_agrees_with_networkx(kinds: list[tuple[int, float]], seed: int) -> None:
    graphs = [nx.gnp_random_graph(size, density, seed=seed + place) for place, (size, density) in enumerate(kinds)]
    found = rings_of(cells(graphs, 12))
    assert list(found) == list(range(3, LONGEST_CYCLE + 1))
    for place, graph in enumerate(graphs):
        expected = sorted(sorted(cycle) for cycle in nx.chordless_cycles(graph, length_bound=LONGEST_CYCLE))
        mine = [path for numbers, paths in found.values() for path in paths[numbers == place].tolist()]
        assert sorted(sorted(path) for path in mine) == expected
        for path in mine:
            assert all(graph.has_edge(u, v) for u, v in zip(path, [*path[1:], path[0]], strict=True))


def test_a_graph_with_too_many_does_not_spoil_the_others() -> None:
    graphs = [nx.complete_bipartite_graph(20, 20), nx.cycle_graph(6)]
    found = rings_of(cells(graphs, 40))
    assert (found[4][0] == 0).sum() == 190 * 190
    assert found[6][0].tolist() == [1]
