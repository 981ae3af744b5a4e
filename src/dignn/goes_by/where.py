"""Where something is, seen from what is classified: nodes at a distance or along relations, or edges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dignn.graphs.schema import Schema


@dataclass(frozen=True)
class Step:
    """A step along an edge.

    Args:
        relation: the label of its relation.
        back: whether it goes from the relation's target to its source. An undirected relation inside one type has no
            way back.
    """

    relation: str
    back: bool = False


@dataclass(frozen=True)
class Around:
    """Nodes of a type around the classified node, or in the graph.

    Args:
        node_type: their type.
        distance: how many steps away, at least, whatever the relations; 0 for the classified node itself; None for
            all nodes of the graph.
        path: only nodes that walks along these steps reach, the classified node not among them; then they may also
            be reached by shorter ways, and ``distance`` is the number of steps.
    """

    node_type: str
    distance: int | None = 0
    path: tuple[Step, ...] = ()

    @property
    def own(self) -> bool:
        return self.distance == 0


@dataclass(frozen=True)
class Edges:
    """Edges of a relation that the classified node has, or all of the graph.

    Args:
        relation: the label of their relation.
        anywhere: whether all of the graph are meant.
    """

    relation: str
    anywhere: bool = False


Where = Around | Edges


@lru_cache(maxsize=64)
def steps_of(schema: Schema) -> dict[Step, tuple[str, str]]:
    """All steps that graphs can have: the types of nodes that they leave and reach."""
    found = {}
    for relation in schema.relations:
        found[Step(relation.label)] = (relation.source, relation.target)
        if not relation.symmetric:
            found[Step(relation.label, back=True)] = (relation.target, relation.source)
    return found


def ways_of(schema: Schema, node_type: str, length: int) -> dict[str, list[tuple[Step, ...]]]:
    """All paths of so many steps from a node type, by the type that they reach."""
    paths: list[tuple[tuple[Step, ...], str]] = [((), node_type)]
    for _ in range(length):
        steps = steps_of(schema).items()
        paths = [((*path, step), to) for path, at in paths for step, (of, to) in steps if of == at]
    ends: dict[str, list[tuple[Step, ...]]] = {}
    for path, to in paths:
        ends.setdefault(to, []).append(path)
    return ends


def paths_of(schema: Schema, node_type: str, length: int) -> list[tuple[Step, ...]]:
    """Paths of so many steps from a node type that say more than the type and the distance of what they reach.

    That is where another path of this length reaches the same type, by other relations or other types.
    """
    ends = ways_of(schema, node_type, length)
    return [path for several in ends.values() if len(several) > 1 for path in several]
