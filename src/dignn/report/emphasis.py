"""How much the parts of an explanation matter to the model, and what it says without them, ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dignn.evidence.gathering import Evidence
from dignn.evidence.removal import Effect
from dignn.evidence.variants import Kind

# Log-odds that count as much: where no part costs more than this, none is drawn as strong as can be.
MUCH = 1.0


@dataclass(frozen=True)
class Emphasis:
    """What the model would miss, by node and by edge (source first; an undirected one either way).

    Args:
        node, edge: strength from 0 (not missed) to 1 (missed most).
        without_node, without_edge: probability of the class without the part.
        columns: by node the columns that it would miss, those that cost most first.
        average_edge: by edge, the probability of the class with average features on it.
        changed_nodes, changed_edges: what differs from another graph, edges by their ends, in either order.
    """

    node: Mapping[int, float] = field(default_factory=dict)
    edge: Mapping[tuple[int, int], float] = field(default_factory=dict)
    without_node: Mapping[int, float] = field(default_factory=dict)
    without_edge: Mapping[tuple[int, int], float] = field(default_factory=dict)
    columns: Mapping[int, list[int]] = field(default_factory=dict)
    average_edge: Mapping[tuple[int, int], float] = field(default_factory=dict)
    changed_nodes: frozenset[int] = frozenset()
    changed_edges: frozenset[tuple[int, int]] = frozenset()


def measured(evidence: Evidence | None) -> tuple[dict[int, Effect], dict[tuple[int, int], Effect]]:
    """What removing each node does, and each edge: by its ends, in either order."""
    if evidence is None:
        return {}, {}
    nodes = {effect.part.nodes[0]: effect for effect in evidence.effects.of(Kind.NODE)}
    edges = {(effect.part.nodes[0], effect.part.nodes[1]): effect for effect in evidence.effects.of(Kind.EDGE)}
    # Two directed edges may join one pair, so an edge in its own order counts first.
    return nodes, {(v, u): effect for (u, v), effect in edges.items()} | edges


def emphasis(evidence: Evidence | None) -> Emphasis:
    """The emphasis of an explanation with this evidence; none where nothing was measured.

    Nodes and edges share one scale, the log-odds that the class loses.
    """
    if evidence is None:
        return Emphasis()
    nodes, edges = measured(evidence)
    most = max([MUCH, *(effect.drop or 0.0 for effect in [*nodes.values(), *edges.values()])])
    columns: dict[int, list[int]] = {}
    for effect in evidence.effects.of(Kind.COLUMN):
        if (effect.drop or 0.0) > 0:
            columns.setdefault(effect.part.nodes[0], []).append(effect.part.columns[0])
    return Emphasis(
        node={v: max(0.0, effect.drop or 0.0) / most for v, effect in nodes.items()},
        edge={pair: max(0.0, effect.drop or 0.0) / most for pair, effect in edges.items()},
        without_node={v: e.probability for v, e in nodes.items() if e.probability is not None},
        without_edge={pair: e.probability for pair, e in edges.items() if e.probability is not None},
        columns=columns,
        average_edge={
            effect.part.edges[0]: effect.probability
            for effect in evidence.effects.of(Kind.EDGE_ROW)
            if effect.probability is not None
        },
    )
