"""Graphs as metrics of typed structure see them: nodes and edges as numbered tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor, minimum

from dignn.graphs.batch import GraphBatch
from dignn.graphs.plain_graph import PlainGraph


class Tokens:
    """Positions of node tokens and typed edges in histograms: what real graphs have first, then the rest.

    So floors do not depend on what is compared with them.

    Args:
        batches: real graphs, then generated ones.
    """

    def __init__(self, batches: Sequence[GraphBatch]) -> None:
        self._labels = max(batch.schema.num_classes for batch in batches) + 1
        self._relations = max(len(batch.schema.relations) for batch in batches) + 1
        self._node: dict[int, int] = {}
        self._edge: dict[int, int] = {}
        for batch in batches:
            nodes = self._node_codes(batch)[batch.mask]
            for place, codes in ((self._node, nodes), (self._edge, self._edge_codes(batch)[1])):
                for code in codes.unique().tolist():
                    place.setdefault(code, len(place))

    def nodes(self, batch: GraphBatch) -> list[PlainGraph]:
        """Graphs whose node types are tokens."""
        return [
            PlainGraph(adjacency[there][:, there].double().numpy(), _places(self._node, code[there]))
            for adjacency, code, there in zip(batch.undirected, self._node_codes(batch), batch.mask, strict=True)
        ]

    def edges(self, batch: GraphBatch) -> list[PlainGraph]:
        """The typed edges of each graph as the nodes of another, so that types are counted alike.

        Position 0 stands for having no edge at all.
        """
        graph, codes = self._edge_codes(batch)
        pieces = [_places(self._edge, codes[graph == number]) + 1 for number in range(len(batch))]
        empty = np.zeros((0, 0))
        return [PlainGraph(empty, places if len(places) else np.zeros(1, np.int64)) for places in pieces]

    def _node_codes(self, batch: GraphBatch) -> Tensor:
        return batch.node_type * self._labels + batch.label + 1

    def _edge_codes(self, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        """Of every edge of a batch its graph, and a number for the unordered pair of tokens and the relations."""
        graph, u, v = batch.undirected.triu(1).nonzero(as_tuple=True)
        node = self._node_codes(batch)
        tokens = len(batch.schema.node_types) * self._labels
        one, other = node[graph, u], node[graph, v]
        there, back = batch.edge[graph, u, v], batch.edge[graph, v, u]

        def number(first: Tensor, second: Tensor, out: Tensor, into: Tensor) -> Tensor:
            return ((first * tokens + second) * self._relations + out) * self._relations + into

        return graph, minimum(number(one, other, there, back), number(other, one, back, there))


def _places(place: dict[int, int], codes: Tensor) -> np.ndarray:
    return np.array([place[code] for code in codes.tolist()], dtype=np.int64)
