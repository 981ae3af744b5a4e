"""Graphs as metrics see them: an undirected adjacency matrix and node types, wherever they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dignn.batch import GraphBatch
from dignn.errors import DignnError


@dataclass(frozen=True)
class PlainGraph:
    """An undirected graph of n nodes.

    Args:
        adjacency: (n, n) symmetric, 0 or 1; self-loops on the diagonal (published graphs have some).
        types: (n,) node types from 0; all 0 where there is one type only.
    """

    adjacency: np.ndarray
    types: np.ndarray

    @classmethod
    def from_edges(cls, size: int, edges: Sequence[Sequence[int]], types: Sequence[int] | None = None) -> PlainGraph:
        """From edges over 0 to ``size`` - 1, in any direction and however often."""
        adjacency = np.zeros((size, size))
        pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        if pairs.size and (pairs.min() < 0 or pairs.max() >= size):
            raise DignnError(f"An edge names node {int(pairs.max())}, but the graph has {size} nodes, from 0")
        if types is not None and len(types) != size:
            raise DignnError(f"{len(types)} node types were given for {size} nodes; give one each")
        adjacency[pairs[:, 0], pairs[:, 1]] = adjacency[pairs[:, 1], pairs[:, 0]] = 1.0
        return cls(adjacency, np.zeros(size, dtype=np.int64) if types is None else np.asarray(types, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.types)


def plain_graphs(batch: GraphBatch) -> list[PlainGraph]:
    """Every graph of a batch, relations and orientations dropped."""
    adjacency, types, mask = batch.undirected.numpy(), batch.node_type.numpy(), batch.mask.numpy()
    return [
        PlainGraph(matrix[there][:, there].astype(float), kinds[there])
        for matrix, kinds, there in zip(adjacency, types, mask, strict=True)
    ]
