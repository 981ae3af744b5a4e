"""Absorbing diffusion of edges: noise takes edges away one at a time, the reverse process puts them back.

The nodes of a graph and its number of edges are drawn from the training graphs; what is learned is where the edges
go (and, told how many of each token the training graph had, which token they get). A noisy graph is thus a part of
the clean one and holds no false edges, which is far easier to read than marginal noise. From a graph with all edges
the noise removes a random one in each step, so the next edge of the reverse process is a uniformly random one of those
that are missing (autoregressive diffusion: Hoogeboom et al. 2022). One softmax over all pairs and tokens predicts it;
the cross-entropy, averaged over the missing edges, is the variational bound of this process. Unlike a step of marginal
noise, a step never decides two edges independently.

Pairs that the metagraph forbids are masked. With constraints, so are edges inside a component once every edge that is
left is needed to join components. For training graphs that are connected these masks hide only what cannot happen.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from dignn.diffusion.categorical import draw
from dignn.structure.edge_diffusion.edge_process import EdgeProcess, Steer
from dignn.structure.edge_diffusion.edge_tokens import Tokens
from dignn.structure.edge_diffusion.fast_denoiser import FastDenoiser
from dignn.structure.settings import EdgeDiffusionConfig
from dignn.structure.vocabulary import Vocabulary


class AbsorbingProcess(EdgeProcess):
    """Pairs lose their edges in random order; the level of noise is the share of lost edges."""

    prior: Tensor  # (K, K, E - 1) log frequency of each edge token between nodes of two tokens

    def __init__(self, vocabulary: Vocabulary, sizes: list[int], config: EdgeDiffusionConfig) -> None:
        edges = vocabulary.edge_count - 1
        super().__init__(vocabulary, sizes, config, extra=2 * edges)
        self.register_buffer("prior", torch.zeros(vocabulary.node_count, vocabulary.node_count, edges))
        if isinstance(self.network, FastDenoiser):  # the first prediction is the prior
            nn.init.zeros_(self.network.pair_out.weight)

    def count(self, graphs: dict[int, Tokens]) -> None:
        shape = (self.vocabulary.node_count, self.vocabulary.node_count, self.vocabulary.edge_count)
        total = torch.zeros(shape, dtype=torch.float64)
        for size in self.sizes:
            one, other = graphs[size].ends()
            place = (one * shape[1] + other) * shape[2] + graphs[size].pairs
            total += torch.bincount(place.flatten(), minlength=total.numel()).view(shape)
        total += total.transpose(0, 1)[..., self.mirror]
        # What was never seen is as rare as one pair in all; only what the metagraph forbids is impossible.
        frequency = (total[..., 1:] + 1 / total.sum().clamp(min=1)) / total.sum(2, keepdim=True).clamp(min=1)
        self.prior.copy_(frequency.clamp(max=1).log())

    def loss(self, graphs: Tokens, level: Tensor, generator: torch.Generator) -> Tensor:
        edges = (graphs.pairs > 0).sum(1)
        if not bool(edges.any()):  # nothing can be lost; the sum keeps the graph of derivatives whole
            return sum((p.sum() * 0.0 for p in self.parameters()), torch.zeros(()))
        lost = (level * edges).ceil().long().clamp(min=1)  # in 1, ..., edges
        noisy = self._without(graphs, lost, generator)
        scores = self._scores(noisy).flatten(1).log_softmax(1)
        missing = functional.one_hot(graphs.pairs * (noisy.pairs == 0), self.vocabulary.edge_count)[..., 1:].flatten(1)
        each = -(scores * missing).sum(1) / lost
        return each.where(edges > 0, 0.0).mean()

    def noisy(self, graphs: Tokens, level: float, generator: torch.Generator) -> Tokens:
        return self._without(graphs, (level * (graphs.pairs > 0).sum(1)).ceil().long(), generator)

    def denoise(self, graphs: Tokens, level: float, generator: torch.Generator, steer: Steer | None = None) -> Tokens:
        if not len(graphs):
            return graphs
        # One edge in a step, unless there are very many.
        each = max(1, -(-int(self._edges(graphs).max()) // self.config.sampler_steps))
        steps = -(-int(self._lacking(graphs).max()) // each)
        for number in range(1, steps + 1):
            left = self._lacking(graphs).nonzero().flatten()
            if not len(left):  # guidance may leave complete graphs only
                break
            pairs = graphs.pairs.index_copy(0, left, self._add(graphs[left], each, generator))
            graphs = Tokens(graphs.nodes, pairs, graphs.known)
            chosen = None if steer is None else steer(number / steps, partial(self._finish, graphs, generator))
            graphs = graphs if chosen is None else graphs[chosen]
        return graphs

    # -- one step -------------------------------------------------------------------------------------

    def _add(self, graphs: Tokens, count: int, generator: torch.Generator) -> Tensor:
        """Tokens of pairs after up to ``count`` more edges.  (B, P)"""
        pairs = graphs.pairs.clone()
        scores = self._scores(graphs)
        tokens = scores.size(2)
        if not scores.size(1):
            return pairs
        for _ in range(count):
            now = Tokens(graphs.nodes, pairs, graphs.known)
            masked = scores.masked_fill(~self._possible(now), -torch.inf).flatten(1)
            some = masked.isfinite().any(1)  # nothing can be added to the others
            if not bool(some.any()):
                break
            probability = torch.where(some[:, None], masked, 0.0).softmax(1)
            chosen = draw(probability, generator)
            place, token = chosen // tokens, chosen % tokens + 1
            pairs[some, place[some]] = token[some]
        return pairs

    def _finish(self, graphs: Tokens, generator: torch.Generator) -> Tokens:
        """All missing edges at once, as one prediction tells them: what the clean graph may look like."""
        return Tokens(graphs.nodes, self._add(graphs, int(self._lacking(graphs).max()), generator), graphs.known)

    def _scores(self, graphs: Tokens) -> Tensor:
        """Logits of the next edge: (B, P, E - 1), the lowest number where the metagraph or an edge is in the way."""
        share = (graphs.pairs > 0).sum(1) / self._edges(graphs).clamp(min=1)
        count = self._wanted(graphs)[:, 1:]
        told = torch.cat([self.graph_class(graphs), count / graphs.size, self._missing(graphs) / graphs.size], 1)
        _, logits = self.network(graphs.nodes, graphs.matrix(self.mirror), share, told)
        one, other = graphs.ends()
        free = self.allowed[one, other][..., 1:] & (graphs.pairs == 0)[..., None]
        scores = logits[..., 1:] + self.prior[one, other]
        return scores.masked_fill(~free, torch.finfo(scores.dtype).min)

    def _possible(self, graphs: Tokens) -> Tensor:
        """Which tokens each pair may get next.  (B, P, E - 1)"""
        one, other = graphs.ends()
        free = self.allowed[one, other][..., 1:] & (graphs.pairs == 0)[..., None]
        missing = self._lacking(graphs)
        free = free & (missing > 0)[:, None, None]
        if self.config.constraints and graphs.size > 1:
            same, components = graphs.components()
            needed = missing < components  # every edge that is left must join two components
            free = free & ~(same & needed[:, None])[..., None]
        return free

    # -- numbers of edges -----------------------------------------------------------------------------

    def _wanted(self, graphs: Tokens) -> Tensor:
        """Pairs of each token in the clean graph.  (B, E)"""
        return graphs.known[:, 1 + self.vocabulary.node_count :]

    def _edges(self, graphs: Tokens) -> Tensor:
        """Edges of the clean graph.  (B,)"""
        return self._wanted(graphs)[:, 1:].sum(1)

    def _lacking(self, graphs: Tokens) -> Tensor:
        """Edges that the noisy graph lacks.  (B,)"""
        return self._edges(graphs) - (graphs.pairs > 0).sum(1)

    def _missing(self, graphs: Tokens) -> Tensor:
        """Edges of each token that the noisy graph lacks.  (B, E - 1)"""
        present = functional.one_hot(self.lower[graphs.pairs], self.vocabulary.edge_count).sum(1)
        return (self._wanted(graphs) - present)[:, 1:].clamp(min=0)

    def _without(self, graphs: Tokens, lost: Tensor, generator: torch.Generator) -> Tokens:
        """The graphs without ``lost`` (B,) random edges each."""
        order = torch.rand(graphs.pairs.shape, generator=generator).to(graphs.pairs.device)
        order = order.masked_fill(graphs.pairs == 0, 2.0)
        rank = order.argsort(1).argsort(1)  # edges first, in random order
        return Tokens(graphs.nodes, graphs.pairs.where(rank >= lost[:, None], 0), graphs.known)
