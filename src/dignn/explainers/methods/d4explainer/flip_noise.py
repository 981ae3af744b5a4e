"""Noise of D4Explainer: pairs of nodes are flipped, joined ones become apart and others joined, each by itself.

Types of nodes stay as they are, and only pairs of types that training graphs join are flipped, so that every noisy
graph keeps to the metagraph. What relation joins a pair is no part of the noise: a new edge gets one as frequent as
between nodes of these types. Pairs i < j of N nodes are in the order of ``torch.triu_indices``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from dignn.structure.edge_diffusion.edge_tokens import Tokens
from dignn.structure.vocabulary import Vocabulary


@dataclass(frozen=True)
class FlipNoise:
    """Flips, and what training graphs tell about pairs of node types.

    Args:
        types: (K,) node type of each node token.
        counts: (T, T, E) how often an edge token stands between nodes of two types; token 0 is no edge.
    """

    types: Tensor
    counts: Tensor

    @classmethod
    def of(cls, graphs: Iterable[Tokens], words: Vocabulary) -> FlipNoise:
        """Counts pairs of training graphs, in both directions."""
        types = len(words.schema.node_types)
        counts, one = torch.zeros(types, types, words.edge_count), torch.ones(1)
        for some in graphs:
            first, second = ends(words.types[some.nodes])
            counts.index_put_((first, second, some.pairs), one, accumulate=True)
            counts.index_put_((second, first, words.mirror[some.pairs]), one, accumulate=True)
        return cls(words.types, counts)

    def density(self, kinds: Tensor) -> Tensor:
        """(B, P) how often nodes of types (B, N) are joined; 0 where they never are, and noise leaves them alone."""
        return (self.counts[..., 1:].sum(2) / self.counts.sum(2).clamp_min(1))[ends(kinds)]

    def flipped(self, joined: Tensor, density: Tensor, flips: Tensor | float, generator: torch.Generator) -> Tensor:
        """Joined pairs (B, P) after noise: each that may be joined is flipped with probability ``flips``."""
        return joined ^ ((uniform(joined, generator) < flips) & (density > 0))

    def pure(self, density: Tensor, flips: float, generator: torch.Generator) -> Tensor:
        """(B, P) joined pairs as frequent as in training graphs after noise, and otherwise at random."""
        return uniform(density, generator) < (density + flips - 2 * density * flips) * (density > 0)

    def relations(self, kinds: Tensor, generator: torch.Generator) -> Tensor:
        """(B, P) an edge token, as frequent as between nodes of types (B, N); 0 for pairs that are never joined."""
        counts, both = self.counts[..., 1:], ends(kinds)
        share, every = counts.cumsum(2)[both], counts.sum(2)[both]  # (B, P, E - 1), (B, P)
        mark = uniform(every, generator) * every
        mark = torch.minimum(mark, every.nextafter(torch.zeros_like(every)))  # below the last count, when rounded too
        return ((mark[..., None] >= share).sum(2) + 1) * (every > 0)


def ends(values: Tensor) -> tuple[Tensor, Tensor]:
    """Values of nodes (B, N) at both ends of every pair.  (B, P) each"""
    i, j = torch.triu_indices(values.size(1), values.size(1), 1, device=values.device)
    return values[:, i], values[:, j]


def square(pairs: Tensor, back: Tensor, size: int, empty: float = 0) -> Tensor:
    """Values of pairs i < j (B, P) and of the same pairs the other way, as matrices.  (B, N, N)

    ``empty`` stands on the diagonal.
    """
    i, j = torch.triu_indices(size, size, 1, device=pairs.device)
    found = pairs.new_full((len(pairs), size, size), empty)
    found[:, i, j], found[:, j, i] = pairs, back
    return found


def uniform(like: Tensor, generator: torch.Generator) -> Tensor:
    """Random numbers from 0 to 1, as many as there are values; drawn on the CPU, so that devices do not matter."""
    return torch.rand(like.shape, generator=generator).to(like.device)
