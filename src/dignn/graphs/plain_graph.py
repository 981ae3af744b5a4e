"""Graphs as metrics see them: adjacency, node types and relations as plain arrays, wherever they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dignn.core.errors import DignnError

if TYPE_CHECKING:  # files of graphs are read without torch
    from dignn.graphs.batch import GraphBatch


@dataclass(frozen=True, eq=False)
class PlainGraph:
    """A graph of n nodes.

    Args:
        adjacency: (n, n) symmetric, 0 or 1; self-loops on the diagonal (published graphs have some).
        types: (n,) node types from 0; all 0 where there is one type only.
        relation: (n, n) 0 where there is no arc from the first node to the second, else the code of its relation;
            asymmetric where a relation is directed. By default all edges are of one undirected relation.
    """

    adjacency: np.ndarray
    types: np.ndarray
    relation: np.ndarray = None  # type: ignore[assignment]  # filled in from the adjacency

    def __post_init__(self) -> None:
        if self.relation is None:
            object.__setattr__(self, "relation", (self.adjacency != 0).astype(np.int64))

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

    @classmethod
    def from_relation(cls, relation: np.ndarray, types: np.ndarray) -> PlainGraph:
        """From the codes of relations, (n, n); two nodes are adjacent where there is an arc in either direction."""
        joined = relation != 0
        return cls((joined | joined.T).astype(float), types, relation)

    def __len__(self) -> int:
        return len(self.types)

    @cached_property
    def degree(self) -> np.ndarray:
        """(n,) of each node; a self-loop counts 2."""
        return (self.adjacency.sum(1) + self.adjacency.diagonal()).astype(np.int64)

    @cached_property
    def clustering(self) -> np.ndarray:
        """(n,) how many pairs of a node's neighbours are joined, as a share; self-loops do not count."""
        adjacency = self.adjacency - np.diag(self.adjacency.diagonal())
        degree = adjacency.sum(1)
        closed = (adjacency @ adjacency * adjacency).sum(1)
        return closed / np.maximum(degree * (degree - 1), 1)

    @cached_property
    def spectrum(self) -> np.ndarray:
        """(n,) eigenvalues of the normalised Laplacian, from 0 to 2."""
        degree = self.adjacency.sum(1)
        inverse = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
        laplacian = np.diag((degree > 0).astype(float)) - inverse[:, None] * self.adjacency * inverse
        values = np.linalg.eigvalsh(laplacian)
        return np.clip(np.round(values, 9), 0.0, 2.0)  # rounding would push the 2 of bipartite graphs out of the range

    def part(self, nodes: Sequence[int] | np.ndarray) -> PlainGraph:
        """The subgraph of these nodes, in this order."""
        chosen = np.asarray(nodes, dtype=np.int64)
        cells = np.ix_(chosen, chosen)
        return PlainGraph(self.adjacency[cells], self.types[chosen], self.relation[cells])


def plain_graphs(batch: GraphBatch, *, class_typed: bool = False) -> list[PlainGraph]:
    """Every graph of a batch; relation r is ``schema.relations[r - 1]``, orientations of directed ones are kept.

    Args:
        batch: the graphs.
        class_typed: whether the class of a labelled node is part of its type.
    """
    types = batch.node_type.numpy()
    if class_typed:
        label = batch.label.numpy()
        types = np.where(label >= 0, len(batch.schema.node_types) + label, types)
    arrays = (batch.undirected.numpy(), batch.edge.numpy(), types, batch.mask.numpy())
    return [
        PlainGraph(matrix[there][:, there].astype(float), kinds[there], edge[there][:, there])
        for matrix, edge, kinds, there in zip(*arrays, strict=True)
    ]
