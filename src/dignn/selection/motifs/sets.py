"""The motifs of each class, and motifs of data sets as plain graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dignn.core.errors import DignnError
from dignn.graphs.batch import GraphBatch
from dignn.graphs.motif import Motif
from dignn.graphs.plain_graph import PlainGraph, plain_graphs
from dignn.graphs.schema import EdgeType, Schema
from dignn.selection.motifs.matching import Matcher, contains


@dataclass(frozen=True)
class MotifSets:
    """Motifs that the members of each class have around them.

    Args:
        by_class: per class its motifs; a class may have none.
        common: whether all classes share the same motifs, because every graph has nodes of all classes (BA-Shapes,
            Tree-Cycle, Tree-Grids); such motifs cannot tell classes apart.
    """

    by_class: tuple[tuple[PlainGraph, ...], ...]
    common: bool = False
    _matchers: dict[tuple[int, bool, bool], Matcher] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.common and len({tuple(map(id, motifs)) for motifs in self.by_class}) > 1:
            raise DignnError("Common motifs must be the same for every class; make them with MotifSets.shared")

    @classmethod
    def shared(cls, motifs: Sequence[PlainGraph], num_classes: int) -> MotifSets:
        """The same motifs for every class."""
        return cls((tuple(motifs),) * num_classes, common=True)

    def __len__(self) -> int:
        return len(self.by_class)

    def found_in(self, graphs: Sequence[PlainGraph], number: int, *, typed: bool, induced: bool = True) -> np.ndarray:
        """Whether graphs contain the motifs of a class, as :func:`~dignn.selection.motifs.matching.contains` has it."""
        key = (0 if self.common else number, typed, induced)
        if key not in self._matchers:
            self._matchers[key] = Matcher(self.by_class[number], typed=typed, induced=induced)
        return self._matchers[key].found_in(graphs)

    def any_found_in(self, graphs: Sequence[PlainGraph]) -> np.ndarray:
        """Whether graphs contain the motifs of all classes, one class after the other, types matched."""
        return self._every.found_in(graphs)

    @cached_property
    def had(self) -> np.ndarray:
        """Which motifs, one class after the other, which classes have, types matched.  (motifs, classes) bool"""
        every = [motif for own in self.by_class for motif in own]
        same, owner = isomorphic(every, every), self.owner
        return np.stack([same[:, owner == number].any(1) for number in range(len(self))], axis=1)

    @cached_property
    def owner(self) -> np.ndarray:
        """(motifs,) the class that each motif is of, one class after the other."""
        return np.repeat(np.arange(len(self)), [len(own) for own in self.by_class])

    @cached_property
    def _every(self) -> Matcher:
        return Matcher([motif for own in self.by_class for motif in own], typed=True)

    def different(self) -> MotifSets:
        """Each kind of motif once."""
        if self.common and self.by_class:
            return MotifSets.shared(_different(self.by_class[0]), len(self))
        return MotifSets(tuple(tuple(_different(motifs)) for motifs in self.by_class))


def isomorphic(one: Sequence[PlainGraph], other: Sequence[PlainGraph]) -> np.ndarray:
    """Which motifs of ``one`` are, with types and relations, the same as which of ``other``.  (one, other) bool"""
    found = np.zeros((len(one), len(other)), dtype=bool)
    mine, others = ([_size(motif) for motif in several] for several in (one, other))
    for size in set(mine) & set(others):  # those of one size are the same where one contains the other
        rows, columns = ([place for place, each in enumerate(sizes) if each == size] for sizes in (mine, others))
        found[np.ix_(rows, columns)] = contains(
            [one[place] for place in rows], [other[place] for place in columns], typed=True
        )
    return found


def _size(motif: PlainGraph) -> tuple[int, int]:
    """Nodes and arcs."""
    return len(motif), int((motif.relation != 0).sum())


def _different(motifs: Sequence[PlainGraph]) -> list[PlainGraph]:
    """The first of each kind."""
    same = isomorphic(motifs, motifs)
    return [motif for number, motif in enumerate(motifs) if not same[number, :number].any()]


# -- motifs of data sets ------------------------------------------------------------------------------


def motif_graph(motif: Motif, schema: Schema) -> PlainGraph:
    """A data set's motif with the schema's codes of types and relations.

    Raises:
        DignnError: the schema has no such node type or edge type.
    """
    relation = np.zeros((len(motif.node_types),) * 2, dtype=np.int64)
    for (u, v), edge_type in zip(motif.edges, motif.edge_types, strict=True):
        code, forward = _relation(edge_type, schema, motif.name)
        source, target = (u, v) if forward else (v, u)
        relation[source, target] = code
        if not schema.relations[code - 1].directed:
            relation[target, source] = code
    return PlainGraph.from_relation(relation, np.array([schema.type_index(name) for name in motif.node_types]))


def _relation(edge_type: EdgeType, schema: Schema, name: str) -> tuple[int, bool]:
    """Code of the relation that has this edge type, and whether as its forward direction."""
    for code, relation in enumerate(schema.relations, start=1):
        if edge_type == relation.edge_type:
            return code, True
        if edge_type == relation.reverse_edge_type:
            return code, False
    raise DignnError(f"The motif '{name}' has edges {edge_type}, which the schema does not know; leave the motif out")


def group_hits(graphs: GraphBatch, groups: Sequence[Motif]) -> np.ndarray:
    """Which graphs contain which groups (:mod:`dignn.selection.motifs.chemistry`).  (graphs, groups) bool

    Further edges among the nodes do no harm, except at positions that the group says are closed.
    """
    patterns = []
    for group in groups:
        plain = motif_graph(group, graphs.schema)
        closed = np.isin(np.arange(len(plain)), group.closed)
        patterns.append(_with_degrees(plain, closed))
    hosts = [_with_degrees(plain, np.ones(len(plain), dtype=bool)) for plain in plain_graphs(graphs)]
    return contains(hosts, patterns, typed=True, induced=False)


def _with_degrees(graph: PlainGraph, nodes: np.ndarray) -> PlainGraph:
    """The degree of these nodes on the diagonal: where a motif has one, only nodes of this degree will do."""
    relation = graph.relation.copy()
    np.fill_diagonal(relation, np.where(nodes, 1 + graph.adjacency.sum(1).astype(np.int64), 0))
    return PlainGraph(graph.adjacency, graph.types, relation)
