"""The motifs that data sets plant: house, cycle, grid, and the two typed ones of the planted bibliography.

Also the untyped graphs that they are planted in.
"""

from __future__ import annotations

import numpy as np
import torch
from torch_geometric.data import Data

from dignn.graphs.flattening import HOMOGENEOUS_RELATION, HOMOGENEOUS_TYPE
from dignn.graphs.motif import Motif
from dignn.graphs.schema import EdgeType

WRITES: EdgeType = ("author", "writes", "paper")
CITES: EdgeType = ("paper", "cites", "paper")


def _untyped(name: str, size: int, edges: tuple[tuple[int, int], ...]) -> Motif:
    edge_type = (HOMOGENEOUS_TYPE, HOMOGENEOUS_RELATION, HOMOGENEOUS_TYPE)
    return Motif(name, (HOMOGENEOUS_TYPE,) * size, edges, (edge_type,) * len(edges))


def house() -> Motif:
    """Five nodes: a square 0, 1, 2, 3 (0 and 1 in the middle, 2 and 3 at the bottom) and the roof's top 4."""
    return _untyped("house", 5, ((0, 1), (1, 2), (2, 3), (3, 0), (4, 0), (4, 1)))


def cycle(length: int) -> Motif:
    return _untyped(f"{length}-cycle", length, tuple((i, (i + 1) % length) for i in range(length)))


def grid(side: int) -> Motif:
    """A square grid of ``side`` x ``side`` nodes, numbered row by row from a corner."""
    across = [(row * side + column, row * side + column + 1) for row in range(side) for column in range(side - 1)]
    down = [(number, number + side) for number in range(side * (side - 1))]
    return _untyped(f"{side}x{side} grid", side * side, tuple(across + down))


def bare_graph(nodes: int, edges: np.ndarray, y: np.ndarray) -> Data:
    """A graph with constant ``x`` and both directions, sorted, of edges (2, E) that are given once each."""
    both = np.concatenate([edges, edges[::-1]], axis=1)
    both = both[:, np.lexsort((both[1], both[0]))]
    return Data(x=torch.ones(nodes, 1), edge_index=torch.from_numpy(both), y=torch.from_numpy(y))


def citation_triangle() -> Motif:
    """An author (position 0) wrote two papers, and the first of them cites the second."""
    return Motif("citation triangle", ("author", "paper", "paper"), ((0, 1), (0, 2), (1, 2)), (WRITES, WRITES, CITES))


def coauthor_square() -> Motif:
    """An author (position 0) and a colleague wrote two papers together."""
    return Motif(
        "co-author square", ("author", "author", "paper", "paper"), ((0, 2), (0, 3), (1, 2), (1, 3)), (WRITES,) * 4
    )
