"""The variational autoencoder of graphs: encoder, decoder and the loss between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dignn.core.devices import CPU, model_device, moved
from dignn.explainers.methods.graphvae.graph_decoder import Decoded, GraphDecoder, pairs_of
from dignn.explainers.methods.graphvae.graph_encoder import GraphEncoder, kl_to_standard_normal
from dignn.explainers.methods.graphvae.row_codes import RowCode
from dignn.explainers.methods.graphvae.settings import GraphVAESettings
from dignn.explainers.methods.graphvae.training_graphs import Examples
from dignn.graphs.batch import PADDING
from dignn.structure.vocabulary import Vocabulary

# What cross-entropy leaves out.
_NOTHING = -100
# Half a graph more than there are has each token at each place, so that none is impossible.
_DOUBT = 0.5


class Autoencoder(nn.Module):
    """Reconstructs graphs through a latent that is kept near a standard normal distribution.

    Args:
        words: the tokens.
        nodes: of the largest graph.
        codes: of rows of features, by node type.
        settings: widths.
    """

    def __init__(self, words: Vocabulary, nodes: int, codes: Mapping[str, RowCode], settings: GraphVAESettings) -> None:
        super().__init__()
        given = (words.node_count, words.edge_count, nodes, dict(codes), words.schema.graph_classes)
        self.latent, self.codes = settings.latent, tuple(codes.values())
        self.encoder = GraphEncoder(
            *given, width=settings.width, heads=settings.heads, layers=settings.layers, latent=settings.latent
        )
        self.decoder = GraphDecoder(
            *given, latent=settings.latent, hidden=settings.hidden, node_state=settings.node_state
        )

    def start_from(self, nodes: Tensor, edges: Tensor, rows: Sequence[Tensor]) -> None:
        """Lets the decoder begin with frequencies: of a thousand words each is rare, which takes long to find out.

        Args:
            nodes, edges: (B, N) and (B, N, N) tokens of training graphs.
            rows: (n, d) rows for each code.
        """
        for layer, tokens, number in (
            (self.decoder.to_nodes, nodes, self.decoder.node_tokens),
            (self.decoder.to_pairs, self._pairs(nodes, edges), self.decoder.edge_tokens),
        ):
            place, known = torch.arange(tokens.size(1)).expand_as(tokens), tokens >= 0
            found = torch.bincount(place[known] * number + tokens[known], minlength=layer.out_features)
            count = found.view(-1, number) + _DOUBT  # (places, tokens)
            layer.bias.data.copy_((count / count.sum(1, keepdim=True)).log().flatten())
        for number, (code, some) in enumerate(zip(self.codes, rows, strict=True)):
            self.decoder.to_rows[number].bias.data.copy_(code.start(some))  # type: ignore[operator]

    def encode(self, examples: Examples) -> tuple[Tensor, Tensor]:
        """Mean and log-variance of the latent.  (B, latent), (B, latent)"""
        coded = [(here, code.encode(rows)) for code, (here, rows) in zip(self._codes(), examples.rows, strict=True)]
        return self.encoder(examples.nodes, examples.edges, examples.label, coded)

    def losses(self, examples: Examples, noise: Tensor) -> dict[str, Tensor]:
        """(B,) each: nats that ``nodes``, ``pairs``, ``label`` and ``rows`` take, and ``kl``; noise: (B, latent)."""
        examples, noise = moved((examples, noise), model_device(self))
        mu, log_variance = self.encode(examples)
        decoded = self.decoder(mu + (log_variance / 2).exp() * noise, (examples.nodes >= 0).sum(1))
        size = examples.nodes.size(1)
        found = {
            "nodes": _nats(decoded.nodes[:, :size], examples.nodes),
            "pairs": _nats(decoded.pairs, self._pairs(examples.nodes, examples.edges)),
            "label": noise.new_zeros(len(noise)),
            "rows": noise.new_zeros(len(noise)),
            "kl": kl_to_standard_normal(mu, log_variance),
        }
        if decoded.label.size(1):
            found["label"] = _nats(decoded.label[:, None], examples.label[:, None])
        for number, (code, (here, rows)) in enumerate(zip(self._codes(), examples.rows, strict=True)):
            said = self.decoder.rows(number, decoded.states[:, :size][here], examples.nodes[here])
            found["rows"] = found["rows"].index_add(0, here.nonzero()[:, 0], code.loss(said, rows))
        return found

    def _codes(self) -> tuple[RowCode, ...]:
        return moved(self.codes, model_device(self))

    def _pairs(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """(B, P) edge tokens of all pairs of places; nothing where one of them is padding."""
        missing = self.decoder.nodes - nodes.size(1)
        edges, there = F.pad(edges, (0, missing, 0, missing)), F.pad(nodes >= 0, (0, missing))
        source, target = (side.to(edges.device) for side in pairs_of(self.decoder.nodes))
        return edges[:, source, target].masked_fill(~(there[:, source] & there[:, target]), PADDING)

    def decode(self, latent: Tensor, sizes: Tensor) -> Decoded:
        """What is said of graphs with latents (B, latent) and sizes (B,), on the CPU."""
        return moved(self.decoder(*moved((latent, sizes), model_device(self))), CPU)

    def rows(self, number: int, states: Tensor, tokens: Tensor) -> Tensor:
        """What is said of rows, on the CPU; see :meth:`GraphDecoder.rows`."""
        return self.decoder.rows(number, *moved((states, tokens), model_device(self))).cpu()


def _nats(logits: Tensor, tokens: Tensor) -> Tensor:
    """(B,) cross-entropy, summed over places; tokens (B, places), negative where there is nothing."""
    known = tokens.masked_fill(tokens < 0, _NOTHING)
    return F.cross_entropy(logits.transpose(1, 2), known, ignore_index=_NOTHING, reduction="none").sum(1)


def most_likely(
    decoded: Decoded, sizes: Tensor, words: Vocabulary, *, constrained: bool, threshold: float = 0.0
) -> tuple[Tensor, Tensor]:
    """The most likely token of every node (B, N), -1 beyond the size, and tokens of pairs (B, N, N) above the diagonal.

    Args:
        decoded: what the decoder says.
        sizes: (B,) nodes of each graph.
        words: the tokens.
        constrained: whether relations that the metagraph forbids between the nodes' types are left out.
        threshold: log-odds of an edge, of whatever relation, above which there is one: the most likely.
    """
    size = decoded.nodes.size(1)
    nodes = decoded.nodes.argmax(2).masked_fill(torch.arange(size) >= sizes[:, None], PADDING)
    odds, token = joined_odds(decoded, nodes, words, constrained=constrained)
    edges = torch.zeros(len(nodes), size, size, dtype=torch.long)
    source, target = pairs_of(size)
    edges[:, source, target] = token * (odds > threshold)
    return nodes, edges


def joined_odds(decoded: Decoded, nodes: Tensor, words: Vocabulary, *, constrained: bool) -> tuple[Tensor, Tensor]:
    """(B, P) log-odds that pairs of nodes (B, N) have an edge, and the most likely token of one.

    Minus infinity where a node is padding or, if ``constrained``, the metagraph joins no such nodes.
    """
    source, target = pairs_of(nodes.size(1))
    there = (nodes[:, source] >= 0) & (nodes[:, target] >= 0)
    some = decoded.pairs[..., 1:]  # (B, P, E - 1)
    if not some.size(2):  # no training graph has an edge
        return torch.full(there.shape, -torch.inf), torch.zeros_like(there, dtype=torch.long)
    if constrained:
        some = some.masked_fill(~words.allowed[nodes[:, source], nodes[:, target], 1:], -torch.inf)
    odds = some.logsumexp(2) - decoded.pairs[..., 0]
    return odds.masked_fill(~there, -torch.inf), some.argmax(2) + 1
