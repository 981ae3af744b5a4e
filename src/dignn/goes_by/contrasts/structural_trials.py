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
# Chance that something is taken away and something added at once.
_BOTH = 0.3


@dataclass(frozen=True)
class _Options:
    """What can be done to a graph.

    Args:
        edges: pairs of joined nodes.
        nodes: nodes that may go.
        joins: (source, target, relation) of edges that may come.
        leaves: (joined to, relation, type, whether it is the source) of nodes that may come.
    """

    edges: list[tuple[int, int]]
    nodes: list[int]
    joins: list[tuple[int, int, int]]
    leaves: list[tuple[int, int, int, bool]]


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
    less, more = bool(options.edges or options.nodes), bool(options.joins or options.leaves)
    if not (less or more):
        count = 0
    gone_edges, gone_nodes = torch.zeros(count, size, size, dtype=torch.bool), torch.zeros(count, size).bool()
    fresh = torch.zeros_like(gone_nodes)
    new = torch.full((count,), -1)
    u, v, code = torch.zeros(3, count, dtype=torch.long)
    for trial in range(count):
        both = less and more and rng.random() < _BOTH
        fewer = less and (not more or both or rng.random() < 0.5)
        gone = -1
        if fewer and options.edges and (not options.nodes or rng.random() < 0.5):
            a, b = options.edges[_drawn([weight[a] + weight[b] for a, b in options.edges], rng)]
            gone_edges[trial, a, b] = True
        elif fewer:
            gone = options.nodes[_drawn([weight[a] for a in options.nodes], rng)]
            gone_nodes[trial, gone] = True
        if both or not fewer:
            join, added = _addition(options, gone, weight, free, rng)
            if join is not None:
                u[trial], v[trial], code[trial] = join
                new[trial] = added
                fresh[trial, free if added >= 0 else 0] = added >= 0
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


def _addition(
    options: _Options, gone: int, weight: np.ndarray, free: int, rng: np.random.Generator
) -> tuple[tuple[int, int, int] | None, int]:
    """An edge (source, target, relation) to add, and the type of a node at its end that is new, -1 for none."""
    joins = [join for join in options.joins if gone not in join[:2]]
    leaves = [leaf for leaf in options.leaves if leaf[0] != gone]
    if joins and (not leaves or rng.random() < 0.5):
        return joins[_drawn([weight[a] + weight[b] for a, b, _ in joins], rng)], -1
    if not leaves:
        return None, -1
    anchor, code, kind, source = leaves[_drawn([weight[leaf[0]] for leaf in leaves], rng)]
    return ((free, anchor, code) if source else (anchor, free, code)), kind


def _options(graph: GraphBatch, node: int, room: bool) -> _Options:
    schema, types = graph.schema, graph.node_type[0].tolist()
    there = graph.mask[0].nonzero()[:, 0].tolist()
    joined = graph.undirected[0].numpy()
    edges = [(int(u), int(v)) for u, v in zip(*np.nonzero(np.triu(joined, 1)), strict=True)]
    nodes = [v for v in there if v != node] if len(there) > 1 else []
    joins, leaves = [], []
    for u in there:
        for v in there:
            for code in schema.allowed[types[u], types[v], 1:].nonzero()[0] + 1:
                # an edge that goes both ways is one, whichever end it is counted from
                if u != v and not joined[u, v] and (u < v or schema.relations[code - 1].directed):
                    joins.append((u, v, int(code)))
        for code in range(1, len(schema.relations) + 1):
            source, target = schema.ends(code)
            if room and types[u] == source:
                leaves.append((u, code, target, False))
            if room and types[u] == target and (source != target or schema.relations[code - 1].directed):
                leaves.append((u, code, source, True))
    return _Options(edges, nodes, joins, leaves)


def _drawn(weights: list[float], rng: np.random.Generator) -> int:
    """A place, in proportion to weights."""
    total = np.cumsum(weights)
    return int(np.searchsorted(total, rng.random() * total[-1], side="right"))
