"""Node growth, the network: a small transformer over the grown nodes that scores every possible next step."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from dignn.structure.encodings import random_walk
from dignn.structure.growth_orders import Actions, State
from dignn.structure.vocabulary import Vocabulary

# Walks up to this length tell pairs of nodes apart, and how far apart they are.
WALK = 10
# Numbers of nodes or edges to come are told apart up to this one.
COUNT = 12


class GrowthNetwork(nn.Module):
    """Scores of the next action for graphs of one current size; permutation equivariant except for the newest node.

    Args:
        words: what nodes and edges are.
        actions: what can be decided.
        classes: classes of whole graphs, 0 where nodes are classified.
        width, layers, heads: of the transformer.
    """

    def __init__(
        self, words: Vocabulary, actions: Actions, classes: int, *, width: int = 48, layers: int = 4, heads: int = 4
    ) -> None:
        super().__init__()
        self.heads = heads
        self.words, self.classes = words, classes
        tokens, kinds = words.node_count, words.edge_count
        self.node = nn.Embedding(tokens, width)
        self.newest = nn.Parameter(torch.zeros(width))
        self.closed = nn.Parameter(torch.zeros(width))
        self.local = nn.Linear(kinds - 1 + WALK, width)
        self.plan = nn.Sequential(
            nn.Linear(2 * tokens + 2 * COUNT + 4 + classes, 2 * width), nn.SiLU(), nn.Linear(2 * width, width)
        )
        self.pair = nn.Parameter(torch.randn(layers * heads, 2 * WALK + 1 + kinds))
        self.layers = nn.ModuleList(_Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.scores = nn.Linear(width, actions.count)

    def forward(self, state: State) -> Tensor:
        """(B, n, actions) logits of every action at every node, those that may not come next included."""
        joined = (state.edges > 0).to(self.newest.dtype)
        walks = random_walk(joined, WALK)  # (B, n, n, WALK)
        degrees = functional.one_hot(state.edges, self.words.edge_count)[..., 1:].sum(2).float()  # (B, n, E - 1)
        local = torch.cat([degrees.log1p(), walks.diagonal(dim1=1, dim2=2).transpose(1, 2)], dim=2)
        hidden = self.node(state.nodes) + self.local(local) + self.plan(self._plan(state))[:, None, :]
        hidden = torch.cat([hidden[:, :-1], hidden[:, -1:] + self.newest], dim=1)
        hidden = hidden + state.closed[:, :, None] * self.closed
        bias = (self.pair @ self._pairs(state, walks)).view(len(self.layers), -1, *joined.shape[1:])
        for layer, here in zip(self.layers, bias, strict=True):
            hidden = layer(hidden, here)
        scores: Tensor = self.scores(self.norm(hidden))
        return scores

    def _pairs(self, state: State, walks: Tensor) -> Tensor:
        """What pairs of nodes are to each other: distance, kind of edge, walks.  (features, B * n * n)

        Features come first: so the product with the weights is the attention bias in the layout that layers need.
        """
        reached = walks.cumsum(3).permute(3, 0, 1, 2) > 0  # (WALK, B, n, n) whether j is within 1, 2, ... steps
        far = ~reached[-1:]
        exactly = reached ^ functional.pad(reached, (0, 0, 0, 0, 0, 0, 1, 0))[:-1]
        kinds = functional.one_hot(state.edges, self.words.edge_count).permute(3, 0, 1, 2)
        parts = [exactly.float(), far.float(), kinds.float(), walks.permute(3, 0, 1, 2)]
        return torch.cat(parts).flatten(1)

    def _plan(self, state: State) -> Tensor:
        """What is still to come, for the whole graph.  (B, features)"""
        size = state.nodes.size(1)
        left = state.remaining.float()
        total = state.remaining.sum(1)
        counts = [functional.one_hot(number.clamp_max(COUNT - 1), COUNT).float() for number in (total, state.extra)]
        numbers = torch.stack([total, state.extra, total + size, torch.full_like(total, size)], 1).float().log1p()
        parts = [left.clamp_max(1.0), left.log1p(), *counts, numbers]
        if self.classes:
            known = functional.one_hot(state.label + 1, self.classes + 1)[:, 1:].float()
            parts.append(known)
        return torch.cat(parts, 1)


class _Layer(nn.Module):
    """Attention with a bias per pair, then a feed-forward network, each after a layer norm."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.forward_in, self.forward_out = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        """Of hidden (B, n, width) and bias (heads * B, n, n)"""
        count, size, width = hidden.shape
        each = self.project(self.before(hidden)).view(count, size, 3, self.heads, -1).permute(2, 3, 0, 1, 4)
        query, key, value = each.reshape(3, self.heads * count, size, -1).unbind(0)
        scores = torch.baddbmm(bias, query, key.transpose(1, 2), alpha=(width // self.heads) ** -0.5)
        mixed = torch.bmm(scores.softmax(2), value).view(self.heads, count, size, -1).permute(1, 2, 0, 3)
        hidden = hidden + self.out(mixed.reshape(count, size, width))
        return hidden + self.forward_out(functional.silu(self.forward_in(self.between(hidden))))
