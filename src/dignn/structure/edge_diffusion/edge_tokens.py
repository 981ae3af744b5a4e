"""Graphs of one size as edge diffusion sees them: tokens of nodes and of pairs, and what is known of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from dignn.graphs.batch import GraphBatch
from dignn.structure.encodings import components
from dignn.structure.vocabulary import Vocabulary


@dataclass(frozen=True)
class Tokens:
    """Graphs of one size N, clean or noisy.

    Args:
        nodes: (B, N) node tokens.
        pairs: (B, P) edge tokens of the pairs i < j in the order of ``torch.triu_indices``.
        known: (B, 1 + K + E) long, of the clean graph: its class (-1 if unknown), nodes of each token, pairs of each
            token; a token and its mirror are counted together, as the smaller of the two.
    """

    nodes: Tensor
    pairs: Tensor
    known: Tensor

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, index: Tensor) -> Tokens:
        return Tokens(self.nodes[index], self.pairs[index], self.known[index])

    @property
    def size(self) -> int:
        return self.nodes.size(1)

    @classmethod
    def by_size(cls, graphs: GraphBatch, vocabulary: Vocabulary) -> dict[int, Tokens]:
        """The graphs of each size."""
        found = {}
        sizes = graphs.sizes
        for size in sorted(set(sizes.tolist())):
            some = graphs[sizes == size]
            # Padding may lie between nodes; a stable sort moves it behind them.
            order = some.mask.byte().argsort(dim=1, descending=True, stable=True)
            nodes, edges = vocabulary.encode(some.permute(order))
            i, j = torch.triu_indices(size, size, 1)
            nodes, pairs = nodes[:, :size], edges[:, i, j]
            lower = unordered(vocabulary)[pairs]
            of_nodes = functional.one_hot(nodes, vocabulary.node_count).sum(1)
            of_pairs = functional.one_hot(lower, vocabulary.edge_count).sum(1)
            found[size] = cls(nodes, pairs, torch.cat([some.graph_label[:, None], of_nodes, of_pairs], 1))
        return found

    @classmethod
    def blank(cls, known: Tensor, size: int, vocabulary: Vocabulary) -> Tokens:
        """Graphs of which so much is known, without any edges. Their nodes are in the order of tokens."""
        counts = known[:, 1 : 1 + vocabulary.node_count]
        token = torch.arange(vocabulary.node_count, device=known.device).expand_as(counts)
        nodes = token.flatten().repeat_interleave(counts.flatten()).view(len(known), size)
        return cls(nodes, known.new_zeros(len(known), size * (size - 1) // 2), known)

    def decode(self, vocabulary: Vocabulary) -> GraphBatch:
        return vocabulary.decode(self.nodes, self.matrix(vocabulary.mirror.to(self.nodes.device)), self.known[:, 0])

    def matrix(self, mirror: Tensor) -> Tensor:
        """Edge tokens of all ordered pairs; 0 on the diagonal.  (B, N, N)"""
        i, j = self._places()
        edges = self.pairs.new_zeros(len(self), self.size, self.size)
        edges[:, i, j], edges[:, j, i] = self.pairs, mirror[self.pairs]
        return edges

    def ends(self) -> tuple[Tensor, Tensor]:
        """Node tokens at both ends of every pair.  (B, P) each"""
        i, j = self._places()
        return self.nodes[:, i], self.nodes[:, j]

    def components(self) -> tuple[Tensor, Tensor]:
        """Whether the ends of each pair are connected (B, P), and the number of components (B,)."""
        there = (self.pairs > 0).long()
        edges = Tokens(self.nodes, there, self.known).matrix(torch.arange(2, device=there.device))
        same, _, count = components(edges.float())
        i, j = self._places()
        return same[:, i, j], count

    def _places(self) -> Tensor:
        """Both nodes of every pair.  (2, P)"""
        return torch.triu_indices(self.size, self.size, 1, device=self.nodes.device)


def unordered(vocabulary: Vocabulary) -> Tensor:
    """The smaller of each edge token and its mirror.  (E,)"""
    return torch.minimum(torch.arange(vocabulary.edge_count), vocabulary.mirror)
