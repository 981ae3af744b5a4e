"""The public sets of graph generation: their recipes, what is valid, and the metrics that people compare by."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from benchmarks.field import as_batch, good_graphs, of_sizes
from benchmarks.field_metrics import METRICS, Ratios, orbit_means, ratios, wavelet_energies, wavelets
from benchmarks.field_sets import FIELD, is_lobster, is_planar

from dignn.core.seeds import Seed
from dignn.graphs.isomorphism import kinds

# By number of edges and sorted degrees of a graphlet, the orbit of a node of each degree.
ORBITS = {
    (1, (1, 1)): {1: 0},
    (2, (1, 1, 2)): {1: 1, 2: 2},
    (3, (2, 2, 2)): {2: 3},
    (3, (1, 1, 2, 2)): {1: 4, 2: 5},
    (3, (1, 1, 1, 3)): {1: 6, 3: 7},
    (4, (2, 2, 2, 2)): {2: 8},
    (4, (1, 2, 2, 3)): {1: 9, 2: 10, 3: 11},
    (5, (2, 2, 3, 3)): {2: 12, 3: 13},
    (6, (3, 3, 3, 3)): {3: 14},
}


@pytest.mark.parametrize("name", FIELD)
def test_sets_are_what_their_recipes_say(name: str) -> None:
    train, validation, test = FIELD[name].divided(Seed(0))
    again = FIELD[name].divided(Seed(0))
    graphs = [*train, *validation, *test]
    assert [sorted(graph.edges) for graph in train] == [sorted(graph.edges) for graph in again[0]]
    assert (len(train), len(validation), len(test)) == ((128, 32, 40) if len(graphs) == 200 else (64, 16, 20))
    assert all(nx.is_connected(graph) for graph in graphs)
    least, most = {"lobster": (10, 100), "community-small": (12, 20)}.get(name, (64, 64))
    assert all(least <= len(graph) <= most for graph in graphs)
    valid = FIELD[name].valid
    assert valid is None or all(map(valid, graphs))
    edges = np.mean([2 * graph.number_of_edges() / len(graph) for graph in graphs])  # mean degree
    largest = np.mean([max(dict(graph.degree).values()) for graph in graphs])
    # A tree has 2 - 2 / n, a triangulation nearly 6, a community of 8 about .7 of 7; at most one leg has each joint.
    expected = {"tree": (1.97, 4.8), "planar": (5.57, 9.8), "lobster": (1.96, 3.0), "community-small": (5.0, 6.9)}
    assert (edges, largest) == pytest.approx(expected[name], rel=0.12)


def test_what_is_valid() -> None:
    arms = nx.Graph([(0, 10 * arm + 1) for arm in (1, 2, 3)])
    arms.add_edges_from((10 * arm + step, 10 * arm + step + 1) for arm in (1, 2, 3) for step in (1, 2, 3))
    assert not is_lobster(arms)  # three arms of four nodes: no path is left
    assert is_lobster(nx.star_graph(5))
    assert is_lobster(nx.path_graph(2))
    assert not is_lobster(nx.cycle_graph(5))
    assert is_planar(nx.grid_2d_graph(4, 4))
    assert not is_planar(nx.complete_graph(5))
    assert not is_planar(nx.disjoint_union(nx.path_graph(2), nx.path_graph(2)))


@pytest.mark.parametrize("seed", range(3))
def test_orbits_are_those_of_all_induced_graphlets(seed: int) -> None:
    graph = nx.gnp_random_graph(11, 0.35, seed=seed)
    found = np.zeros(15)
    for size in (2, 3, 4):
        for nodes in combinations(graph, size):
            part = graph.subgraph(nodes)
            if nx.is_connected(part):
                degree = dict(part.degree)
                orbit = ORBITS[part.number_of_edges(), tuple(sorted(degree.values()))]
                for number, times in Counter(orbit[each] for each in degree.values()).items():
                    found[number] += times
    np.testing.assert_allclose(orbit_means(graph), found / len(graph))


def test_wavelets_are_smooth_and_end_at_zero() -> None:
    value = np.linspace(0, 2, 20_001)
    found = wavelets(value)
    assert found.shape == (12, len(value))
    np.testing.assert_allclose(found[1:, 0], 0, atol=1e-12)  # but for the scaling function, which is largest there
    assert np.argmax(found[0]) == 0
    assert np.abs(np.diff(found, axis=1)).max() < 0.02
    assert (found[1:].argmax(1)[:-1] <= found[1:].argmax(1)[1:]).all()  # from coarse to fine


def test_wavelet_energies_are_those_of_the_operators() -> None:
    graph = nx.barbell_graph(5, 2)
    value, vector = np.linalg.eigh(nx.normalized_laplacian_matrix(graph).toarray())
    operators = [vector @ np.diag(kernel) @ vector.T for kernel in wavelets(value)]
    np.testing.assert_allclose(wavelet_energies(graph), [(one**2).sum(1) for one in operators], atol=1e-12)
    assert METRICS["wavelet"][0](graph).sum() == pytest.approx(1.0)
    assert len(METRICS["wavelet"][0](graph)) == 1200


def test_shares_of_a_complete_graph() -> None:
    """All its nodes have clustering 1, and its eigenvalues are 0 and n / (n - 1)."""
    clustering, spectrum = (METRICS[name][0](nx.complete_graph(5)) for name in ("clustering", "spectrum"))
    assert (clustering[-1], clustering[:-1].sum()) == (1.0, 0.0)
    assert spectrum[0] == pytest.approx(0.2)
    assert spectrum[125] == pytest.approx(0.8)  # 1.25 of 0 to 2 in 200 bins


def test_a_metric_without_a_floor_counts_for_nothing() -> None:
    assert Ratios({"degree": 0.3, "orbit": 0.1}, {"degree": 0.1, "orbit": 4e-5}).ratio == pytest.approx(3.0)


def test_ratios_tell_sets_apart() -> None:
    train, validation, test = FIELD["community-small"].divided(Seed(1))
    same, stars = ratios(train, test, test, 30, 0), ratios([nx.star_graph(14)] * 20, train, test, 1, 0)
    assert all(value == pytest.approx(0.0) for value in same.training.values())
    assert all(value > 0 for value in same.generated.values())
    assert ratios(validation, train, test, 1, 0).ratio < 5
    assert stars.ratio > 10
    assert set(same.training) == set(METRICS)


def test_an_mmd_by_hand() -> None:
    """One graph against one other: 2 - 2 k, with k of half the absolute differences of degree shares."""
    path, star = nx.path_graph(4), nx.star_graph(3)
    found = ratios([path], [star], [star], 1, 0)
    apart = 0.5 * (abs(0.5 - 0.75) + abs(0.5 - 0) + abs(0 - 0.25))
    assert found.generated["degree"] == pytest.approx(2 - 2 * np.exp(-(apart**2) / 2))
    assert found.training["degree"] == pytest.approx(0.0)


def test_further_graphs_have_the_sizes_that_are_asked_for() -> None:
    sizes = [12, 14, 12, 20]
    found = of_sizes(FIELD["community-small"].make, sizes, np.random.default_rng(0))
    assert sorted(map(len, found)) == sorted(sizes)


def test_good_graphs_are_valid_first_of_their_kind_and_new() -> None:
    known, made = (
        [nx.path_graph(5)],
        [nx.path_graph(5), nx.star_graph(4), nx.star_graph(4), nx.cycle_graph(5), nx.from_prufer_sequence([1, 1, 2])],
    )
    found = good_graphs("tree", made, kinds(as_batch([*known, *made])), 1)
    assert found["valid"] == pytest.approx(4 / 5)
    assert found["unique"] == pytest.approx(4 / 5)
    assert found["novel"] == pytest.approx(4 / 5)
    assert found["vun"] == pytest.approx(2 / 5)  # one star, and the last
    assert found["interval"][0] < 0.4 < found["interval"][1]
