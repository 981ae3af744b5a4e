"""The decoder of GraphVAE: from a latent and a size to all nodes and all pairs of them at once, and to features.

Features of all nodes in one dense layer would take nodes x columns outputs (15 x 4,231 for papers of DBLP), each with
weights of its own for each place. Here the decoder gives each node a state, and one linear layer for each node type
reads features from the state and the node's token (the paper's "one-hot type concatenated").
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dignn.explainers.methods.graphvae.row_codes import RowCode


@dataclass(frozen=True)
class Decoded:
    """What a decoder says of B graphs of up to N nodes.

    Args:
        nodes: (B, N, K) logits of node tokens.
        pairs: (B, P, E) logits of edge tokens of the pairs i < j, in the order of ``torch.triu_indices``.
        states: (B, N, node_state).
        label: (B, C) logits of the graph's class; C is 0 where nodes are classified.
    """

    nodes: Tensor
    pairs: Tensor
    states: Tensor
    label: Tensor


class GraphDecoder(nn.Module):
    """Two hidden layers, and a linear layer for each thing that is decoded.

    Args:
        node_tokens, edge_tokens: sizes of the vocabulary.
        nodes: of the largest graph.
        codes: of rows of features, by node type.
        classes: of whole graphs; 0 where nodes are classified.
        latent, hidden, node_state: widths.
    """

    def __init__(
        self,
        node_tokens: int,
        edge_tokens: int,
        nodes: int,
        codes: dict[str, RowCode],
        classes: int,
        *,
        latent: int,
        hidden: int,
        node_state: int,
    ) -> None:
        super().__init__()
        self.nodes, self.node_tokens, self.edge_tokens = nodes, node_tokens, edge_tokens
        self.trunk = nn.Sequential(
            nn.Linear(latent + nodes, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )  # the size enters as a one-hot
        self.to_nodes = nn.Linear(hidden, nodes * node_tokens)
        self.to_pairs = nn.Linear(hidden, nodes * (nodes - 1) // 2 * edge_tokens)
        self.to_states = nn.Linear(hidden, nodes * node_state)
        self.to_label = nn.Linear(hidden, classes) if classes else None
        self.to_rows = nn.ModuleList(nn.Linear(node_state + node_tokens, code.size) for code in codes.values())

    def forward(self, latent: Tensor, sizes: Tensor) -> Decoded:
        """latent: (B, latent), sizes: (B,) nodes of each graph."""
        size = F.one_hot(sizes - 1, self.nodes).to(latent.dtype)
        hidden = self.trunk(torch.cat([latent, size], dim=1))
        return Decoded(
            self.to_nodes(hidden).unflatten(1, (self.nodes, self.node_tokens)),
            self.to_pairs(hidden).unflatten(1, (-1, self.edge_tokens)),
            self.to_states(hidden).unflatten(1, (self.nodes, -1)).relu(),
            hidden[:, :0] if self.to_label is None else self.to_label(hidden),
        )

    def rows(self, number: int, states: Tensor, tokens: Tensor) -> Tensor:
        """What is said of the rows of some nodes, of which the type is ``number`` among the codes.  (m, size)

        Args:
            number: of the code.
            states: (m, node_state).
            tokens: (m,) node tokens.
        """
        kind = F.one_hot(tokens, self.node_tokens).to(states.dtype)
        return self.to_rows[number](torch.cat([states, kind], dim=1))


def pairs_of(size: int) -> tuple[Tensor, Tensor]:
    """(P,), (P,) the pairs i < j of so many nodes."""
    source, target = torch.triu_indices(size, size, 1)
    return source, target
