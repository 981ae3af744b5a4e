"""Relations: kinds of edges, and the edge types of PyTorch Geometric that store them."""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType
from typing import Any

from dignn.core.checks import instance, names, switches, texts
from dignn.core.errors import SchemaError

EdgeType = tuple[str, str, str]


def edge_types(option: str, given: Any) -> tuple[EdgeType, ...]:
    """Several edge types that an option was given, in tuples or lists."""
    instance(option, given, (tuple, list), "a tuple of edge types (source, name, target)")
    found = tuple(names(f"An entry of {option}", each) for each in given)
    strange = next((each for each in found if len(each) != 3), None)
    if strange is not None:
        raise SchemaError(f"An entry of {option} is {strange}; give an edge type (source, name, target)")
    return found  # type: ignore[return-value]  # each has three names


@dataclass(frozen=True)
class Relation:
    """A kind of edge; the two directions of one undirected relation are one ``Relation``.

    Args:
        source, name, target: the PyTorch Geometric edge type of the forward direction.
        reverse: name of the edge type ``(target, reverse, source)`` that holds the same edges the other
            way round; None where the data stores only one direction. An undirected relation inside one
            type is its own reverse.
        directed: whether the orientation of an edge *inside one type* carries information
            (paper cites paper). Between two types the types give the orientation.
    """

    source: str
    name: str
    target: str
    reverse: str | None = None
    directed: bool = False

    def __post_init__(self) -> None:
        texts(self, "source", "name", "target")
        instance("reverse", self.reverse, (str, NoneType), "the name of the edge type that goes back, or None")
        switches(self, "directed")
        if self.directed and self.source != self.target:
            raise SchemaError(f"Relation {self.label} joins two types, which already give its orientation")
        if not self.directed and self.source == self.target and self.reverse not in (None, self.name):
            raise SchemaError(f"Relation {self.label} is undirected inside one type, so it is its own reverse")
        if self.directed and self.reverse == self.name:
            raise SchemaError(f"Relation {self.label} is directed, so it cannot be its own reverse; name the other one")

    @property
    def label(self) -> str:
        arrow = "->" if self.directed else "-"
        return f"{self.source} -{self.name}{arrow} {self.target}"

    @property
    def edge_type(self) -> EdgeType:
        return (self.source, self.name, self.target)

    @property
    def reverse_edge_type(self) -> EdgeType | None:
        return None if self.reverse is None else (self.target, self.reverse, self.source)

    @property
    def edge_types(self) -> tuple[EdgeType, ...]:
        """The edge types that store its edges: forward, and reverse if that is another one."""
        reverse = self.reverse_edge_type
        return (self.edge_type,) if reverse is None or self.symmetric else (self.edge_type, reverse)

    @property
    def symmetric(self) -> bool:
        """Whether one edge type stores both directions (undirected inside one type)."""
        return self.source == self.target and not self.directed
