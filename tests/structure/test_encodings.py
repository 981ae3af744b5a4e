"""Encodings are compared with enumeration and with networkx."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import networkx as nx
import numpy as np
import pytest
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.structure.encodings import components, cycle_counts, spectral_features, symmetric_walk


def random_graphs(count: int, size: int, density: float, seed: int = 0) -> Tensor:
    upper = (torch.rand(count, size, size, generator=Seed(seed).torch()) < density).float().triu(1)
    return upper + upper.transpose(1, 2)


def networks(adjacency: Tensor) -> list[nx.Graph]:
    return [nx.from_numpy_array(one.numpy()) for one in adjacency]


def named(*graphs: nx.Graph) -> Tensor:
    return torch.stack([torch.from_numpy(nx.to_numpy_array(graph, dtype=np.float32)) for graph in graphs])


MIXED = [(size, density) for size in (1, 2, 5, 8) for density in (0.15, 0.4, 0.8)]


# -- cycles -------------------------------------------------------------------------------------------


def enumerated(graph: nx.Graph, length: int) -> set[tuple[int, ...]]:
    """Every cycle once: smallest node first, the smaller of its two neighbours second."""
    return {
        walk
        for walk in permutations(graph, length)
        if walk[0] == min(walk)
        and walk[1] < walk[-1]
        and all(graph.has_edge(*pair) for pair in zip(walk, walk[1:] + walk[:1], strict=True))
    }


@pytest.mark.parametrize(("size", "density"), [(5, 0.5), (6, 0.6), (7, 0.35), (7, 0.8), (8, 0.3), (8, 0.6), (7, 1.0)])
def test_cycles_are_counted_exactly(size: int, density: float) -> None:
    adjacency = random_graphs(3, size, density)
    node, graph = cycle_counts(adjacency)
    for number, network in enumerate(networks(adjacency)):
        cycles = {length: enumerated(network, length) for length in (3, 4, 5, 6) if length <= size}
        assert graph[number].tolist() == [len(cycles.get(length, ())) for length in (3, 4, 5, 6)]
        for place in range(size):
            through = [sum(place in cycle for cycle in cycles.get(length, ())) for length in (3, 4, 5)]
            assert node[number, place].tolist() == through


def test_cycles_of_a_large_dense_graph() -> None:
    """K30 in closed form; closed walks of length 6 are too many for float32."""
    size = 30
    node, graph = cycle_counts(named(nx.complete_graph(size)).double())
    falling = [int(np.prod(range(size - length + 1, size + 1))) // (2 * length) for length in (3, 4, 5, 6)]
    assert graph.tolist() == [falling]
    assert node[0, 0].tolist() == [length * falling[i] / size for i, length in enumerate((3, 4, 5))]


# -- spectrum -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "density"), MIXED)
def test_eigenvalues_and_components(size: int, density: float) -> None:
    adjacency = random_graphs(5, size, density)
    node, graph = spectral_features(adjacency, values=4, vectors=1)
    for number, network in enumerate(networks(adjacency)):
        parts = list(nx.connected_components(network))
        value = np.linalg.eigvalsh(nx.laplacian_matrix(network).toarray().astype(float))
        value = value[value > 1e-8][:4]
        expected = [len(parts), *value, *[0.0] * (4 - len(value))]
        assert graph[number].tolist() == pytest.approx(expected, abs=1e-5)
        longest = max(len(part) for part in parts)
        inside = {place for part in parts if len(part) == longest for place in part}
        assert node[number, :, 0].tolist() == [float(place in inside) for place in range(size)]


def test_entries_of_simple_eigenvalues_are_the_eigenvectors() -> None:
    path = nx.path_graph(7)  # all eigenvalues differ
    node, _ = spectral_features(named(path), vectors=3)
    _, vector = np.linalg.eigh(nx.laplacian_matrix(path).toarray().astype(float))
    np.testing.assert_allclose(node[0, :, 1:], np.abs(vector[:, 1:4]), atol=1e-6)


@pytest.mark.parametrize("graph", [nx.cycle_graph(6), nx.complete_graph(6), nx.octahedral_graph()])
def test_nodes_that_a_symmetry_exchanges_have_equal_features(graph: nx.Graph) -> None:
    node, _ = spectral_features(named(graph))
    torch.testing.assert_close(node, node[:, :1].expand_as(node), atol=1e-6, rtol=0)
    torch.testing.assert_close(node.square().sum(1)[:, 1:], torch.ones(1, 2))


def test_without_edges_there_is_no_spectrum() -> None:
    node, graph = spectral_features(torch.zeros(2, 4, 4), values=3)
    assert graph.tolist() == [[4.0, 0.0, 0.0, 0.0]] * 2
    assert node.tolist() == [[[1.0, 0.0, 0.0]] * 4] * 2


# -- walks, components ---------------------------------------------------------------------


@pytest.mark.parametrize(("size", "density"), MIXED)
def test_walks(size: int, density: float) -> None:
    adjacency = random_graphs(4, size, density)
    symmetric = symmetric_walk(adjacency, 4)
    for number, one in enumerate(adjacency.double().numpy()):
        degree = np.maximum(one.sum(1), 1)
        for power in range(1, 5):
            half = one / np.sqrt(np.outer(degree, degree))
            np.testing.assert_allclose(
                symmetric[number, :, :, power - 1], np.linalg.matrix_power(half, power), atol=1e-6
            )
    torch.testing.assert_close(symmetric, symmetric.transpose(1, 2))


@pytest.mark.parametrize(("size", "density"), [*MIXED, (40, 0.03)])
def test_components(size: int, density: float) -> None:
    adjacency = random_graphs(5, size, density)
    same, part_size, count = components(adjacency)
    for number, network in enumerate(networks(adjacency)):
        parts = list(nx.connected_components(network))
        assert count[number] == len(parts)
        for part in parts:
            for i in part:
                assert set(same[number, i].nonzero().flatten().tolist()) == part
                assert part_size[number, i] == len(part)


def test_a_long_path_is_one_component() -> None:
    for size in (17, 18, 33, 40):
        assert components(named(nx.path_graph(size)))[2].item() == 1


# -- all of them --------------------------------------------------------------------------------------


def shuffled(value: Tensor, order: Tensor, size: int) -> Tensor:
    """Reorders the node axes of a result: those of length N behind the batch."""
    for axis in (1, 2):
        if value.dim() > axis and value.size(axis) == size:
            value = value.index_select(axis, order)
    return value


@pytest.mark.parametrize("density", [0.1, 0.25, 0.6])
@pytest.mark.parametrize(
    "encoding",
    [
        cycle_counts,
        spectral_features,
        lambda adjacency: (symmetric_walk(adjacency, 3),),
        components,
    ],
)
def test_reordering_nodes_reorders_results(encoding: Callable[[Tensor], tuple[Tensor, ...]], density: float) -> None:
    size = 11
    adjacency = random_graphs(30, size, density)
    order = torch.randperm(size, generator=Seed(1).torch())
    moved = encoding(adjacency[:, order][:, :, order])
    for before, after in zip(encoding(adjacency), moved, strict=True):
        torch.testing.assert_close(after, shuffled(before, order, size), atol=1e-5, rtol=1e-5)
