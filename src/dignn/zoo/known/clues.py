"""Clues: what a rule counts around a node, and with which walks it does so. Loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass

from dignn.graphs.relation import EdgeType

_BACK = "rev_"


@dataclass(frozen=True)
class Clue:
    """The sum of a feature column over the ends of all walks along a path that begin at the classified node.

    Args:
        path: edge types to walk along, in this order; none for the classified node itself.
        column: the name of a column at the end; None where each walk counts 1.
        closed: whether only walks count that end where they began.
    """

    path: tuple[EdgeType, ...] = ()
    column: str | None = None
    closed: bool = False


def own(column: str) -> Clue:
    """A feature of the classified node itself."""
    return Clue(column=column)


def reverse(edge_type: EdgeType) -> EdgeType:
    """The edge type that holds the same edges the other way round, by the naming of all known worlds."""
    source, name, target = edge_type
    return target, name.removeprefix(_BACK) if name.startswith(_BACK) else f"{_BACK}{name}", source


def stored(edge_type: EdgeType, u: int, v: int) -> tuple[int, int]:
    """A step from u to v as evidence names the edge: in the orientation of its relation."""
    return (v, u) if edge_type[1].startswith(_BACK) else (u, v)
