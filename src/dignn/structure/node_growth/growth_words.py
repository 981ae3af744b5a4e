"""Words of node growth: node tokens that also say which part a node plays in the finished graph."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from dignn.graphs.batch import PADDING, GraphBatch
from dignn.graphs.isomorphism import fingerprints
from dignn.graphs.schema import Schema
from dignn.structure.node_growth.growth_roles import DETAILS, TREE_DETAILS, Detail, Position
from dignn.structure.vocabulary import Vocabulary

# Of fewer graphs than this roles are not told: what grows by the parts of one graph would be a copy of it.
FEW = 1000
# But for trees of so many nodes, whose parts can be put together in many ways.
_ROOM = 18
# A role of fewer nodes than one in this many is no word of its own.
_RARE = 250
# Pairs of a token and an edge that its nodes have, at most, where types and classes alone are fewer: a decision is
# one softmax over them at every grown node.
_PAIRS = 48
# Share of the validation graphs whose plan a graph to learn from has, at least, so that plans may be drawn from those;
# and copies that an exact network would make by such plans beyond those that are among real graphs, at most.
_KNOWN, _COPIES = 0.3, 1 / 3
# The role of nodes whose own role is no word.
_OTHER = -1


@dataclass(frozen=True)
class GrowthWords(Vocabulary):
    """Node tokens are a type, a class and a role, and have the edges that nodes of this kind have in training graphs.

    Args:
        schema, nodes, edges: as in :class:`~dignn.structure.vocabulary.Vocabulary`; pairs of ``nodes`` repeat.
        detail: what roles tell apart.
        roles: the role of each node token, -1 for all that have no token of their own.
        least: nodes of graphs whose roles are told; in smaller ones every node has role 0.
        ends: the edge tokens that nodes of each token have, seen from them.
        most: how many edges they have at most.
    """

    detail: Detail = DETAILS[-1]
    roles: tuple[int, ...] = ()
    least: int = 0
    ends: tuple[tuple[int, ...], ...] = ()
    most: tuple[int, ...] = ()

    @classmethod
    def fitting(cls, graphs: GraphBatch, learning: Tensor, validation: Tensor) -> GrowthWords:
        """The words with most detail by which plans are still common, and do not tell of one training graph each.

        Graphs grow by plans of graphs to learn from. Of the validation graphs a share k has such a plan, and a share v
        is isomorphic to a graph to learn from. So an exact network would make a share v / k of copies where v is real.
        Of few graphs every plan tells of one anyway, so roles are not told there, but for large trees: heights above
        leaves leave many ways to join their nodes.

        Args:
            graphs: training graphs.
            learning, validation: numbers of the graphs that are learned from and of the others.
        """
        plain = Vocabulary.of(graphs)
        nodes, edges = plain.encode(graphs)
        joined = edges > 0
        trees = bool((joined.sum((1, 2)) == 2 * (graphs.sizes - 1)).all())
        details = TREE_DETAILS if trees else DETAILS
        without = cls.told(plain, nodes, edges, details[-1])
        if not len(validation) or sum(map(len, without.ends)) >= _PAIRS:
            return without
        if len(graphs) < FEW:
            return cls.told(plain, nodes, edges, details[-2], least=_ROOM) if trees else without
        copies = _found_again(fingerprints(graphs), learning, validation)
        position = Position.of(joined, details[0].cycles, details[0].heights)  # the first tells the most
        for detail in details[:-1]:
            roles = detail.told(position)
            found = cls.told(plain, nodes, edges, detail, roles)
            plans = found.plans(found.worded(nodes, roles), edges, graphs.graph_label)
            known = _found_again(plans, learning, validation)
            if known >= _KNOWN and copies / known - copies <= _COPIES:
                return found
        return without

    @classmethod
    def told(
        cls,
        plain: Vocabulary,
        nodes: Tensor,
        edges: Tensor,
        detail: Detail,
        part: Tensor | None = None,
        least: int = 0,
    ) -> GrowthWords:
        """The words of graphs with tokens (B, N) and (B, N, N): those of the most frequent roles, if there is room.

        ``part`` (B, N) has the nodes' roles where they are known; those of graphs of ``least`` nodes are told.
        """
        there = nodes >= 0
        part = _of_large(detail.roles(edges > 0) if part is None else part, nodes, least)
        counts = Counter(zip(nodes[there].tolist(), part[there].tolist(), strict=True))
        rare = int(there.sum()) / _RARE
        frequent = [pair for pair, number in counts.most_common() if number >= rare] if detail.count > 1 else []
        while True:
            kept = set(frequent)
            words = sorted(kept | {(token, _OTHER) for token, role in counts if (token, role) not in kept})
            pairs, roles = tuple(plain.nodes[token] for token, _ in words), tuple(role for _, role in words)
            found = cls(plain.schema, pairs, plain.edges, detail, roles, least)
            refined = found.worded(nodes, part)
            found = replace(found, ends=_ends(refined, edges, len(words)), most=_most(refined, edges, len(words)))
            if not frequent or sum(map(len, found.ends)) <= _PAIRS:
                return found
            frequent = frequent[: len(frequent) * 7 // 8]

    @cached_property
    def allowed(self) -> Tensor:
        """(K, K, E) may nodes of these tokens be joined like this? The metagraph, and which edges their nodes have."""
        has = torch.zeros(self.node_count, self.edge_count, dtype=torch.bool)
        for token, own in enumerate(self.ends):
            has[token, list(own)] = True
        has[:, 0] = True
        return super().allowed & has[:, None, :] & has[None, :, self.mirror]

    @cached_property
    def most_edges(self) -> Tensor:
        """(K,) how many edges a node of each token has at most, in training graphs."""
        return torch.tensor(self.most)

    @cached_property
    def _plain(self) -> Vocabulary:
        """Types and classes alone."""
        return Vocabulary(self.schema, tuple(dict.fromkeys(self.nodes)), self.edges)

    @cached_property
    def _token(self) -> Tensor:
        """(plain tokens, roles) the token of each, :data:`PADDING` where there is none."""
        found = torch.full((self._plain.node_count, self.detail.count), PADDING)
        for others in (True, False):  # tokens of all other roles first
            for token, (pair, role) in enumerate(zip(self.nodes, self.roles, strict=True)):
                if (role == _OTHER) == others:
                    found[self._plain.nodes.index(pair), slice(None) if others else role] = token
        return found

    def refined(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """(B, N) tokens of nodes with plain tokens (B, N) in graphs with edges (B, N, N)."""
        return self.worded(nodes, self.detail.roles(edges > 0))

    def worded(self, nodes: Tensor, roles: Tensor) -> Tensor:
        """(B, N) tokens of nodes with plain tokens (B, N) and roles (B, N)."""
        return self._token[nodes.clamp_min(0), _of_large(roles, nodes, self.least)].where(nodes >= 0, PADDING)

    def encode(self, graphs: GraphBatch) -> tuple[Tensor, Tensor]:
        nodes, edges = self._plain.encode(graphs)
        return self.refined(nodes, edges), edges

    def misfits(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """(B,) how many nodes of graphs that have grown do not play the part that their token (B, N) says."""
        plain = torch.tensor([self._plain.nodes.index(pair) for pair in self.nodes])[nodes.clamp_min(0)]
        return (self.refined(plain.where(nodes >= 0, PADDING), edges) != nodes).sum(1)

    def plans(self, nodes: Tensor, edges: Tensor, label: Tensor) -> list[tuple[int, ...]]:
        """What there is of each token, how many edges, and the class, of each graph with tokens (B, N), (B, N, N)."""
        tokens = [(nodes == token).sum(1) for token in range(self.node_count)]
        return [tuple(row) for row in torch.stack([*tokens, (edges > 0).sum((1, 2)), label], 1).tolist()]

    def to_json(self) -> str:
        told = {
            "detail": [self.detail.degrees, self.detail.cycles, self.detail.heights],
            "roles": self.roles,
            "least": self.least,
            "ends": self.ends,
            "most": self.most,
        }
        return json.dumps(json.loads(super().to_json()) | told)

    @classmethod
    def from_json(cls, text: str, schema: Schema) -> GrowthWords:
        """What :meth:`to_json` wrote. Raises if it is of another schema."""
        plain, raw = Vocabulary.from_json(text, schema), json.loads(text)
        ends, detail = tuple(tuple(map(int, own)) for own in raw["ends"]), Detail(*map(int, raw["detail"]))
        roles, most = (tuple(map(int, raw[name])) for name in ("roles", "most"))
        return cls(schema, plain.nodes, plain.edges, detail, roles, int(raw["least"]), ends, most)


def _of_large(roles: Tensor, nodes: Tensor, least: int) -> Tensor:
    """(B, N) the roles of nodes (B, N) in graphs of ``least`` nodes, 0 in smaller ones."""
    return roles.where(((nodes >= 0).sum(1) >= least)[:, None], 0)


def _found_again(items: Sequence[Hashable], learning: Tensor, validation: Tensor) -> float:
    """Share of the validation graphs whose item a graph to learn from has."""
    learned = {items[number] for number in learning.tolist()}
    return sum(items[number] in learned for number in validation.tolist()) / max(1, len(validation))


def _ends(nodes: Tensor, edges: Tensor, count: int) -> tuple[tuple[int, ...], ...]:
    """Edge tokens of nodes of each of ``count`` tokens, in graphs with tokens (B, N) and (B, N, N)."""
    graph, u, v = edges.nonzero(as_tuple=True)
    has = torch.zeros(count, int(edges.max()) + 1, dtype=torch.bool)
    has[nodes[graph, u], edges[graph, u, v]] = True
    return tuple(tuple(own.nonzero()[:, 0].tolist()) for own in has)


def _most(nodes: Tensor, edges: Tensor, count: int) -> tuple[int, ...]:
    """Most edges of a node of each of ``count`` tokens, in graphs with tokens (B, N) and (B, N, N)."""
    there, degree = nodes >= 0, (edges > 0).sum(2)
    found = torch.zeros(count, dtype=torch.long)
    return tuple(found.scatter_reduce(0, nodes[there], degree[there], "amax").tolist())
