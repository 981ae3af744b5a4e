"""Graphs that are built edge by edge, many at once, and what may be joined in them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dignn.graphs.batch import PADDING, GraphBatch
from dignn.structure.vocabulary import Vocabulary


@dataclass(frozen=True)
class Rules:
    """What real graphs allow. Here T is the number of node types, and E that of edge tokens (0 is no edge).

    Args:
        words: node tokens are the types, whatever the class; edge tokens are relations with their direction, so that a
            pair of types may have several.
        most_edges: (T,) edges of a node of each type at most, as in real graphs; 0 for types that never have one.
        first: (T,) how often a graph starts with a node of each type: as frequent as in real graphs among those that
            are, or make up, what the model answers about.
    """

    words: Vocabulary
    most_edges: Tensor
    first: Tensor

    @classmethod
    def of(cls, real: GraphBatch) -> Rules:
        """Those of real graphs."""
        schema = real.schema
        kinds = range(len(schema.node_types))
        words = Vocabulary(schema, tuple((kind, PADDING) for kind in kinds), Vocabulary.of(real).edges)
        kind, edges = real.node_type[real.mask], real.undirected.sum(2)[real.mask]
        most_edges = torch.zeros(len(kinds), dtype=torch.long).scatter_reduce(0, kind, edges, "amax")
        answered = torch.from_numpy(schema.task.types(schema.node_types))
        share = torch.bincount(kind, minlength=len(kinds)) * answered
        joined = share * (most_edges > 0)
        return cls(words, most_edges, (joined if bool(joined.any()) else share).double())

    @property
    def types(self) -> int:
        """T."""
        return len(self.most_edges)

    @property
    def joins(self) -> Tensor:
        """(T, T, E - 1) whether nodes of two types may be joined by an edge token: the metagraph."""
        return self.words.allowed[..., 1:]


@dataclass(frozen=True)
class Choice:
    """A decision for each of G graphs of up to N nodes: two ends, and the edge between them.

    Args:
        start: (G,) a node.
        tail: (G,) a node, or N + t for a new one of type t.
        token: (G,) the edge token, seen from the start; not 0.
    """

    start: Tensor
    tail: Tensor
    token: Tensor


@dataclass(frozen=True)
class Building:
    """G graphs of up to N nodes. After its nodes each has one *candidate* of every type, which may become a node.

    Args:
        rules: what may be joined.
        nodes: (G, N) types, -1 where there is no node yet.
        edges: (G, N, N) edge tokens.
    """

    rules: Rules
    nodes: Tensor
    edges: Tensor

    @classmethod
    def begin(cls, rules: Rules, count: int, capacity: int, generator: torch.Generator) -> Building:
        """Graphs of one node, with room for ``capacity``."""
        nodes = torch.full((count, capacity), PADDING)
        nodes[:, 0] = torch.multinomial(rules.first, count, replacement=True, generator=generator)
        return cls(rules, nodes, torch.zeros(count, capacity, capacity, dtype=torch.long))

    @property
    def sizes(self) -> Tensor:
        """(G,) nodes."""
        return (self.nodes >= 0).sum(1)

    @property
    def kinds(self) -> Tensor:
        """(G, N + T) types of nodes, -1 where there is none, and of candidates."""
        candidates = torch.arange(self.rules.types).expand(len(self.nodes), -1)
        return torch.cat([self.nodes, candidates], dim=1)

    def __getitem__(self, graphs: Tensor) -> Building:
        """Some of them, by number or by a mask."""
        return Building(self.rules, self.nodes[graphs], self.edges[graphs])

    def repeat(self, times: int) -> Building:
        """Each of them so often, one after the other."""
        return Building(self.rules, self.nodes.repeat_interleave(times, 0), self.edges.repeat_interleave(times, 0))

    # -- what may be done -----------------------------------------------------------------------------

    def consistent(self) -> Tensor:
        """(G, N, N + T) which ends the metagraph lets be joined: two nodes, or a node and a candidate."""
        joinable = self.rules.joins.any(2) & (self.rules.most_edges > 0)  # a tail that no real graph joins is none
        # Row and column of types that are not there: nothing is joined to nothing.
        joinable = torch.nn.functional.pad(joinable, (0, 1, 0, 1))
        kinds = self.kinds
        found = joinable[self.nodes[:, :, None], kinds[:, None, :]]
        found.diagonal(dim1=1, dim2=2).fill_(False)  # a node and itself
        return found

    def valid(self, most_nodes: Tensor | int) -> Tensor:
        """(G, N, N + T) those that keep to the degrees of real graphs, join no pair twice and add no node too many.

        ``most_nodes``: (G,) or one number for all.
        """
        capacity = self.nodes.size(1)
        limit = self.rules.most_edges[self.nodes.clamp_min(0)]
        free = (self.edges > 0).sum(2) < limit  # (G, N)
        small = (self.sizes < most_nodes)[:, None, None]
        found = self.consistent() & free[:, :, None]
        found[:, :, :capacity] &= free[:, None, :] & (self.edges == 0)
        found[:, :, capacity:] &= small
        return found

    def growing(self, ends: Tensor) -> Tensor:
        """(G, N, N + T) those of some ends that add a node."""
        added = torch.arange(ends.size(2)) >= self.nodes.size(1)
        return ends & added

    def tokens(self, ends: Tensor, start: Tensor) -> Tensor:
        """(G, N + T, E - 1) tails and edge tokens that go with a start (G,), among ends (G, N, N + T) to join."""
        graph = torch.arange(len(start))
        kinds = self.kinds
        fits = self.rules.joins[kinds[graph, start][:, None].clamp_min(0), kinds.clamp_min(0)]
        return fits & ends[graph, start][:, :, None]

    # -- what is done ---------------------------------------------------------------------------------

    def joined(self, choice: Choice, graphs: Tensor) -> Building:
        """The same after a decision, in those graphs (G,) bool in which it counts."""
        nodes, edges, capacity = self.nodes.clone(), self.edges.clone(), self.nodes.size(1)
        graph = graphs.nonzero()[:, 0]
        start, tail, token = choice.start[graph], choice.tail[graph], choice.token[graph]
        new = tail >= capacity
        place = tail.where(~new, self.sizes[graph])
        nodes[graph[new], place[new]] = tail[new] - capacity
        edges[graph, start, place] = token
        edges[graph, place, start] = self.rules.words.mirror[token]
        return Building(self.rules, nodes, edges)

    def graphs(self) -> GraphBatch:
        """As graphs without features and classes."""
        return self.rules.words.decode(self.nodes, self.edges, torch.full((len(self.nodes),), PADDING))
