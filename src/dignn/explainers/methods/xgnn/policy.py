"""The policies: graph convolutions over a graph and its candidates, then the choice of one end and of the other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from dignn.core.seeds import Seed
from dignn.explainers.methods.xgnn.building import Building, Choice, Rules

# Published: types to 8, three graph convolutions, hidden values of the two heads.
_TYPES, _CONVOLUTIONS, _START, _TAIL = 8, (16, 24, 32), 16, 24
# In place of minus infinity, whose gradient is no number where nothing may be chosen.
_NEVER_CHOSEN = -1e9


class ClassLinear(nn.Module):
    """A linear layer for each of C classes, side by side.

    Args:
        classes: C.
        width: columns that come in.
        out: columns that go out.
        generator: of the first weights, which are those of torch's own linear layer.
    """

    def __init__(self, classes: int, width: int, out: int, generator: torch.Generator) -> None:
        super().__init__()
        bound = width**-0.5
        self.weight, self.bias = (
            nn.Parameter(torch.empty(classes, rows, out).uniform_(-bound, bound, generator=generator))
            for rows in (width, 1)
        )

    def forward(self, rows: Tensor) -> Tensor:
        """(C, n, width) to (C, n, out)"""
        return torch.baddbmm(self.bias, rows, self.weight)


@dataclass(frozen=True)
class Decision:
    """What policies decide about G graphs.

    Args:
        choice: the ends that they join.
        possible: (G,) whether there was anything to choose from; else the choice means nothing.
        log_probability: (G,) of the choice: minus the two cross entropies of the published loss.
    """

    choice: Choice
    possible: Tensor
    log_probability: Tensor


class Policies(nn.Module):
    """A policy for each of C classes (Yuan et al. 2020, section 3.3), all of which are asked at once.

    A node is seen as its type, or as the node that the model answers about. The tail's head scores every edge token by
    which it may be joined, of which there is one where the schema has one undirected relation.

    Args:
        rules: of the graphs; their types and edge tokens.
        classes: C.
        seed: of the first weights.
    """

    def __init__(self, rules: Rules, classes: int, seed: Seed) -> None:
        super().__init__()
        generator = seed.torch()
        # Where nodes are answered about, the first one is: it is told apart from others of its type.
        self.marks_first = not rules.words.schema.task.of_graphs
        self.rules, self.classes = rules, classes
        widths = (_TYPES, *_CONVOLUTIONS)
        self.types = ClassLinear(classes, rules.types + 1, _TYPES, generator)
        self.convolutions = nn.ModuleList(
            ClassLinear(classes, width, out, generator) for width, out in pairwise(widths)
        )
        self.start = _head(classes, (widths[-1], _START, 1), generator)
        self.tail = _head(classes, (2 * widths[-1], _TAIL, max(1, rules.joins.size(2))), generator)

    def only(self, class_index: int) -> Policies:
        """The policy of one class, alone."""
        found = Policies(self.rules, 1, Seed(0))
        found.load_state_dict({name: value[class_index, None] for name, value in self.state_dict().items()})
        return found

    def decide(self, building: Building, ends: Tensor, generator: torch.Generator) -> Decision:
        """Draws a start, then a tail and an edge token given the start.

        Args:
            building: G graphs; the first G / C belong to the first class, and so on.
            ends: (G, N, N + T) bool, which ends may be joined.
            generator: of the draws.
        """
        hidden = self._look(building)  # (C, n, 32) with n = G / C x (N + T)
        count, capacity, width = ends.shape
        starts = self.start(hidden).reshape(count, width)[:, :capacity]
        start, of_start = _draw(starts, ends.any(2), generator)
        each = hidden.reshape(count, width, -1)
        chosen = each[torch.arange(count), start][:, None].expand_as(each)
        pairs = torch.cat([each, chosen], dim=2).reshape(self.classes, -1, 2 * each.size(2))
        fits = building.tokens(ends, start).flatten(1)
        tail, of_tail = _draw(self.tail(pairs).reshape(count, -1), fits, generator)
        tokens = fits.size(1) // width
        choice = Choice(start, tail // tokens, tail % tokens + 1)
        return Decision(choice, fits.any(1), of_start + of_tail)

    def _look(self, building: Building) -> Tensor:
        """(C, G / C x (N + T), 32) what the convolutions make of every node and candidate."""
        kinds, edges = building.kinds, building.edges
        capacity = edges.size(1)
        types = building.rules.types
        seen = torch.eye(types + 1)
        seen = torch.cat([seen, torch.zeros(1, types + 1)])[kinds]  # -1 is the last row: what is not there
        if self.marks_first:
            seen[:, 0, types] = 1.0
        count, width, columns = seen.shape
        joined = torch.eye(width).repeat(count, 1, 1)
        joined[:, :capacity, :capacity] += edges > 0
        scale = joined.sum(2).rsqrt()
        joined = joined * scale[:, :, None] * scale[:, None, :]
        hidden = self.types(seen.reshape(self.classes, -1, columns))
        for layer in self.convolutions:
            messages = layer(hidden).reshape(count, width, -1)
            hidden = torch.bmm(joined, messages).relu().reshape(self.classes, -1, messages.size(2))
        return hidden


def _head(classes: int, widths: tuple[int, int, int], generator: torch.Generator) -> nn.Sequential:
    width, hidden, out = widths
    return nn.Sequential(
        ClassLinear(classes, width, hidden, generator), nn.ReLU(), ClassLinear(classes, hidden, out, generator)
    )


def _draw(scores: Tensor, may: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """One of the options (G, n) that may be chosen, and the logarithm of its probability.  (G,), (G,)"""
    log_probability = scores.masked_fill(~may, _NEVER_CHOSEN).log_softmax(1)
    with torch.no_grad():
        noise = torch.rand(scores.shape, generator=generator).clamp_min(1e-20)
        drawn = (log_probability - (-noise.log()).log()).argmax(1)  # the largest of Gumbel noises is drawn by softmax
    return drawn, log_probability.gather(1, drawn[:, None])[:, 0]
