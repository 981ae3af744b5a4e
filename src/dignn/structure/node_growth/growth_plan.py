"""Node growth, the plan: what a graph is to consist of, drawn from training graphs of its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Plan:
    """What training graphs consist of: numbers of nodes by token, edges beyond a tree, class of the graph.

    Args:
        tokens: (G, K), extra: (G,), label: (G,); ordered so that similar graphs are neighbours.
    """

    tokens: Tensor
    extra: Tensor
    label: Tensor

    @classmethod
    def of(cls, nodes: Tensor, edges: Tensor, label: Tensor, node_count: int) -> Plan:
        """The plans of graphs with tokens (B, N) and (B, N, N)."""
        tokens = torch.stack([(nodes == token).sum(1) for token in range(node_count)], 1)
        extra = (edges > 0).sum((1, 2)) // 2 - (tokens.sum(1) - 1)
        table = torch.cat([label[:, None], extra[:, None], tokens], 1)
        order = sorted(range(len(table)), key=lambda number: table[number].tolist())
        return cls(tokens[order], extra[order], label[order])

    def draw(self, sizes: Sequence[int], generator: torch.Generator) -> Plan:
        """One plan for each size, evenly spread over the training graphs of that size (stratified)."""
        known = self.tokens.sum(1)
        wanted = torch.tensor(sizes, dtype=torch.long)
        chosen = torch.empty_like(wanted)
        for size in wanted.unique().tolist():
            here, options = (wanted == size).nonzero()[:, 0], (known == size).nonzero()[:, 0]
            place = (torch.arange(len(here)) + torch.rand(len(here), generator=generator)) / len(here)
            spread = options[(place * len(options)).long().clamp_max(len(options) - 1)]
            chosen[here] = spread[torch.randperm(len(here), generator=generator)]
        return Plan(self.tokens[chosen], self.extra[chosen], self.label[chosen])
