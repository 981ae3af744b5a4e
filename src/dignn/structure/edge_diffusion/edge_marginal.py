"""Diffusion of node and edge tokens towards their marginals: the noise of DiGress and of the paper.

The noise of nodes follows their overall frequencies; that of pairs has the edge density of the graph's size. With
constraints, the last step draws node tokens first, and a pair gets an edge only where these tokens allow it. The
network's probability of an edge averages over what its nodes may become; divided by the probability that they allow
the edge, it is that of nodes that do. (Masking every step makes graphs too sparse, because nodes may still change.)
"""

from __future__ import annotations

import torch
from torch import Tensor

from dignn.diffusion.categorical import CategoricalNoise, State, draw
from dignn.diffusion.samplers import reverse
from dignn.diffusion.schedule import cosine_signal, time_grid
from dignn.structure.edge_diffusion.edge_process import EdgeProcess, Steer
from dignn.structure.edge_diffusion.edge_tokens import Tokens
from dignn.structure.settings import EdgeDiffusionConfig
from dignn.structure.vocabulary import Vocabulary


class MarginalProcess(EdgeProcess):
    """Nodes and pairs lose their tokens independently; the level of noise is the time of the cosine schedule."""

    node_marginal: Tensor  # (K,)
    edge_marginal: Tensor  # (sizes, E)

    def __init__(self, vocabulary: Vocabulary, sizes: list[int], config: EdgeDiffusionConfig) -> None:
        super().__init__(vocabulary, sizes, config)
        self.register_buffer("node_marginal", torch.full((vocabulary.node_count,), 1 / vocabulary.node_count))
        edges = torch.full((len(sizes), vocabulary.edge_count), 1 / vocabulary.edge_count)
        self.register_buffer("edge_marginal", edges)

    def count(self, graphs: dict[int, Tokens]) -> None:
        every = torch.stack([graphs[size].known.sum(0) for size in self.sizes])  # (sizes, 1 + K + E)
        nodes, pairs = every[:, 1:].split([self.vocabulary.node_count, self.vocabulary.edge_count], 1)
        self.node_marginal.copy_(nodes.sum(0).double() / nodes.sum())
        # A token and its mirror are equally likely, since the order of nodes means nothing.
        both = (pairs + pairs[:, self.mirror]).double()
        density = both[:, 1:].sum(1, keepdim=True) / both.sum(1, keepdim=True).clamp(min=1)
        shares = both[:, 1:].sum(0) / both[:, 1:].sum().clamp(min=1)
        self.edge_marginal.copy_(torch.cat([1 - density, density * shares], 1))

    def _noises(self, size: int) -> dict[str, CategoricalNoise]:
        edges = self.edge_marginal[self.sizes.index(size)]
        return {"node": CategoricalNoise(self.node_marginal), "edge": CategoricalNoise(edges)}

    def loss(self, graphs: Tokens, level: Tensor, generator: torch.Generator) -> Tensor:
        signal = cosine_signal(level)
        noisy = self._corrupt(graphs, signal[:, None], generator)
        node_logits, pair_logits = self._logits(noisy, signal)
        loss = CategoricalNoise.loss(node_logits, graphs.nodes)
        if graphs.size > 1:  # a single node has no pairs
            loss = loss + self.config.edge_weight * CategoricalNoise.loss(pair_logits, graphs.pairs)
        return loss

    def noisy(self, graphs: Tokens, level: float, generator: torch.Generator) -> Tokens:
        return self._corrupt(graphs, cosine_signal(torch.tensor(level)), generator)

    def denoise(self, graphs: Tokens, level: float, generator: torch.Generator, steer: Steer | None = None) -> Tokens:
        known = graphs.known
        grid = time_grid(self.config.sampler_steps, self.config.grid)
        grid = torch.cat([grid.new_tensor([level]), grid[grid < level]])
        steps = 0

        def predict(state: State, signal: float) -> State:
            now = Tokens(state["node"], state["edge"], known)
            nodes, pairs = self._logits(now, torch.full((len(known),), signal, device=known.device))
            return {"node": nodes.softmax(2), "edge": pairs.softmax(2)}

        def constrained(probability: State) -> State:
            return self._allowed(probability, graphs.size, generator)

        def each_step(state: State, signal: float, probability: State) -> State:
            nonlocal known, steps
            steps += 1
            if steer is None:
                return state

            def clean() -> Tokens:
                found = constrained(probability)
                return Tokens(found["node"], found["edge"], known)

            chosen = steer(steps / (len(grid) - 1), clean)
            if chosen is None:
                return state
            known = known[chosen]
            return {name: values[chosen] for name, values in state.items()}

        found = reverse(
            self._noises(graphs.size),
            {"node": graphs.nodes, "edge": graphs.pairs},
            predict,
            grid,
            generator=generator,
            rule=self.config.sampler,
            last=constrained if self.config.constraints else None,
            each_step=each_step,
        )
        return Tokens(found["node"], found["edge"], known)

    def _corrupt(self, graphs: Tokens, signal: Tensor, generator: torch.Generator) -> Tokens:
        noises = self._noises(graphs.size)
        nodes = noises["node"].corrupt(graphs.nodes, signal, generator)
        return Tokens(nodes, noises["edge"].corrupt(graphs.pairs, signal, generator), graphs.known)

    def _logits(self, noisy: Tokens, signal: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of clean tokens of nodes (B, N, K) and pairs (B, P, E).  signal: (B,)"""
        edges = noisy.matrix(self.mirror)
        return self.network(noisy.nodes, edges, signal, self.graph_class(noisy))

    def _allowed(self, probability: State, size: int, generator: torch.Generator) -> State:
        """Node tokens first, then pairs as these allow."""
        allowed = self.allowed.float()  # (K, K, E)
        nodes = draw(probability["node"], generator)
        i, j = torch.triu_indices(size, size, 1, device=nodes.device)
        one, other = probability["node"][:, i], probability["node"][:, j]  # (B, P, K)
        free = torch.einsum("bpk,kle,bpl->bpe", one, allowed, other)  # probability that the ends allow the token
        edge = (probability["edge"] / free.clamp(min=1e-6) * allowed[nodes[:, i], nodes[:, j]])[..., 1:]
        none = (1 - edge.sum(2, keepdim=True)).clamp(min=0)
        # A pair whose token is certain but forbidden has nothing left to draw: it gets no edge.
        none = none.where(edge.sum(2, keepdim=True) > 0, 1.0)
        return {"node": nodes, "edge": draw(torch.cat([none, edge], 2), generator)}
