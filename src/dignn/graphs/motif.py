"""Motifs: small typed patterns, and what is known to make a member of each class."""

from __future__ import annotations

from dataclasses import dataclass

from dignn.graphs.schema import EdgeType


@dataclass(frozen=True)
class Motif:
    """A small typed pattern.

    Args:
        name: what people call it.
        node_types: by position.
        edges: (u, v), positions, with their ``edge_types``.
        closed: positions that have no neighbours beyond the motif's own.
    """

    name: str
    node_types: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    edge_types: tuple[EdgeType, ...]
    closed: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.edges) != len(self.edge_types):
            raise ValueError("Give one edge type per edge")


@dataclass(frozen=True)
class GroundTruth:
    """What makes a member of each class, known because the data was made that way.

    Args:
        motifs: per class, the motifs of which one is around every member.
        keywords: per class, the names of the target's feature columns that mark it; empty without features.
    """

    motifs: tuple[tuple[Motif, ...], ...]
    keywords: tuple[tuple[str, ...], ...] = ()
