"""Random edits of the structure of one graph: an edge or a node taken away or added, where the metagraph allows it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from dignn.graphs.batch import GraphBatch
from dignn.graphs.editing import with_edges, with_nodes, without_edges, without_nodes

# How much more often what is near the classified node is chosen.
_NEAR_WEIGHT = 8.0
# Steps that are told apart: an edge between ends that are nearer to each other is added more often.
_TOLD_STEPS = 6
# Chance that something is taken away and something added at once.
_BOTH = 0.3
# No edge, and no node.
_NOTHING = (0, 0, 0, -1)


@dataclass(frozen=True)
class _Options:
    """What can be done to a graph.

    Args:
        edges: pairs of joined nodes.
        nodes: nodes that may go.
        joins: (source, target, relation) of edges that may come.
        chance: of each of them, in proportion, beside what its ends count.
        leaves: (joined to, relation, type, whether it is the source) of nodes that may come.
    """

    edges: list[tuple[int, int]]
    nodes: list[int]
    joins: list[tuple[int, int, int]]
    chance: list[float]
    leaves: list[tuple[int, int, int, bool]]

    def __bool__(self) -> bool:
        return bool(self.edges or self.nodes or self.joins or self.leaves)


def structural_trials(
    graph: GraphBatch, node: int, near: Tensor, free: int, count: int, rng: np.random.Generator
) -> tuple[GraphBatch, Tensor]:
    """Edited copies of one graph; they need not be connected.

    Args:
        graph: a batch of one graph.
        node: position of the classified node, which stays; -1 without.
        near: (N,) bool, the nodes that are near it.
        free: the position where a node may go; none where there is no such position.
        count: copies.
        rng: what is drawn.

    Returns:
        The copies, and (count, N) bool nodes that they have anew and that have no rows yet. Fewer copies, or none,
        where nothing can be done.
    """
    options, size = _options(graph, node, free < graph.node_type.size(1)), graph.node_type.size(1)
    weight = np.where(near.numpy(), _NEAR_WEIGHT, 1.0)
    drawn = [_draw(options, weight, free, rng) for _ in range(count)] if options else []
    count = len(drawn)
    trial = torch.arange(count)
    gone_edges, gone_nodes = torch.zeros(count, size, size).bool(), torch.zeros(count, size).bool()
    a, b, gone, u, v, code, new = torch.tensor(drawn, dtype=torch.long).reshape(count, 7).unbind(1)
    gone_edges[trial[a >= 0], a[a >= 0], b[a >= 0]] = True
    gone_nodes[trial[gone >= 0], gone[gone >= 0]] = True
    fresh = torch.zeros(count, size).bool()
    fresh[trial[new >= 0], free if free < size else 0] = True
    batch = without_edges(without_nodes(repeated(graph, count), gone_nodes), gone_edges)
    batch = with_nodes(batch, torch.full((count,), free), new)
    return with_edges(batch, u, v, code), fresh


def repeated(graph: GraphBatch, count: int) -> GraphBatch:
    """So many copies of one graph, with all its positions."""
    shape = graph.node_type.size(1)
    return replace(
        graph,
        node_type=graph.node_type.expand(count, -1).clone(),
        edge=graph.edge.expand(count, -1, -1).clone(),
        label=graph.label.expand(count, -1).clone(),
        graph_label=graph.graph_label.expand(count).clone(),
        row=graph.row.expand(count, -1).clone(),
        edge_row=None if graph.edge_row is None else graph.edge_row.expand(count, shape, shape).clone(),
    )


def _draw(options: _Options, weight: np.ndarray, free: int, rng: np.random.Generator) -> tuple[int, ...]:
    """One edit: the edge (source, target) that goes, the node that goes, what comes (see :func:`_addition`)."""
    less, more = bool(options.edges or options.nodes), bool(options.joins or options.leaves)
    both = less and more and rng.random() < _BOTH
    fewer = less and (not more or both or rng.random() < 0.5)
    edge, gone = (-1, -1), -1
    if fewer and options.edges and (not options.nodes or rng.random() < 0.5):
        edge = options.edges[_drawn([weight[a] + weight[b] for a, b in options.edges], rng)]
    elif fewer:
        gone = options.nodes[_drawn([weight[a] for a in options.nodes], rng)]
    added = _addition(options, gone, weight, free, rng) if both or not fewer else _NOTHING
    return *edge, gone, *added


def _addition(
    options: _Options, gone: int, weight: np.ndarray, free: int, rng: np.random.Generator
) -> tuple[int, int, int, int]:
    """An edge (source, target, relation) to add, and the type of a node at its end that is new, -1 for none."""
    kept = [gone not in join[:2] for join in options.joins]
    leaves = [leaf for leaf in options.leaves if leaf[0] != gone]
    if any(kept) and (not leaves or rng.random() < 0.5):
        ends = [weight[a] + weight[b] for a, b, _ in options.joins]
        place = _drawn([x * y * z for x, y, z in zip(ends, options.chance, kept, strict=True)], rng)
        return *options.joins[place], -1
    if not leaves:
        return _NOTHING
    anchor, code, kind, source = leaves[_drawn([weight[leaf[0]] for leaf in leaves], rng)]
    return (free, anchor, code, kind) if source else (anchor, free, code, kind)


def _options(graph: GraphBatch, node: int, room: bool) -> _Options:
    schema, types = graph.schema, graph.node_type[0].tolist()
    there = graph.mask[0].nonzero()[:, 0].tolist()
    joined = graph.undirected[0].numpy()
    edges = [(int(u), int(v)) for u, v in zip(*np.nonzero(np.triu(joined, 1)), strict=True)]
    nodes = [v for v in there if v != node] if len(there) > 1 else []
    joins, leaves, steps = [], [], _steps(joined)
    for u in there:
        for v in there:
            for code in (schema.allowed[types[u], types[v], 1:].nonzero()[0] + 1).tolist():
                # an edge that goes both ways is one, whichever end it is counted from
                if u != v and not joined[u, v] and (u < v or schema.relations[code - 1].directed):
                    joins.append((u, v, code))
        for code in range(1, len(schema.relations) + 1):
            source, target = schema.ends(code)
            if room and types[u] == source:
                leaves.append((u, code, target, False))
            if room and types[u] == target and (source != target or schema.relations[code - 1].directed):
                leaves.append((u, code, source, True))
    return _Options(edges, nodes, joins, [1.0 / steps[u, v] ** 2 for u, v, _ in joins], leaves)


def _steps(joined: np.ndarray) -> np.ndarray:
    """(N, N) steps between nodes, at most :data:`_TOLD_STEPS`."""
    found = np.full(joined.shape, _TOLD_STEPS)
    reach = np.eye(len(joined), dtype=bool)
    for step in range(1, _TOLD_STEPS):
        reach = reach | (reach.astype(float) @ joined > 0)
        found[reach & (found == _TOLD_STEPS)] = step
    return found


def _drawn(weights: list[float], rng: np.random.Generator) -> int:
    """A place, in proportion to weights."""
    total = np.cumsum(weights)
    return int(np.searchsorted(total, rng.random() * total[-1], side="right"))
