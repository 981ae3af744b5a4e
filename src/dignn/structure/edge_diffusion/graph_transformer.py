"""The paper's denoiser: the graph transformer of DiGress (Vignac et al., ICLR 2023, appendix "Layer architecture").

Three streams go through the layers: nodes x (B, N, dx), ordered pairs e (B, N, N, de) and the graph y (B, dy). Nodes
attend to each other with one score for each channel; pairs modulate the scores, the scores become the new pairs, and
the graph modulates both. All graphs of a batch have N nodes, so there is no padding, and no mask is needed anywhere.

On a CPU the tensors (B, N, N, dx) decide the speed. So a batch goes through in chunks that fit the cache, and
modulations are merged into neighbouring matrix products where that gives the same result:

* the graph's modulation of the scores before their output layer is a weight matrix of that layer for each graph;
* a bias of what pairs add to the scores would do nothing: the softmax ignores it, and the output layer's
  modulated bias can express it;
* the first perceptron of the pairs sees E + 1 different inputs only (tokens and the diagonal), so it is applied to
  these and looked up.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from dignn.structure.encodings import cycle_counts, spectral_features

EIGENVALUES = 5
EIGENVECTORS = 2
DIGRESS_NODE_FEATURES = 3 + 1 + EIGENVECTORS
DIGRESS_GRAPH_FEATURES = 4 + 1 + EIGENVALUES + 2
# So many cycles (per node or graph) and more look alike to the network, as in DiGress.
MANY_CYCLES = 10
# Nodes are counted in this unit.
SIZE_UNIT = 10
# Ordered pairs of nodes that go through the layers at once: their scores (5 MB) then stay in the cache.
CACHED_PAIRS = 4608


class GraphTransformer(nn.Module):
    """Predicts the clean graph from a noisy one; exactly equivariant to the order of nodes.

    Args:
        node_tokens: K.
        edge_tokens: E; token 0 is "no edge".
        mirror: (E,) long; what (j, i) is when (i, j) is e. Differs from e for directed relations.
        condition: width C of what else is known of a graph; may be 0.
        layers, dx, de, dy: depth, and widths of nodes, pairs and graph.
        heads: scales the scores by (dx / heads)^-1/2. Scores are per channel, so heads do nothing else.
        ffx, ffe, ffy: widths inside the feed-forward parts, and of the perceptrons that read and write.

    Weights are drawn from torch's global generator, as those of any module: seed it before.
    """

    mirror: Tensor

    def __init__(
        self,
        node_tokens: int,
        edge_tokens: int,
        mirror: Tensor,
        condition: int,
        layers: int = 5,
        dx: int = 256,
        de: int = 64,
        dy: int = 64,
        heads: int = 8,
        ffx: int = 256,
        ffe: int = 128,
        ffy: int = 128,
    ) -> None:
        super().__init__()
        self.node_tokens, self.edge_tokens = node_tokens, edge_tokens
        self.register_buffer("mirror", mirror.clone())
        self.read_nodes = _perceptron(node_tokens + DIGRESS_NODE_FEATURES, ffx, dx, activate=True)
        self.read_pairs = _perceptron(edge_tokens + 1, ffe, de, activate=True)  # one more for the diagonal
        self.read_graph = _perceptron(DIGRESS_GRAPH_FEATURES + condition, ffy, dy, activate=True)
        self.layers = nn.ModuleList(
            Layer(dx, de, dy, heads, ffx, ffe, ffy, last=number == layers - 1) for number in range(layers)
        )
        self.write_nodes = _perceptron(dx, ffx, node_tokens)
        self.write_pairs = _perceptron(de, ffe, edge_tokens)

    def forward(self, nodes: Tensor, edges: Tensor, signal: Tensor, condition: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of clean tokens: (node (B, N, K), pair (B, P, E)), pairs in the order of ``torch.triu_indices``.

        Args:
            nodes: (B, N) long.
            edges: (B, N, N) long, with ``edges[b, j, i] == mirror[edges[b, i, j]]`` and 0 on the diagonal.
            signal: (B,) probability that a token is still clean.
            condition: (B, C) float.
        """
        size = nodes.size(1)
        chunk = max(1, CACHED_PAIRS // size**2)
        pieces = zip(*(given.split(chunk) for given in (nodes, edges, signal, condition)), strict=True)
        node_logits, pair_logits = zip(*(self._denoise(*piece) for piece in pieces), strict=True)
        return torch.cat(node_logits), torch.cat(pair_logits)

    def _denoise(self, nodes: Tensor, edges: Tensor, signal: Tensor, condition: Tensor) -> tuple[Tensor, Tensor]:
        count, size = nodes.shape
        node_token = functional.one_hot(nodes, self.node_tokens).float()
        node_features, graph_features = features(edges)
        x = self.read_nodes(torch.cat([node_token, node_features], 2))
        lookup = torch.where(torch.eye(size, dtype=torch.bool, device=edges.device), self.edge_tokens, edges)
        e = functional.embedding(lookup, self.read_pairs(torch.eye(self.edge_tokens + 1, device=edges.device)))
        extent = signal.new_full((count, 1), size / SIZE_UNIT)
        y = self.read_graph(torch.cat([graph_features, signal[:, None], extent, condition], 1))
        for layer in self.layers:
            x, e, y = layer(x, e, y)
        # What was read is added to what is written, so that the network starts from "all tokens stay".
        node_logits = self.write_nodes(x) + node_token
        first, second = torch.triu_indices(size, size, 1, device=edges.device)
        forth, back = self.write_pairs(e[:, first, second]), self.write_pairs(e[:, second, first])
        pair_token = functional.one_hot(edges[:, first, second], self.edge_tokens).float()
        return node_logits, (forth + back[:, :, self.mirror]) / 2 + pair_token


class Layer(nn.Module):
    """One layer; the last one leaves the graph stream as it is, since nothing reads it afterwards."""

    def __init__(self, dx: int, de: int, dy: int, heads: int, ffx: int, ffe: int, ffy: int, last: bool) -> None:
        super().__init__()
        self.scale = (dx / heads) ** -0.5
        self.query, self.key, self.value = (nn.Linear(dx, dx) for _ in range(3))
        self.pair_scale = nn.Linear(de, dx)  # modulation of the scores by pairs
        self.pair_shift = nn.Linear(de, dx, bias=False)
        self.graph_to_pairs = nn.Linear(dy, 2 * dx)  # modulation of scores, and of what nodes gather, by the graph
        self.graph_to_nodes = nn.Linear(dy, 2 * dx)
        self.pair_out, self.node_out = nn.Linear(dx, de), nn.Linear(dx, dx)
        self.node_norm, self.pair_norm = nn.LayerNorm(dx), nn.LayerNorm(de)
        self.node_forward, self.pair_forward = Forward(dx, ffx), Forward(de, ffe)
        self.graph = None if last else GraphUpdate(dx, de, dy, ffy)

    def forward(self, x: Tensor, e: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        to_pairs, to_nodes = self.graph_to_pairs(y), self.graph_to_nodes(y)
        pair_scale, pair_shift = to_pairs.chunk(2, -1)
        gathered, new_e = PairAttention.apply(
            e,
            self.query(x) * self.scale,
            self.key(x),
            self.value(x),
            self.pair_scale.weight,
            self.pair_scale.bias + 1,
            self.pair_shift.weight,
            (pair_scale + 1)[:, :, None] * self.pair_out.weight.T,  # (B, dx, de)
            self.pair_out(pair_shift),
        )
        node_scale, node_shift = to_nodes[:, None].chunk(2, -1)
        new_x = self.node_out(torch.addcmul(gathered + node_shift, gathered, node_scale))
        new_y = y if self.graph is None else self.graph(x, e, y)
        x = self.node_forward(self.node_norm(new_x.add_(x)))
        e = self.pair_forward(self.pair_norm(new_e + e))
        return x, e, new_y


class PairAttention(torch.autograd.Function):
    """Scores s_ij = q_i k_j (scale e_ij + bias) + shift e_ij; what nodes gather with their softmax; pairs from them.

    Returns (sum over j of softmax_j(s_ij) v_j (B, N, dx), s_ij out_b + out_bias_b (B, N, N, de)). The gradient is
    written out, because the closed form of softmax and sum together, softmax * (v_j - gathered_i), and the use of
    two buffers for everything halve the traffic of (B, N, N, dx) tensors, which automatic differentiation makes.
    """

    @staticmethod
    def forward(ctx: Any, *inputs: Tensor) -> tuple[Tensor, Tensor]:
        e, query, key, value, scale, bias, shift, out, out_bias = inputs
        count, size, _ = query.shape
        flat = e.reshape(count * size * size, -1)
        factor = torch.addmm(bias, flat, scale.T).view(count, size, size, -1)
        scores = (factor * query[:, :, None]).mul_(key[:, None])
        scores.view(len(flat), -1).addmm_(flat, shift.T)
        pairs = torch.bmm(scores.view(count, size * size, -1), out).add_(out_bias[:, None])
        attention = scores.softmax(2)
        gathered = (attention * value[:, None]).sum(2)
        ctx.save_for_backward(*inputs, factor, scores, attention, gathered)
        return gathered, pairs.view(count, size, size, -1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        e, query, key, value, scale, _, shift, out, _, factor, scores, attention, gathered = ctx.saved_tensors
        # (B, N, 1, dx), (B, NN, de)
        towards_nodes, towards_pairs = gradients[0][:, :, None], gradients[1].flatten(1, 2)
        count, size, width = query.shape
        rows = count * size * size
        flat = e.reshape(rows, -1)
        # g: gradient of the scores; other: a buffer for one product after another
        other = attention * towards_nodes
        d_value = other.sum(1)
        g = (value[:, None] - gathered[:, :, None]).mul_(other)
        g.view(count, size * size, width).baddbmm_(towards_pairs, out.transpose(1, 2))
        d_out = torch.bmm(scores.view(count, size * size, width).transpose(1, 2), towards_pairs)
        d_shift = g.view(rows, width).T @ flat
        d_e = g.view(rows, width) @ shift
        torch.mul(g, factor, out=other)
        g.mul_(query[:, :, None])
        d_query = other.mul_(key[:, None]).sum(2)
        d_key = torch.mul(g, factor, out=other).sum(1)
        g.mul_(key[:, None])  # now the gradient of the factor
        d_scale, d_bias = g.view(rows, width).T @ flat, g.view(rows, width).sum(0)
        d_e.addmm_(g.view(rows, width), scale)
        return d_e.view_as(e), d_query, d_key, d_value, d_scale, d_bias, d_shift, d_out, towards_pairs.sum(1)


class Forward(nn.Module):
    """Feed-forward part with its residual and norm."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.expand, self.contract, self.norm = nn.Linear(width, inner), nn.Linear(inner, width), nn.LayerNorm(width)

    def forward(self, value: Tensor) -> Tensor:
        new: Tensor = self.contract(functional.relu_(self.expand(value)))
        return self.norm(new.add_(value))


class GraphUpdate(nn.Module):
    """New graph stream from pooled nodes and pairs.

    Pools are mean, smallest, largest and spread. The spread is the variance: the gradient of a standard deviation is
    infinite where all nodes are alike, as in a graph without edges.
    """

    def __init__(self, dx: int, de: int, dy: int, ffy: int) -> None:
        super().__init__()
        self.own, self.nodes, self.pairs = nn.Linear(dy, dy), nn.Linear(4 * dx, dy), nn.Linear(4 * de, dy)
        self.out = _perceptron(dy, dy, dy)
        self.norm, self.inner = nn.LayerNorm(dy), Forward(dy, ffy)

    def forward(self, x: Tensor, e: Tensor, y: Tensor) -> Tensor:
        new = self.own(y) + self.nodes(_pool(x)) + self.pairs(_pool(e.flatten(1, 2)))
        return self.inner(self.norm(self.out(new).add_(y)))


def features(edges: Tensor) -> tuple[Tensor, Tensor]:
    """Cycles and spectrum of graphs with edge tokens (B, N, N): (node (B, N, 6), graph (B, 10))."""
    adjacency = (edges > 0).float()
    node_cycles, graph_cycles = cycle_counts(adjacency)
    node_spectrum, graph_spectrum = spectral_features(adjacency, EIGENVALUES, EIGENVECTORS)
    graph_spectrum[:, 0] /= edges.size(1)  # components, as a share of the nodes
    node = torch.cat([(node_cycles / MANY_CYCLES).clamp(max=1), node_spectrum], 2)
    return node, torch.cat([(graph_cycles / MANY_CYCLES).clamp(max=1), graph_spectrum], 1)


def _pool(values: Tensor) -> Tensor:
    """(B, n, width) -> (B, 4 width)"""
    mean = values.mean(1)
    spread = (values - mean[:, None]).square().mean(1)  # much quicker than torch.var along this axis
    return torch.cat([mean, values.amin(1), values.amax(1), spread], 1)


def _perceptron(width: int, inner: int, out: int, activate: bool = False) -> nn.Sequential:
    layers = [nn.Linear(width, inner), nn.ReLU(inplace=True), nn.Linear(inner, out)]
    return nn.Sequential(*layers, nn.ReLU(inplace=True)) if activate else nn.Sequential(*layers)
