"""Node growth, the forward process: a graph is taken apart node by node, in a random order.

Read backwards it is a growth: a uniformly random node, then again and again a uniformly random edge from the grown
nodes to a new one, followed by the new node's further edges to grown nodes in random order. Each edge is one
decision. The next edge is uniform among the admissible ones, so a model that predicts this distribution exactly, from
what has grown and what remains to be placed, generates graphs of exactly the distribution it learned from.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dignn.structure.vocabulary import Vocabulary


@dataclass(frozen=True)
class Actions:
    """What can be done at a grown node u: attach a new node of some token to it, or join the newest node to it.

    Attach actions come first, then one join action for each edge token but 0.

    Args:
        attach_token, attach_edge: (A,) the new node's token and the edge's token, seen from u, of attach action a.
        code: (K, E) the attach action of a node token and an edge token; -1 where there is none.
        attach_fits: (K, A) whether u's token may take attach action a: the metagraph.
        join_fits: (K, K, E - 1) whether tokens of u and of the newest node may be joined by edge token e + 1.
    """

    attach_token: Tensor
    attach_edge: Tensor
    code: Tensor
    attach_fits: Tensor
    join_fits: Tensor

    @property
    def attaches(self) -> int:
        """Number of attach actions, A."""
        return len(self.attach_token)

    @property
    def count(self) -> int:
        """Number of all actions, A + E - 1."""
        return self.attaches + self.join_fits.size(2)

    @classmethod
    def of(cls, words: Vocabulary) -> Actions:
        fits = words.allowed[..., 1:]  # (K, K, E - 1)
        token, edge = fits.any(0).nonzero().unbind(1)
        code = torch.full((words.node_count, words.edge_count), -1)
        code[token, edge + 1] = torch.arange(len(token))
        return cls(token, edge + 1, code, fits[:, token, edge], fits)


@dataclass(frozen=True)
class Grown:
    """Graphs in growth order: node 0 came first.

    Args:
        nodes: (B, N) node tokens, -1 on padding.
        edges: (B, N, N) edge tokens.
        turn: (B, N, N) for i < k with an edge: 0 for the edge by which k came, then 1, 2, ...; -1 elsewhere.
        back: (B, N) edges of each node to earlier ones.
        label: (B,) class of the graph, -1 where there is none.
    """

    nodes: Tensor
    edges: Tensor
    turn: Tensor
    back: Tensor
    label: Tensor

    def decisions(self) -> Tensor:
        """(D, 3) all decisions as (graph, newest node, edges it already has)."""
        size = (self.nodes >= 0).sum(1)
        found = []
        for newest in range(self.nodes.size(1)):
            least = 0 if newest == 0 else 1
            # After the last edge of a node the next one comes, unless it was the last node.
            most = self.back[:, newest] - (size == newest + 1).long()
            for edges in range(least, int(most.max()) + 1):
                graph = ((newest < size) & (edges <= most)).nonzero()[:, 0]
                found.append(torch.stack([graph, torch.full_like(graph, newest), torch.full_like(graph, edges)], 1))
        return torch.cat(found) if found else torch.empty(0, 3, dtype=torch.long)


def grow(nodes: Tensor, edges: Tensor, label: Tensor, generator: torch.Generator) -> Grown:
    """A random growth of every graph.

    Args:
        nodes: (B, N) tokens, -1 on padding.
        edges: (B, N, N) tokens; every graph is connected.
        label: (B,) class of each graph.
        generator: of the random order.
    """
    count, size = nodes.shape
    there, joined = nodes >= 0, edges > 0
    graph = torch.arange(count)
    order = torch.zeros(count, size, dtype=torch.long)
    parent = torch.zeros(count, size, dtype=torch.long)  # as a node of the given order
    grown = torch.zeros(count, size, dtype=torch.bool)
    since = torch.zeros(count, size)  # when each node came
    for step in range(size):
        if step == 0:
            chosen = _uniform(there, generator)
        else:
            boundary = (joined & grown[:, :, None] & ~grown[:, None, :]).flatten(1)
            pick = _uniform(boundary, generator, (ORDER * since[:, :, None]).expand(-1, -1, size).flatten(1))
            parent[:, step], chosen = pick // size, pick % size
            # Graphs that are complete take their padding in any order.
            chosen = chosen.where(boundary.any(1), (~grown).long().argmax(1))
        order[:, step] = chosen
        grown[graph, chosen] = True
        since[graph, chosen] = float(step)
    place = order.argsort(1)  # position of each node
    nodes = nodes.gather(1, order)
    edges = edges.gather(1, order[:, :, None].expand_as(edges)).gather(2, order[:, None, :].expand_as(edges))
    earlier = (edges > 0).triu(1)  # (B, i, k): k has an edge to the earlier i
    by = place.gather(1, parent)  # (B, k) position of the node by which k came
    key = torch.rand(count, size, size, generator=generator) + 1
    key.scatter_(1, by[:, None, :], 0.0)
    turn = key.masked_fill(~earlier, torch.inf).argsort(1).argsort(1)
    return Grown(nodes, edges, turn.where(earlier, -1), earlier.sum(1), label)


@dataclass(frozen=True)
class State:
    """Unfinished graphs of one current size n, the newest node last.

    Args:
        nodes: (B, n) tokens.
        edges: (B, n, n) tokens.
        remaining: (B, K) nodes of each token that are still to come.
        extra: (B,) edges that are still to come beyond those by which nodes come.
        label: (B,) class of the graph, -1 where there is none.
        closed: (B, n) nodes whose edges are all there.
    """

    nodes: Tensor
    edges: Tensor
    remaining: Tensor
    extra: Tensor
    label: Tensor
    closed: Tensor

    def admissible(self, actions: Actions) -> Tensor:
        """(B, n, actions) what may come next, at which node."""
        left = self.remaining[:, actions.attach_token] > 0  # (B, A)
        attach = actions.attach_fits[self.nodes] & left[:, None, :] & ~self.closed[:, :, None]
        join = actions.join_fits[self.nodes, self.nodes[:, -1:]]
        free = (self.edges[:, :, -1] == 0) & (self.extra > 0)[:, None] & ~self.closed
        free[:, -1] = False
        return torch.cat([attach, join & free[:, :, None]], 2)


def state_at(grown: Grown, decisions: Tensor, words: Vocabulary, actions: Actions) -> tuple[State, Tensor]:
    """The states before some decisions, and the distribution of each decision.

    Args:
        grown: graphs in growth order.
        decisions: (B, 3) rows of :meth:`Grown.decisions` with one and the same newest node.
        words, actions: what nodes, edges and decisions are.

    Returns:
        The states, and (B, n, actions) probabilities of the next action: uniform over the edges that may be next.
    """
    graph, newest, have = decisions[:, 0], int(decisions[0, 1]), decisions[:, 2]
    size = newest + 1
    nodes, edges, turn = grown.nodes[graph], grown.edges[graph], grown.turn[graph, :size, newest]
    to_come = turn >= have[:, None]  # (B, size) edges of the newest node that are still missing
    grown_edges = edges[:, :size, :size].clone()
    grown_edges[:, :, newest] = grown_edges[:, :, newest].masked_fill(to_come, 0)
    grown_edges[:, newest, :] = words.mirror[grown_edges[:, :, newest]]
    later = nodes[:, size:]
    remaining = torch.zeros(len(graph), words.node_count + 1, dtype=torch.long)
    remaining.scatter_add_(1, later.where(later >= 0, words.node_count), torch.ones_like(later))
    extra = (grown.back[graph, size:] - 1).clamp_min(0).sum(1) + to_come.sum(1)
    by = (grown.turn[graph] == 0).long().argmax(1)  # (B, N) position of the node by which each came
    closed = closed_nodes(by[:, :size])
    state = State(nodes[:, :size], grown_edges, remaining[:, :-1], extra, grown.label[graph], closed)

    joins = torch.zeros(len(graph), size, words.edge_count - 1)
    row, node = to_come.nonzero(as_tuple=True)
    joins[row, node, edges[row, node, newest] - 1] = 1.0
    attaches = torch.zeros(len(graph), size, actions.attaches)
    boundary = (edges[:, :size, size:] > 0) & ~to_come.any(1)[:, None, None]
    if ORDER:
        place = torch.arange(size) if ORDER > 0 else torch.arange(size).flip(0)
        chosen = (boundary.any(2) * (1 + place)).argmax(1)
        boundary &= (torch.arange(size) == chosen[:, None])[:, :, None]
    row, node, new = boundary.nonzero(as_tuple=True)
    action = actions.code[nodes[row, new + size], edges[row, node, new + size]]
    attaches.index_put_((row, node, action), torch.ones(len(row)), accumulate=True)
    weight = torch.cat([attaches, joins], 2)
    return state, weight / weight.sum((1, 2), keepdim=True)


def _uniform(options: Tensor, generator: torch.Generator, first: Tensor | float = 0.0) -> Tensor:
    """(B,) a uniformly random true position of each row of (B, M), among those where ``first`` is highest."""
    key = torch.rand(options.shape, generator=generator) + first
    return key.masked_fill(~options, -torch.inf).argmax(1)


ORDER = 0.0


def closed_nodes(by: Tensor) -> Tensor:
    """(B, n) nodes that got their last edge, from the node by which each came (B, n)."""
    size = by.size(1)
    if not ORDER:
        return torch.zeros_like(by, dtype=torch.bool)
    place = torch.arange(size)
    if ORDER > 0:  # i is closed if some later m came by an earlier node than i
        found = (place[:, None] < place) & (by[:, None, :] < place[:, None])  # (B, i, m)
    else:
        found = (by[:, None, :] > place[:, None]) & (place > 0)
    return found.any(2)
