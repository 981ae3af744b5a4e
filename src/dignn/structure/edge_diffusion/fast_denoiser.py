"""A small denoiser of graphs that is quick on a CPU.

Two streams go through the layers: nodes (N, B, width) and pairs of nodes (R, B, width). The batch is not the first
dimension, because reading the nodes of every pair then copies long contiguous rows. Where no relation is directed,
a pair is stored once, i <= j, and every function of a pair is symmetric; otherwise all ordered pairs are stored. The
diagonal is among the pairs: it carries what a node says about itself into the products below.

A layer lets nodes attend to each other with a bias and a gate from the pairs, and changes a pair by a perceptron of
the pair, of its two nodes, of the attention between them, and of the product of two matrices of pairs, which sums
over all third nodes ("triangles"). All graphs of a batch have the same number of nodes, so nothing is masked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from dignn.core.devices import moved
from dignn.structure.encodings import symmetric_walk

WALK_STEPS = 6
# Distances above this one look alike.
LONGEST_DISTANCE = 10
# Added to the Laplacian before it is inverted: small against 1 / nodes, large against what float64 loses.
GROUND = 1e-4
NODE_FEATURES = WALK_STEPS + 3
PAIR_FEATURES = WALK_STEPS + 4
GRAPH_FEATURES = 10
# Size of the network: widths of nodes and pairs, layers, heads of attention, channels of the triangle product.
NODE_WIDTH, PAIR_WIDTH, LAYERS, HEADS, TRIANGLES = 48, 24, 3, 4, 6


@dataclass(frozen=True)
class Pairs:
    """Which pairs of N nodes are stored.

    Args:
        first, second: (R,) their nodes.
        forward, backward: (R,) their places (i, j) and (j, i) in a flat N x N matrix.
        stored: (N * N,) the stored pair of each place.
        above: (P,) the stored pairs i < j, in the order of ``torch.triu_indices``.
        below: (P,) the stored pairs (j, i) of the same; equal to ``above`` where a pair is stored once.
        ends: (R, N) 1 where a pair stored once has the node, 2 on the diagonal; (R, 2 N) for ordered pairs: first
            nodes, then second nodes.
    """

    first: Tensor
    second: Tensor
    forward: Tensor
    backward: Tensor
    stored: Tensor
    above: Tensor
    below: Tensor
    ends: Tensor

    @classmethod
    def of(cls, size: int, directed: bool) -> Pairs:
        every = torch.arange(size * size).reshape(size, size)
        chosen = every.flatten() if directed else every[tuple(torch.triu_indices(size, size))]
        first, second = chosen // size, chosen % size
        stored = torch.empty(size, size, dtype=torch.long)
        stored[first, second] = torch.arange(len(chosen))
        if not directed:
            stored[second, first] = torch.arange(len(chosen))
        i, j = torch.triu_indices(size, size, 1)
        one, other = functional.one_hot(first, size).float(), functional.one_hot(second, size).float()
        ends = torch.cat([one, other], 1) if directed else one + other
        return cls(first, second, chosen, second * size + first, stored.flatten(), stored[i, j], stored[j, i], ends)


class FastDenoiser(nn.Module):
    """Predicts the clean tokens of a noisy graph.

    Args:
        node_tokens: number of node tokens, K.
        edge_tokens: number of edge tokens, E; token 0 is no edge.
        mirror: (E,) the token of (j, i) where that of (i, j) is e.
        condition: width of the condition, C; may be 0.
    """

    mirror: Tensor

    def __init__(self, node_tokens: int, edge_tokens: int, mirror: Tensor, condition: int = 0) -> None:
        super().__init__()
        self.node_tokens, self.edge_tokens = node_tokens, edge_tokens
        self.directed = bool((mirror != torch.arange(edge_tokens)).any())
        self.register_buffer("mirror", mirror.clone(), persistent=False)
        self._pairs: dict[int, Pairs] = {}
        self.graph_in = nn.Sequential(nn.Linear(GRAPH_FEATURES + node_tokens + condition, 2 * NODE_WIDTH), nn.SiLU())
        self.graph_out = nn.Linear(2 * NODE_WIDTH, NODE_WIDTH + PAIR_WIDTH)
        self.node_token = nn.Embedding(node_tokens, NODE_WIDTH)
        self.node_in = nn.Linear(NODE_FEATURES, NODE_WIDTH)
        self.pair_token = nn.Embedding(edge_tokens * (LONGEST_DISTANCE + 3), PAIR_WIDTH)
        self.pair_in = nn.Linear(PAIR_FEATURES, PAIR_WIDTH)
        self.layers = nn.ModuleList(Layer(self.directed) for _ in range(LAYERS))
        self.node_norm, self.pair_norm = nn.LayerNorm(NODE_WIDTH), nn.LayerNorm(PAIR_WIDTH)
        self.node_out = nn.Linear(NODE_WIDTH, node_tokens)
        self.pair_out = nn.Linear(PAIR_WIDTH, edge_tokens)

    def forward(self, nodes: Tensor, edges: Tensor, signal: Tensor, condition: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of clean tokens.

        Args:
            nodes: (B, N) noisy node tokens.
            edges: (B, N, N) noisy edge tokens; ``edges[b, j, i] == mirror[edges[b, i, j]]``, 0 on the diagonal.
            signal: (B,) share of what is left of the clean graph, from 0 to 1.
            condition: (B, C) what else is known of the clean graph.

        Returns:
            node_logits (B, N, K), and pair_logits (B, P, E) of the pairs i < j in the order of ``torch.triu_indices``.
        """
        size = nodes.size(1)
        if size not in self._pairs:
            self._pairs[size] = moved(Pairs.of(size, self.directed), nodes.device)
        pairs = self._pairs[size]
        dtype = self.node_in.weight.dtype
        node, pair, pair_token, graph = encode(nodes, edges, signal, condition, pairs, self.node_tokens, dtype)
        x, e = self.graph_out(self.graph_in(graph)).split([NODE_WIDTH, PAIR_WIDTH], 1)
        x = self.node_in(node) + self.node_token(nodes.T) + x
        e = self.pair_in(pair) + self.pair_token(pair_token) + e
        for layer in self.layers:
            x, e = layer(x, e, pairs)
        e = self.pair_norm(e)
        pair_logits = self.pair_out(e[pairs.above])
        if self.directed:
            pair_logits = pair_logits + self.pair_out(e[pairs.below])[..., self.mirror]
        return self.node_out(self.node_norm(x)).transpose(0, 1), pair_logits.transpose(0, 1)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Called when the module moves: which pairs are stored must be found anew there."""
        self._pairs.clear()
        return super()._apply(fn, recurse)


class Layer(nn.Module):
    """Attention between nodes, then a perceptron of every node and of every pair."""

    def __init__(self, directed: bool) -> None:
        super().__init__()
        self.directed = directed
        hidden = 2 * PAIR_WIDTH
        ends = 2 if directed else 1
        self.attention_norm, self.node_norm = nn.LayerNorm(NODE_WIDTH), nn.LayerNorm(NODE_WIDTH)
        self.pair_norm = nn.LayerNorm(PAIR_WIDTH)
        self.node_parts = [3 * NODE_WIDTH, *[hidden] * ends, *[PAIR_WIDTH] * ends]
        self.from_node = nn.Linear(NODE_WIDTH, sum(self.node_parts))
        self.from_pair = nn.Linear(PAIR_WIDTH, 2 * HEADS + 2 * TRIANGLES)
        self.attended = nn.Linear(NODE_WIDTH, NODE_WIDTH)
        self.node_perceptron = nn.Sequential(
            nn.Linear(NODE_WIDTH, 2 * NODE_WIDTH), nn.ReLU(), nn.Linear(2 * NODE_WIDTH, NODE_WIDTH)
        )
        self.pair_hidden = nn.Linear(PAIR_WIDTH + HEADS + TRIANGLES + PAIR_WIDTH, hidden)
        self.pair_out = nn.Linear(hidden, PAIR_WIDTH)

    def forward(self, x: Tensor, e: Tensor, pairs: Pairs) -> tuple[Tensor, Tensor]:
        """Nodes (N, B, width) and pairs (R, B, width) after this layer."""
        size, batch, _ = x.shape
        head_width = NODE_WIDTH // HEADS
        h, f = self.attention_norm(x), self.pair_norm(e)
        attention, *parts = self.from_node(h).split(self.node_parts, 2)
        # (channels, B, N, N), contiguous, because products of other layouts are slow: bias and gate of attention, and
        # the two factors of the triangle product
        dense = self.from_pair(f).index_select(0, pairs.stored).view(size, size, batch, -1).permute(3, 2, 0, 1)
        bias, gate, left, right = dense.contiguous().split([HEADS, HEADS, TRIANGLES, TRIANGLES])
        q, k, v = attention.view(size, batch, 3, HEADS, head_width).permute(2, 3, 1, 0, 4).contiguous()
        scores = (q * head_width**-0.5) @ k.transpose(2, 3) + bias  # (heads, B, N, N)
        mixed = (scores.softmax(3) * gate.sigmoid()) @ v  # (heads, B, N, head width)
        x = x + self.attended(mixed.permute(2, 1, 0, 3).reshape(size, batch, NODE_WIDTH))
        x = x + self.node_perceptron(self.node_norm(x))

        products = torch.cat([scores, left @ right * size**-0.5]).permute(2, 3, 1, 0).reshape(size * size, batch, -1)
        between = products.index_select(0, pairs.forward)
        if not self.directed:
            between = between + products.index_select(0, pairs.backward)
        ends = len(parts) // 2
        both = parts[ends].index_select(0, pairs.first) * parts[-1].index_select(0, pairs.second)
        hidden = self.pair_hidden(torch.cat([f, between, both], 2))
        added = torch.cat(parts[:ends]).reshape(ends * size, -1)  # (ends * N, B * hidden)
        hidden = torch.addmm(hidden.flatten(1), pairs.ends.to(x.dtype), added).view_as(hidden)
        return x, e + self.pair_out(hidden.relu_())


@torch.no_grad()
def encode(
    nodes: Tensor, edges: Tensor, signal: Tensor, condition: Tensor, pairs: Pairs, node_tokens: int, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What the network is told of a noisy graph, beyond its tokens.

    Returns:
        node (N, B, *), pair (R, B, *), pair_token (R, B) long, graph (B, *).
    """
    batch, size = nodes.shape
    adjacency = (edges > 0).to(dtype)
    degree = adjacency.sum(2)
    resistance, same = resistances(adjacency)
    distance = resistance.round().clamp(max=LONGEST_DISTANCE + 1).long().where(same, LONGEST_DISTANCE + 2)
    common = adjacency @ adjacency
    walks = symmetric_walk(adjacency, WALK_STEPS)  # (B, N, N, steps)
    component = same.sum(2).to(dtype)
    share = component / size
    triangles = (common * adjacency).sum(2)
    squares = common.square().sum(2) - degree.square() - (adjacency @ degree[:, :, None]).squeeze(2) + degree

    node = torch.stack([degree / 3, triangles.log1p(), squares.log1p(), share], 2)
    node = torch.cat([node, walks.diagonal(dim1=1, dim2=2).transpose(1, 2)[..., 1:]], 2).transpose(0, 1)
    pair = torch.stack([common, resistance * 0.3, same.to(dtype), same * share[:, :, None]], 3)
    pair = torch.cat([walks, pair], 3).permute(1, 2, 0, 3).reshape(size * size, batch, -1)
    token = (edges * (LONGEST_DISTANCE + 3) + distance).permute(1, 2, 0).reshape(size * size, batch)
    graph = torch.stack(
        [
            signal,
            (1 - signal).clamp(min=0).sqrt(),
            (signal * torch.pi).sin(),
            (signal * 2 * torch.pi).sin(),
            torch.full_like(signal, size / 10),
            torch.full_like(signal, 10 / size),
            (1 / component).sum(1) / size,
            degree.mean(1),
            triangles.sum(1).log1p(),
            squares.sum(1).log1p(),
        ],
        1,
    )
    histogram = functional.one_hot(nodes, node_tokens).to(dtype).mean(1)
    told = torch.cat([graph.to(dtype), histogram, condition.to(dtype)], 1)
    return node, pair.index_select(0, pairs.forward), token.index_select(0, pairs.forward), told


def resistances(adjacency: Tensor) -> tuple[Tensor, Tensor]:
    """Effective resistance between nodes, 0 where they are not connected, and whether they are.  (B, N, N) each

    Every edge is a resistor of 1 ohm. Between nodes of a tree that is the length of the path; a cycle makes it less;
    an edge without which the graph would fall apart has exactly 1. One inverse gives resistances and components: with
    every node grounded by a little, a current leaves through its own component only.
    """
    exact = adjacency.double()
    inverse = torch.linalg.inv(torch.diag_embed(exact.sum(2) + GROUND) - exact)
    own = inverse.diagonal(dim1=1, dim2=2)
    same = inverse > 1  # about 1 / (GROUND * nodes) inside a component
    return (own[:, :, None] + own[:, None, :] - 2 * inverse).where(same, 0).to(adjacency.dtype), same
