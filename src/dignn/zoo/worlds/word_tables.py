"""Feature tables of words: bags that follow a topic, weighed in the usual ways, summed or averaged over neighbours."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array

from dignn.graphs.schema import EdgeType
from dignn.zoo.worlds.sketch import Sketch

# Fewest and most words of a text; share of them that are of its topic, and how many words a topic has.
LENGTH, TOPICAL, VOCABULARY = (6, 40), 0.5, 25


def bags(topic: np.ndarray, topics: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """(n, columns) how often each word occurs: frequent words everywhere, those of a topic in its texts."""
    common = 1 / np.arange(3, columns + 3)
    common = rng.permutation(common / common.sum())
    own = np.stack([rng.choice(columns, min(VOCABULARY, columns // 3), replace=False) for _ in range(topics - 1)])
    length = rng.integers(*LENGTH, len(topic))
    row = np.repeat(np.arange(len(topic)), length)
    topical = (rng.random(len(row)) < TOPICAL) & (topic[row] < topics - 1)
    words = rng.choice(columns, len(row), p=common)
    words[topical] = own[topic[row[topical]], rng.integers(own.shape[1], size=int(topical.sum()))]
    counted = np.zeros((len(topic), columns), dtype=np.float32)
    np.add.at(counted, (row, words), 1.0)
    return counted


def tf_idf(counted: np.ndarray) -> np.ndarray:
    """Counts weighed by how rare a word is, rows of length 1."""
    found = (counted > 0).sum(0)
    return of_length_1(counted * (np.log((1 + len(counted)) / (1 + found)) + 1))


def of_length_1(counted: np.ndarray) -> np.ndarray:
    return (counted / np.maximum(np.linalg.norm(counted, axis=1, keepdims=True), 1e-9)).astype(np.float32)


def of_sum_1(counted: np.ndarray) -> np.ndarray:
    return (counted / np.maximum(counted.sum(1, keepdims=True), 1e-9)).astype(np.float32)


def gathered(
    sketch: Sketch,
    node_type: str,
    shown: Mapping[str, np.ndarray],
    topics: int,
    columns: int,
    rng: np.random.Generator,
    *,
    mean: bool,
) -> np.ndarray:
    """(n, columns) sums, or means, of the texts of a node and of its neighbours of all types.

    Args:
        sketch: nodes and edges.
        node_type: whose table it is.
        shown: by type, the topics of texts.
        topics: how many there are.
        columns: words.
        rng: draws.
        mean: of rows of sum 1, instead of the sum of TF-IDF.
    """
    around = _neighbours(sketch, node_type)
    types = [node_type, *(name for name in around if name != node_type)]
    counted = bags(np.concatenate([shown[name] for name in types]), topics, columns, rng)
    rows = of_sum_1(counted) if mean else tf_idf(counted)
    parts = dict(zip(types, np.split(rows, np.cumsum([len(shown[name]) for name in types])[:-1]), strict=True))
    total, number = parts[node_type].copy(), np.ones(len(shown[node_type]))
    for name, matrix in around.items():
        total += matrix @ parts[name]
        number += matrix.sum(1)
    return (total / number[:, None] if mean else total).astype(np.float32)


def _neighbours(sketch: Sketch, node_type: str) -> dict[str, csr_array]:
    """By type, the matrix of the neighbours that nodes of ``node_type`` have of it."""
    found: dict[str, csr_array] = {}
    for edge_type, pairs in sketch.edges.items():
        for name, own, other in _ways(edge_type, pairs, node_type):
            shape = (len(sketch.hidden[node_type]), len(sketch.hidden[name]))
            matrix = csr_array((np.ones(len(own), dtype=np.float32), (own, other)), shape=shape)
            found[name] = matrix if name not in found else found[name] + matrix
    return found


def _ways(edge_type: EdgeType, pairs: np.ndarray, node_type: str) -> list[tuple[str, np.ndarray, np.ndarray]]:
    source, _, target = edge_type
    there = [(target, pairs[:, 0], pairs[:, 1])] if source == node_type else []
    back = [(source, pairs[:, 1], pairs[:, 0])] if target == node_type else []
    return there + back
