"""The edges of a view as whole numbers, each edge type sorted once for all who ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from dignn.graphs.distinct_keys import distinct, mirrored
from dignn.graphs.relation import EdgeType


class NumberedEdges(Mapping[EdgeType, np.ndarray]):
    """By edge type, the ends of edges as numbers of nodes, (2, E).

    A user's own arrays are kept as they are, and counted on when they are asked for, so that nothing is held twice.

    Args:
        given: by edge type, (2, E) numbers among the nodes of a type.
        first: by node type, the number of its first node.
    """

    def __init__(self, given: Mapping[EdgeType, np.ndarray], first: Mapping[str, int]) -> None:
        self._given, self._first = dict(given), dict(first)

    def __getitem__(self, edge_type: EdgeType) -> np.ndarray:
        index = self._given[edge_type]
        source, _, target = edge_type
        return index + np.array([[self._first[source]], [self._first[target]]])

    def __contains__(self, edge_type: object) -> bool:
        return edge_type in self._given

    def __iter__(self) -> Iterator[EdgeType]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


class EdgeKeys:
    """Edges between n nodes as ``source * n + target``.

    Args:
        edges: by edge type, (2, E).
        size: n.
    """

    def __init__(self, edges: Mapping[EdgeType, np.ndarray], size: int) -> None:
        self.size = max(1, size)
        self._edges = edges
        self._distinct: dict[EdgeType, tuple[np.ndarray, np.ndarray]] = {}
        self._mirrored: tuple[EdgeType, np.ndarray] | None = None  # the last one
        self._opposite: dict[tuple[EdgeType, EdgeType], bool] = {}

    def of(self, edge_type: EdgeType) -> tuple[np.ndarray, np.ndarray]:
        """(u,) the keys that edges of a type have, ascending, and (u,) how often each stands there."""
        if edge_type not in self._distinct:
            index = self._edges[edge_type]
            key = index[0] * self.size
            key += index[1]
            self._distinct[edge_type] = distinct(key)
        return self._distinct[edge_type]

    def mirrored(self, edge_type: EdgeType) -> np.ndarray:
        """(u,) the keys of the same edges the other way round, ascending."""
        if self._mirrored is None or self._mirrored[0] != edge_type:
            self._mirrored = edge_type, mirrored(self.of(edge_type)[0], self.size)
        return self._mirrored[1]

    def opposite(self, one: EdgeType, other: EdgeType) -> bool:
        """Whether two edge types (or one with itself) hold the same edges in opposite directions."""
        if (one, other) not in self._opposite:
            keys = self.of(other)[0]
            same = len(keys) == len(self.of(one)[0]) and np.array_equal(keys, self.mirrored(one))
            self._opposite[one, other] = same
        return self._opposite[one, other]

    def forget(self) -> None:
        """Lets go of what was sorted; it is sorted again where it is asked for."""
        self._distinct, self._mirrored = {}, None

    def once(self, edge_type: EdgeType) -> bool:
        """Whether every edge of a type stands there once."""
        keys, times = self.of(edge_type)
        return bool((times == 1).all()) if len(keys) else True
