"""Graphs for igraph, which is loaded when one is made: it loads matplotlib, and that takes a second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import igraph


def igraph_of(size: int, edges: Sequence[Sequence[int]], *, directed: bool = False) -> igraph.Graph:
    """A graph of so many nodes, joined by these pairs of their numbers."""
    import igraph

    return igraph.Graph(size, edges, directed=directed)
