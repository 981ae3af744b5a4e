"""A graph as one walks through it: answers rules in plain Python, without the tensors that a model answers with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from dignn.graphs.relation import EdgeType
from dignn.zoo.known.clues import Clue, stored
from dignn.zoo.known.rules import Rule

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData

    from dignn.graphs.batch import GraphBatch
    from dignn.graphs.schema import Schema


@dataclass(frozen=True)
class Used:
    """The parts of a graph that a rule goes by.

    Args:
        nodes: positions of nodes that lie on a walk that counts; the classified one is always among them.
        edges: (source, target) of the edges of such walks, in the orientation of their relation.
        columns: (position, column) of features that count.
    """

    nodes: frozenset[int]
    edges: frozenset[tuple[int, int]]
    columns: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Walkable:
    """Nodes, and where one can go from them.

    Args:
        target: the classified node type.
        neighbours: by edge type, the nodes that can be reached from each node.
        names: by node type, the names of its feature columns.
        value: of a node of a type, the feature in a column.
    """

    target: str
    neighbours: Mapping[EdgeType, Mapping[int, Sequence[int]]]
    names: Mapping[str, Sequence[str]]
    value: Callable[[str, int, int], float]

    def walks(self, clue: Clue, node: int) -> list[tuple[int, ...]]:
        """The nodes of every walk of a clue from ``node``."""
        found: list[tuple[int, ...]] = [(node,)]
        for step in clue.path:
            onward = self.neighbours.get(step, {})
            found = [(*walk, v) for walk in found for v in onward.get(walk[-1], ())]
        return [walk for walk in found if not clue.closed or walk[-1] == node]

    def worth(self, clue: Clue, walk: tuple[int, ...]) -> float:
        """What one walk adds to the clue's amount."""
        return 1.0 if clue.column is None else self.value(self._end(clue), walk[-1], self._column(clue))

    def amount(self, node: int, clue: Clue) -> float:
        """What there is of a clue around ``node``."""
        return sum(self.worth(clue, walk) for walk in self.walks(clue, node))

    def satisfied(self, rule: Rule, node: int) -> bool:
        """Whether a rule holds of ``node``."""
        return rule.holds(partial(self.amount, node))

    def used(self, rule: Rule, node: int) -> Used:
        """What a rule goes by at ``node``: all walks that add something to the amount of one of its clues."""
        nodes, edges, columns = {node}, set(), set()
        for clue in rule.clues:
            for walk in self.walks(clue, node):
                if self.worth(clue, walk) == 0:
                    continue
                nodes |= set(walk)
                edges |= {stored(step, *ends) for step, *ends in zip(clue.path, walk, walk[1:], strict=False)}
                if clue.column is not None:
                    columns.add((walk[-1], self._column(clue)))
        return Used(frozenset(nodes), frozenset(edges), frozenset(columns))

    def _end(self, clue: Clue) -> str:
        return clue.path[-1][2] if clue.path else self.target

    def _column(self, clue: Clue) -> int:
        assert clue.column is not None
        return list(self.names[self._end(clue)]).index(clue.column)


def walk_graph(graph: GraphBatch) -> Walkable:
    """A batch of one graph with features; nodes are positions."""
    schema = graph.schema
    neighbours: dict[EdgeType, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    kinds = [schema.node_types[code] if code >= 0 else "" for code in graph.node_type[0].tolist()]
    for u, v in graph.edge[0].nonzero().tolist():
        relation = schema.relations[int(graph.edge[0, u, v]) - 1]
        if (kinds[u], kinds[v]) != (relation.source, relation.target):
            continue  # the other cell of an edge between two types
        neighbours[relation.edge_type][u].append(v)
        if relation.reverse_edge_type is not None and not relation.symmetric:
            neighbours[relation.reverse_edge_type][v].append(u)

    def value(kind: str, node: int, column: int) -> float:
        return float(graph.tables[kind][int(graph.row[0, node]), column])

    return Walkable(str(schema.target), neighbours, _names(schema), value)


def walk_data(data: HeteroData, schema: Schema) -> Walkable:
    """A whole ``HeteroData``; nodes are rows of their type."""
    neighbours: dict[EdgeType, dict[int, list[int]]] = {}
    for edge_type in data.edge_types:
        onward = neighbours.setdefault(edge_type, defaultdict(list))
        for u, v in data[edge_type].edge_index.t().tolist():
            onward[u].append(v)
    tables = {kind: data[kind].x.tolist() for kind in data.node_types}
    return Walkable(str(schema.target), neighbours, _names(schema), lambda kind, node, j: float(tables[kind][node][j]))


def _names(schema: Schema) -> dict[str, list[str]]:
    return {
        kind: [spec.column_name(j) for j in range(spec.width)]
        for kind, spec in zip(schema.node_types, schema.features, strict=True)
    }
