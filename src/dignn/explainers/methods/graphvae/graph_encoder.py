"""The encoder of GraphVAE: graph attention on padded small graphs, pooled to the mean and variance of a latent."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dignn.explainers.methods.graphvae.row_codes import RowCode

# Log-variances beyond this are of no use, and their exponentials no numbers.
_MOST_LOG_VARIANCE = 12.0


class GraphAttention(nn.Module):
    """Attention to neighbours with what edges are (TransformerConv; Shi et al., IJCAI 2021), for dense tensors.

    Args:
        width: of hidden values, shared out over the heads.
        heads: of attention.
        edge_tokens: kinds of edges, among them none.
    """

    def __init__(self, width: int, heads: int, edge_tokens: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.skip = nn.Linear(width, width), nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.edge = nn.Embedding(edge_tokens, width)

    def forward(self, hidden: Tensor, edges: Tensor) -> Tensor:
        """(B, N, width), one-hot tokens of ordered pairs (B, N, N, E), the first of them no edge -> (B, N, width)"""
        query, key, value = (
            part.unflatten(2, (self.heads, -1)).transpose(1, 2)  # (B, heads, N, c)
            for part in (self.query(hidden), *self.key_value(hidden).chunk(2, dim=2))
        )
        edge = self.edge.weight.unflatten(1, (self.heads, -1)).transpose(0, 1)  # (heads, E, c)
        by_token = query @ edge.transpose(1, 2)  # (B, heads, N, E)
        score = query @ key.transpose(2, 3) + torch.einsum("bhie,bije->bhij", by_token, edges)
        joined = (edges[..., 0] == 0)[:, None]  # (B, 1, N, N)
        score = (score / query.size(3) ** 0.5).masked_fill(~joined, torch.finfo(score.dtype).min)
        share = score.softmax(3) * joined  # a node without neighbours hears nothing
        heard = share @ value + torch.einsum("bhij,bije->bhie", share, edges) @ edge
        return self.skip(hidden) + heard.transpose(1, 2).flatten(2)


class GraphEncoder(nn.Module):
    """What a graph is as the mean and log-variance of a Gaussian over latents.

    Where a node stands in the canonical order enters, too: the decoder has to put it there.

    Args:
        node_tokens, edge_tokens: sizes of the vocabulary.
        nodes: of the largest graph.
        codes: of rows of features, by node type.
        classes: of whole graphs; 0 where nodes are classified.
        width, heads, layers: of attention.
        latent: numbers of the latent.
    """

    def __init__(
        self,
        node_tokens: int,
        edge_tokens: int,
        nodes: int,
        codes: dict[str, RowCode],
        classes: int,
        *,
        width: int,
        heads: int,
        layers: int,
        latent: int,
    ) -> None:
        super().__init__()
        self.edge_tokens = edge_tokens
        self.token, self.place = nn.Embedding(node_tokens, width), nn.Embedding(nodes, width)
        self.label = nn.Embedding(classes + 1, width)  # the last for none
        self.rows = nn.ModuleList(nn.Linear(code.size, width) for code in codes.values())
        self.attention = nn.ModuleList(GraphAttention(width, heads, edge_tokens) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.pooled = nn.Linear(2 * width, 2 * latent)

    def forward(
        self, nodes: Tensor, edges: Tensor, label: Tensor, rows: list[tuple[Tensor, Tensor]]
    ) -> tuple[Tensor, Tensor]:
        """Mean and log-variance.  (B, latent), (B, latent)

        Args:
            nodes: (B, N) tokens, -1 on padding.
            edges: (B, N, N) tokens.
            label: (B,) class of each graph; -1 where there is none.
            rows: for each code, which nodes (B, N) have a row that may be seen, and those rows in code (m, size).
        """
        there = (nodes >= 0)[..., None].float()  # (B, N, 1)
        hidden = self.token(nodes.clamp_min(0)) + self.place.weight[: nodes.size(1)]
        hidden = hidden + self.label(label % self.label.num_embeddings)[:, None]
        for layer, (here, code) in zip(self.rows, rows, strict=True):
            hidden = hidden.index_put(here.nonzero(as_tuple=True), layer(code), accumulate=True)
        tokens = F.one_hot(edges, self.edge_tokens).to(hidden.dtype)
        for attention, norm in zip(self.attention, self.norms, strict=True):
            hidden = norm(hidden + attention(hidden, tokens).relu())
        mean = (hidden * there).sum(1) / there.sum(1)
        most = hidden.masked_fill(there == 0, torch.finfo(hidden.dtype).min).amax(1)
        mu, log_variance = self.pooled(torch.cat([mean, most], dim=1)).chunk(2, dim=1)
        return mu, log_variance.clamp(-_MOST_LOG_VARIANCE, _MOST_LOG_VARIANCE)


def kl_to_standard_normal(mu: Tensor, log_variance: Tensor) -> Tensor:
    """(B,) KL divergence of N(mu, exp(log_variance)), both (B, latent), from N(0, 1), in nats."""
    return (log_variance.exp() + mu.square() - 1 - log_variance).sum(1) / 2
