"""Where nodes are drawn: near what they are joined to, apart from what they are not, and nothing hidden."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dignn.graphs.batch import GraphBatch
from dignn.report.layout import _covered, _crossings, layout
from strategies import batch_of, plain_schema

SCHEMA = plain_schema()


def drawn(size: int, pairs: list[tuple[int, int]]) -> tuple[GraphBatch, np.ndarray, np.ndarray]:
    graph = batch_of(SCHEMA, [0] * size, dict.fromkeys(pairs, 1))
    place = layout(graph)
    return graph, np.array([place[node] for node in range(size)]), np.array(pairs).reshape(-1, 2)


PATH = [(i, i + 1) for i in range(6)]
RING = [(i, (i + 1) % 7) for i in range(7)]
GRID = [(3 * i + j, 3 * i + j + 1) for i in range(3) for j in range(2)] + [(k, k + 3) for k in range(6)]
LADDER_OF_FAR_NUMBERS = [(0, 7), (7, 3), (3, 5), (0, 4), (4, 1), (1, 6), (6, 2), (4, 7), (1, 3), (5, 6)]


@pytest.mark.parametrize(("size", "pairs"), [(7, PATH), (7, RING), (9, GRID), (8, LADDER_OF_FAR_NUMBERS)])
def test_graphs_that_can_be_drawn_without_crossings_are(size: int, pairs: list[tuple[int, int]]) -> None:
    _, point, ends = drawn(size, pairs)
    assert _crossings(point, ends) == 0
    assert point.min() == pytest.approx(0)
    assert point.max() == pytest.approx(1)


def test_a_ring_stays_round_and_a_path_straight() -> None:
    _, ring, _ = drawn(7, RING)
    radius = np.linalg.norm(ring - ring.mean(0), axis=1)
    assert radius.max() < 1.15 * radius.min()
    _, path, _ = drawn(7, PATH)
    assert np.ptp(path[:, 0]) == pytest.approx(1)
    assert np.ptp(path[:, 1]) < 0.2


def test_the_same_graph_is_drawn_the_same_way() -> None:
    assert np.array_equal(drawn(9, GRID)[1], drawn(9, GRID)[1])


def test_one_node_two_nodes_and_parts_that_are_not_joined() -> None:
    assert layout(batch_of(SCHEMA, [0], {})) == {0: (0.5, 0.5)}
    _, point, _ = drawn(2, [(0, 1)])
    assert np.linalg.norm(point[0] - point[1]) >= 1
    _, point, _ = drawn(5, [(0, 1), (2, 3)])
    assert np.isfinite(point).all()
    assert min(np.linalg.norm(point[i] - point[j]) for i, j in itertools.combinations(range(5), 2)) > 0.05


def test_crossings_are_counted() -> None:
    square = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]])
    assert _crossings(square, np.array([(0, 1), (2, 3)])) == 1
    assert _crossings(square, np.array([(0, 2), (1, 3)])) == 0
    assert _crossings(square, np.array([(0, 1), (0, 2)])) == 0  # they meet at their common end


def test_nodes_on_edges_are_counted() -> None:
    line = np.array([[0.0, 0], [2, 0], [1, 0.1], [1, 2]])
    assert _covered(line, np.array([(0, 1)])) == 1
    assert _covered(line, np.array([(0, 2), (2, 1)])) == 0  # it is its own edge's end
    assert _covered(np.array([[0.0, 0], [0, 0.1]]), np.empty((0, 2), dtype=int)) == 1
