"""MMD: the published values, networkx's histograms, and what a distance must satisfy."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from dignn.core.errors import DignnError
from dignn.graphs.plain_graph import PlainGraph
from dignn.metrics.measures.mmd import (
    KERNELS,
    Kernel,
    clustering_histogram,
    degree_histogram,
    mmd,
    mmds,
    present_type_histogram,
    spectral_histogram,
    type_histogram,
)

PARITY = os.environ.get("DIGNN_PARITY")
needs_parity = pytest.mark.skipif(not PARITY, reason="needs the published graphs; set DIGNN_PARITY to their folder")


@st.composite
def plain_graphs(draw: st.DrawFn) -> tuple[PlainGraph, nx.Graph]:
    size = draw(st.integers(1, 9))
    pairs = [(u, v) for u in range(size) for v in range(u, size)]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=20))
    types = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(edges)
    return PlainGraph.from_edges(size, edges, types), graph


@given(plain_graphs())
@settings(deadline=None, max_examples=30)
def test_histograms_agree_with_networkx(pair: tuple[PlainGraph, nx.Graph]) -> None:
    plain, graph = pair
    assert degree_histogram(plain).tolist() == nx.degree_histogram(graph)
    clustering = np.histogram(list(nx.clustering(graph).values()), bins=100, range=(0, 1))[0]
    assert clustering_histogram(plain).tolist() == clustering.tolist()
    values = np.linalg.eigvalsh(nx.normalized_laplacian_matrix(graph).toarray())
    expected = np.histogram(np.clip(np.round(values, 9), 0, 2), bins=200, range=(-1e-5, 2))[0]
    assert spectral_histogram(plain).tolist() == expected.tolist()


def test_absent_types_are_skipped_in_the_paper_layer_only() -> None:
    graph = PlainGraph.from_edges(3, [(0, 1)], [0, 2, 2])
    assert present_type_histogram(graph).tolist() == [1, 2]
    assert type_histogram(graph).tolist() == [1, 0, 2]


@pytest.mark.parametrize("layer", KERNELS)
@pytest.mark.parametrize("name", KERNELS["paper"])
def test_equal_sets_have_distance_zero_and_the_distance_is_symmetric(layer: str, name: str) -> None:
    metric = KERNELS[layer][name]
    trees = [PlainGraph.from_edges(n, [(i, i + 1) for i in range(n - 1)], [i % 2 for i in range(n)]) for n in (4, 5, 6)]
    rings = [PlainGraph.from_edges(n, [(i, (i + 1) % n) for i in range(n)], [0] * n) for n in (3, 4)]
    assert mmd(trees, trees, metric) == pytest.approx(0, abs=1e-12)
    assert mmd(trees, rings, metric) == pytest.approx(mmd(rings, trees, metric))
    assert mmd(trees, rings, metric) > 0


def test_kernel_uses_the_earth_movers_distance() -> None:
    one = PlainGraph.from_edges(4, [(0, 1), (1, 2), (2, 3)])
    other = PlainGraph.from_edges(4, [(0, 1), (0, 2), (0, 3)])
    a, b = degree_histogram(one), degree_histogram(other)
    distance = wasserstein_distance(range(len(a)), range(len(b)), a, b)
    assert mmd([one], [other], KERNELS["paper"]["degree"]) == pytest.approx(2 - 2 * np.exp(-(distance**2) / 2))


def test_empty_graphs_are_dropped_and_an_empty_set_has_no_distance() -> None:
    graph, empty = PlainGraph.from_edges(2, [(0, 1)]), PlainGraph.from_edges(0, [])
    metric = KERNELS["paper"]["degree"]
    assert mmd([graph, empty], [graph], metric) == pytest.approx(0, abs=1e-12)
    assert mmd([empty], [graph], metric) is None


def test_edges_and_types_are_checked() -> None:
    with pytest.raises(DignnError, match="names node 3, but the graph has 2 nodes"):
        PlainGraph.from_edges(2, [(0, 3)])
    with pytest.raises(DignnError, match="1 node types were given for 2 nodes"):
        PlainGraph.from_edges(2, [(0, 1)], [0])


def published(name: str) -> Any:
    return json.loads((Path(str(PARITY)) / name).read_text())


def plain(raw: dict[str, Any]) -> PlainGraph:
    return PlainGraph.from_edges(raw["n"], raw["edges"], raw.get("types"))


@needs_parity
def test_published_graphs_give_the_published_values() -> None:
    graphs, expected = published("graphs.json"), published("expected.json")["mmd"]
    names = {
        "spectral_clipped": ("paper", "spectral", 1e-6),
        "spectral_eigenvalue_units_sigma0.1_clipped": ("sound", "spectral", 1e-6),
        "spectral": ("paper", "spectral", 2e-3),
    }
    checked = 0
    for dataset, explainers in expected.items():
        real = [plain(raw) for raw in graphs["real"][dataset]]
        for explainer, metrics in explainers.items():
            sets = [[plain(raw) for raw in several] for several in graphs["explanations"][dataset][explainer].values()]
            for name, value in metrics.items():
                layer, key, tolerance = names.get(name, ("paper", name, 1e-6))
                found = [mmd(several, real, KERNELS[layer][key]) for several in sets]
                assert np.mean(found) == pytest.approx(value["mean"], abs=tolerance), (dataset, explainer, name)
                checked += 1
    assert checked >= 20


def test_a_graph_that_stands_for_many_classes_is_looked_at_once() -> None:
    looked_at: list[int] = []

    def histogram(graph: PlainGraph) -> np.ndarray:
        looked_at.append(len(graph))
        return type_histogram(graph)

    one, two, empty = (PlainGraph.from_edges(size, [], [size % 3] * size) for size in (2, 4, 0))
    kernel = Kernel(histogram, sigma=1.0)
    found = mmds([[one, two, empty]] * 50, [two], kernel)
    assert sorted(looked_at) == [2, 4]
    assert found == [mmd([one, two], [two], kernel)] * 50
