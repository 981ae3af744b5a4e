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

import torch
from torch import Tensor, nn
from torch.nn import functional

from dignn.errors import DignnError
from dignn.structure.encodings import cycle_counts, spectral_features

EIGENVALUES = 5
EIGENVECTORS = 2
NODE_FEATURES = 3 + 1 + EIGENVECTORS
GRAPH_FEATURES = 4 + 1 + EIGENVALUES + 2
# So many cycles (per node or graph) and more look alike to the network, as in DiGress.
MANY_CYCLES = 10
# Nodes are counted in this unit.
SIZE_UNIT = 10
# Ordered pairs of nodes that go through the layers at once: their scores then fit the cache of one core.
CHUNK_PAIRS = 2304


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
        if mirror.shape != (edge_tokens,) or not torch.equal(mirror[mirror], torch.arange(edge_tokens)):
            raise DignnError("mirror must name for each edge token its reverse, and the reverse's reverse is the token")
        if dx % heads:
            raise DignnError(f"The width of nodes, {dx}, must be a multiple of the number of heads, {heads}")
        self.node_tokens, self.edge_tokens = node_tokens, edge_tokens
        self.register_buffer("mirror", mirror.clone())
        self.read_nodes = _perceptron(node_tokens + NODE_FEATURES, ffx, dx, activate=True)
        self.read_pairs = _perceptron(edge_tokens + 1, ffe, de, activate=True)  # one more for the diagonal
        self.read_graph = _perceptron(GRAPH_FEATURES + condition, ffy, dy, activate=True)
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
        chunk = max(1, CHUNK_PAIRS // size**2)
        parts = [
            self._denoise(*part)
            for part in zip(
                nodes.split(chunk), edges.split(chunk), signal.split(chunk), condition.split(chunk), strict=True
            )
        ]
        node_logits, pair_logits = zip(*parts, strict=True)
        return torch.cat(node_logits), torch.cat(pair_logits)

    def _denoise(self, nodes: Tensor, edges: Tensor, signal: Tensor, condition: Tensor) -> tuple[Tensor, Tensor]:
        count, size = nodes.shape
        node_token = functional.one_hot(nodes, self.node_tokens).float()
        node_features, graph_features = features(edges)
        x = self.read_nodes(torch.cat([node_token, node_features], 2))
        lookup = torch.where(torch.eye(size, dtype=torch.bool), self.edge_tokens, edges)
        e = functional.embedding(lookup, self.read_pairs(torch.eye(self.edge_tokens + 1)))
        extent = signal.new_full((count, 1), size / SIZE_UNIT)
        y = self.read_graph(torch.cat([graph_features, signal[:, None], extent, condition], 1))
        for layer in self.layers:
            x, e, y = layer(x, e, y)
        # What was read is added to what is written, so that the network starts from "all tokens stay".
        node_logits = self.write_nodes(x) + node_token
        first, second = torch.triu_indices(size, size, 1)
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
        scores = self._scores(x, e)
        # softmax over j for each channel, then what node i gathers from all j
        gathered = (scores.softmax(2) * self.value(x)[:, None]).sum(2)
        scale, shift = self.graph_to_nodes(y)[:, None].chunk(2, -1)
        new_x = self.node_out(torch.addcmul(gathered + shift, gathered, scale))
        new_e = self._new_pairs(scores, y)
        new_y = y if self.graph is None else self.graph(x, e, y)
        x = self.node_forward(self.node_norm(new_x.add_(x)))
        e = self.pair_forward(self.pair_norm(new_e.add_(e)))
        return x, e, new_y

    def _scores(self, x: Tensor, e: Tensor) -> Tensor:
        """Scores q_i k_j (1 + pair_scale(e_ij)) + pair_shift(e_ij).  (B, N, N, dx)"""
        query, key = self.query(x) * self.scale, self.key(x)
        factor = functional.linear(e, self.pair_scale.weight, self.pair_scale.bias + 1)
        scores = factor * query[:, :, None] * key[:, None]
        width = e.size(-1)
        # adds the product in place: nothing needs the first summand any more
        scores.view(-1, scores.size(-1)).addmm_(e.reshape(-1, width), self.pair_shift.weight.T)
        return scores

    def _new_pairs(self, scores: Tensor, y: Tensor) -> Tensor:
        """pair_out((1 + scale(y)) scores + shift(y)), with the modulation inside the weights.  (B, N, N, de)"""
        count, size, _, width = scores.shape
        scale, shift = self.graph_to_pairs(y).chunk(2, -1)
        weight = (scale + 1)[:, :, None] * self.pair_out.weight.T  # (B, dx, de)
        product = torch.baddbmm(self.pair_out(shift)[:, None], scores.view(count, size * size, width), weight)
        return product.view(count, size, size, -1)


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
    spread, mean = torch.var_mean(values, 1, correction=0)
    return torch.cat([mean, values.amin(1), values.amax(1), spread], 1)


def _perceptron(width: int, inner: int, out: int, activate: bool = False) -> nn.Sequential:
    layers = [nn.Linear(width, inner), nn.ReLU(inplace=True), nn.Linear(inner, out)]
    return nn.Sequential(*layers, nn.ReLU(inplace=True)) if activate else nn.Sequential(*layers)
