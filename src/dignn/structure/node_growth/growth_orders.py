"""Node growth, the forward process: a graph is taken apart node by node, in a random depth-first order.

Read backwards it is a growth: a uniformly random node, then again and again a random edge from the latest grown node
that lacks one to a new node, followed by the new node's further edges to grown nodes, in random order. Each edge is
one event. A model that predicts the next event exactly, from what has grown and what remains to be placed, generates
graphs of exactly the distribution it learned from.
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
        most_edges: (K,) how many edges a node of each token takes at most.
    """

    attach_token: Tensor
    attach_edge: Tensor
    code: Tensor
    attach_fits: Tensor
    join_fits: Tensor
    most_edges: Tensor

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
        return cls(token, edge + 1, code, fits[:, token, edge], fits, words.most_edges)


@dataclass(frozen=True)
class Grown:
    """Graphs in growth order: node 0 came first.

    Args:
        nodes: (B, N) node tokens, -1 on padding.
        edges: (B, N, N) edge tokens.
        turn: (B, N, N) for i < k with an edge: 0 for the edge by which k came, then 1, 2, ...; -1 elsewhere.
        label: (B,) class of the graph, -1 where there is none.
    """

    nodes: Tensor
    edges: Tensor
    turn: Tensor
    label: Tensor


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
    came = torch.full((count, size), -1)  # when each node came
    lacking = joined.sum(2)  # edges of each node to nodes that have not come
    for step in range(size):
        if step == 0:
            chosen = _uniform(there, generator)
        else:
            latest = came.masked_fill(lacking == 0, -1).argmax(1)
            options = joined[graph, latest] & (came < 0) & (came[graph, latest] >= 0)[:, None]
            chosen = _uniform(options, generator)
            parent[:, step] = latest
            # Graphs that are complete take their padding in any order.
            chosen = chosen.where(options.any(1), (came < 0).long().argmax(1))
        order[:, step] = chosen
        came[graph, chosen] = step
        lacking -= joined[graph, chosen].long()
    nodes = nodes.gather(1, order)
    edges = edges.gather(1, order[:, :, None].expand_as(edges)).gather(2, order[:, None, :].expand_as(edges))
    earlier = (edges > 0).triu(1)  # (B, i, k): k has an edge to the earlier i
    by = came.gather(1, parent)
    key = torch.rand(count, size, size, generator=generator) + 1
    key.scatter_(1, by[:, None, :], 0.0)
    turn = key.masked_fill(~earlier, torch.inf).argsort(1).argsort(1)
    return Grown(nodes, edges, turn.where(earlier, -1), label)


def _uniform(options: Tensor, generator: torch.Generator) -> Tensor:
    """(B,) a uniformly random true position of each row of (B, M)."""
    return torch.rand(options.shape, generator=generator).masked_fill(~options, -1.0).argmax(1)
