"""Node growth, the plan: what a graph is to consist of, drawn from training graphs of its size, or new.

Many training graphs are nearly all that can be; of few, many are the only one of their kind, and graphs that are grown
by their plans tend to become copies of them. So as many plans are new there as another real graph's would be: by Good
and Turing's estimate, the share of training graphs whose plan no other one has. A new plan is one step from a training
graph towards another that is like it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

# Where there are fewer training graphs than this, some plans are new.
FEW = 1000
# Graphs that differ by at most so many nodes are like each other; steps that are tried to find a plan that is new.
_LIKE, _TRIES = 2, 8


@dataclass(frozen=True)
class Plan:
    """What training graphs consist of: numbers of nodes by token, edges beyond a tree, class of the graph.

    Args:
        tokens: (G, K), extra: (G,), label: (G,); ordered so that similar graphs are neighbours.
        unseen: () share of the plans that are to be new.
    """

    tokens: Tensor
    extra: Tensor
    label: Tensor
    unseen: Tensor

    @classmethod
    def of(cls, nodes: Tensor, edges: Tensor, label: Tensor, node_count: int) -> Plan:
        """The plans of graphs with tokens (B, N) and (B, N, N)."""
        tokens = torch.stack([(nodes == token).sum(1) for token in range(node_count)], 1)
        extra = (edges > 0).sum((1, 2)) // 2 - (tokens.sum(1) - 1)
        table = torch.cat([label[:, None], extra[:, None], tokens], 1)
        order = sorted(range(len(table)), key=lambda number: table[number].tolist())
        return cls(tokens[order], extra[order], label[order], torch.zeros(()))

    def with_new(self) -> Plan:
        """The same, where there are few training graphs with as many new plans as other real graphs would have."""
        table = torch.cat([self.label[:, None], self.extra[:, None], self.tokens], 1)
        alone = (table.unique(dim=0, return_counts=True)[1] == 1).sum()
        return replace(self, unseen=alone / len(table) * float(len(table) < FEW))

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
        tokens = self.tokens[chosen]
        if bool(self.unseen > 0):
            new = (torch.rand(len(wanted), generator=generator) < self.unseen).nonzero()[:, 0]
            for number in new.tolist():
                tokens[number] = self._stepped(int(chosen[number]), generator)
        return Plan(tokens, self.extra[chosen], self.label[chosen], self.unseen)

    def _stepped(self, number: int, generator: torch.Generator) -> Tensor:
        """(K,) the tokens of a training graph with one node of another token, as a graph like it has more of.

        Tokens that it has stay and none is added, so that what can be joined to what stays too. They are those of no
        training graph of its class with as many edges; where eight steps find none that is not known, they stay.
        """
        own = self.tokens[number]
        same = self.label == self.label[number]
        others = self.tokens[same & ((self.tokens.sum(1) - own.sum()).abs() <= _LIKE)]
        fewer, more = (others < own) & (own > 1), (others > own) & (own > 0)
        steps = (fewer[:, :, None] & more[:, None, :]).nonzero()  # (options, 3): graph, token that goes and that comes
        known = self.tokens[same & (self.extra == self.extra[number])]
        for option in torch.randperm(len(steps), generator=generator)[:_TRIES].tolist():
            stepped = own.clone()
            stepped[steps[option, 1]] -= 1
            stepped[steps[option, 2]] += 1
            if not bool((known == stepped).all(1).any()):
                return stepped
        return own
