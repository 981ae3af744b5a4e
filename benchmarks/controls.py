"""Generators that know the tokens of real graphs and nothing of how they are joined: what bad structure scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from dignn.core.seeds import Seed
from dignn.graphs.batch import GraphBatch
from dignn.metrics.controls import join


class RandomTrees:
    """Random trees over the nodes of a training graph; pairs that the metagraph forbids are not joined.

    The tree is a minimum spanning tree of random weights. A real graph is connected, so there always is one.
    """

    def __init__(self) -> None:
        self.report: dict[str, Any] = {}

    def fit(self, graphs: GraphBatch, *, seed: Seed) -> RandomTrees:
        self._graphs = graphs.without_features()
        return self

    def sample(self, sizes: Sequence[int], *, seed: Seed) -> GraphBatch:
        rng = seed.numpy()
        known = self._graphs.sizes.numpy()
        made = self._graphs[[int(rng.choice(np.flatnonzero(known == size))) for size in sizes]]
        edge = np.zeros(made.edge.shape, np.int64)
        count = (made.undirected.sum((1, 2)) // 2).tolist()
        for number, (kinds, there) in enumerate(zip(made.node_type.numpy(), made.mask.numpy(), strict=True)):
            pairs = self._pairs(made, kinds[there], count[number], rng)
            join(made.schema, edge[number], kinds, pairs, rng)
        return replace(made, edge=torch.from_numpy(edge))

    def _pairs(
        self, graphs: GraphBatch, kinds: np.ndarray, edges: int, rng: np.random.Generator
    ) -> list[tuple[int, int]]:
        """Pairs of nodes to join, in a random direction."""
        tree, _ = _spanning(graphs, kinds, rng)
        return tree


class RandomConnected(RandomTrees):
    """Random connected graphs with the nodes and the number of edges of a training graph: a tree and further pairs."""

    def _pairs(
        self, graphs: GraphBatch, kinds: np.ndarray, edges: int, rng: np.random.Generator
    ) -> list[tuple[int, int]]:
        tree, others = _spanning(graphs, kinds, rng)
        return tree + others[: edges - len(tree)]


def _spanning(
    graphs: GraphBatch, kinds: np.ndarray, rng: np.random.Generator
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The pairs that may be joined, in random order: those of a tree, and the others (Kruskal's algorithm)."""
    allowed = graphs.schema.allowed[:, :, 1:].any(2)[kinds[:, None], kinds[None, :]]
    pairs = np.argwhere(np.triu(allowed, 1))
    component = list(range(len(kinds)))
    tree, others = [], []
    for u, v in rng.permutation(pairs).tolist():
        pair = (u, v) if rng.random() < 0.5 else (v, u)
        if component[u] == component[v]:
            others.append(pair)
        else:
            tree.append(pair)
            component = [component[u] if c == component[v] else c for c in component]
    return tree, others


CONTROLS: dict[str, type[RandomTrees]] = {"random-trees": RandomTrees, "rewired": RandomConnected}
