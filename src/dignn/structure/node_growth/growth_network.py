"""Node growth, the network: a small causal transformer over the events of a growth.

Each event attends to the nodes that have grown before it, as they were when their last own edge came, and to what its
newest node sees of them now (distance, edge, degree, ...). So all events of a growth are learned from in one pass, and
generating takes one short step per event.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from dignn.structure.node_growth.growth_events import FAR, WALK, DecisionPoint
from dignn.structure.node_growth.growth_orders import Actions
from dignn.structure.vocabulary import Vocabulary

# Numbers of nodes or edges to come, and degrees, are told apart up to these.
COUNT, DEGREE = 12, 8
AGE = 4
# Edges that a node may still take are told apart up to this one.
LACKING = 4


class GrowthNetwork(nn.Module):
    """Scores of the next event.

    Args:
        words: what nodes and edges are.
        actions: what can be decided.
        classes: classes of whole graphs, 0 where nodes are classified.
        width, layers, heads: of the transformer.
    """

    most_edges: Tensor

    def __init__(
        self, words: Vocabulary, actions: Actions, classes: int, *, width: int = 48, layers: int = 4, heads: int = 4
    ) -> None:
        super().__init__()
        self.edge_count, self.classes = words.edge_count, classes
        seen = FAR + 1 + words.edge_count + DEGREE + 1 + AGE + WALK + LACKING
        self.register_buffer("most_edges", actions.most_edges, persistent=False)
        self.event = nn.Embedding(words.node_count + actions.count, width)
        self.plan = nn.Sequential(
            nn.Linear(2 * words.node_count + 2 * COUNT + 4 + classes, 2 * width), nn.SiLU(), nn.Linear(2 * width, width)
        )
        self.bias = nn.Linear(seen, layers * heads, bias=False)
        self.layers: Sequence[_Layer] = nn.ModuleList(_Layer(width, heads, seen) for _ in range(layers))  # type: ignore[assignment]
        self.norm = nn.LayerNorm(width)
        self.asks, self.offers = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.sees = nn.Linear(seen, width, bias=False)
        self.scores = nn.Linear(width, actions.count)

    def forward(self, code: Tensor, decision: DecisionPoint, label: Tensor) -> Tensor:
        """(B, S, S, actions) logits of what comes after each event of whole growths, those not admissible included.

        Args:
            code: (B, S) the events.
            decision: what there is after each of them; items are the events.
            label: (B,) class of the graph.
        """
        seen = self._seen(decision)
        hidden = self.event(code) + self.plan(self._plan(decision, label))
        for layer, bias in zip(self.layers, self._bias(seen, decision.visible), strict=True):
            hidden = layer(hidden, layer.remember(hidden), seen, bias)
        return self._decide(hidden, self.norm(hidden), seen)

    def step(self, code: Tensor, decision: DecisionPoint, label: Tensor, memory: list[Tensor], place: int) -> Tensor:
        """(B, n, actions) the same for one more event of each growth, n = ``place`` + 1 nodes.

        Args:
            code: (B,) the event.
            decision: what there is after it (one decision); items are the nodes.
            label: (B,) class of the graph.
            memory: what earlier events left, per layer (B, N, 2 * width), and at the end (B, N, width); the newest
                node's place is written.
            place: the newest node.
        """
        seen = self._seen(decision)
        hidden = self.event(code)[:, None, :] + self.plan(self._plan(decision, label))
        for layer, bias, kept in zip(self.layers, self._bias(seen, decision.visible), memory, strict=False):
            kept[:, place] = layer.remember(hidden)[:, 0]
            hidden = layer(hidden, kept[:, : place + 1], seen, bias)
        memory[-1][:, place] = self.norm(hidden)[:, 0]
        return self._decide(hidden, memory[-1][:, : place + 1], seen)[:, 0]

    def blank(self, count: int, size: int) -> list[Tensor]:
        """Memory of growths of which nothing has happened."""
        width, own = self.norm.normalized_shape[0], self.norm.weight
        return [own.new_zeros(count, size, 2 * width) for _ in self.layers] + [own.new_zeros(count, size, width)]

    def _bias(self, seen: Tensor, visible: Tensor) -> tuple[Tensor, ...]:
        """What is added to attention scores, per layer (B, heads, Q, n): nothing is seen where there is no item."""
        bias = self.bias(seen).masked_fill(~visible[..., None], -torch.inf)
        return bias.permute(3, 0, 1, 2).unflatten(0, (len(self.layers), -1)).transpose(1, 2).contiguous().unbind(0)

    def _decide(self, hidden: Tensor, items: Tensor, seen: Tensor) -> Tensor:
        asked = self.asks(self.norm(hidden))[:, :, None, :] + self.offers(items)[:, None, :, :]
        return self.scores(functional.silu(asked + self.sees(seen)))

    def _seen(self, decision: DecisionPoint) -> Tensor:
        """(B, Q, n, features) what the newest node sees of each item."""
        relative, missing = decision.relative, decision.missing(self.most_edges).long()
        missing = functional.one_hot(missing.clamp_max(LACKING - 1), LACKING)
        dtype = self.sees.weight.dtype
        far = functional.one_hot(relative.distance.long(), FAR + 1)
        kind = functional.one_hot(relative.kind.long(), self.edge_count)
        degree = functional.one_hot(relative.degree.long().clamp_max(DEGREE - 1), DEGREE)
        age = relative.age.clamp_min(0).to(dtype)
        ages = [(relative.age == 1).to(dtype), 1 / (1 + age), age.log1p(), (age / 10).clamp_max(2)]
        parts = [far, kind, degree, relative.closed[..., None], torch.stack(ages, -1), relative.walk, missing]
        return torch.cat([part.to(dtype) for part in parts], -1)

    def _plan(self, decision: DecisionPoint, label: Tensor) -> Tensor:
        """What is still to come.  (B, Q, features)"""
        dtype = self.sees.weight.dtype
        left, total, extra = decision.remaining.to(dtype), decision.remaining.sum(2), decision.extra
        grown = decision.relative.age.amax(2).clamp_min(0) + 1
        counts = [functional.one_hot(number.clamp(0, COUNT - 1), COUNT).to(dtype) for number in (total, extra)]
        numbers = torch.stack([total, extra.clamp_min(0), total + grown, grown], -1).to(dtype).log1p()
        parts = [left.clamp_max(1.0), left.log1p(), *counts, numbers]
        if self.classes:
            known = functional.one_hot(label + 1, self.classes + 1)[:, 1:].to(dtype)
            parts.append(known[:, None, :].expand(-1, left.size(1), -1))
        return torch.cat(parts, -1)


class _Layer(nn.Module):
    """Attention whose scores and values also come from what is seen of an item; then a feed-forward network."""

    def __init__(self, width: int, heads: int, seen: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.keys = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.content = nn.Linear(heads * seen, width, bias=False)
        self.out = nn.Linear(width, width)
        self.forward_in, self.forward_out = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def remember(self, hidden: Tensor) -> Tensor:
        """(B, n, 2 * width) keys and values of items."""
        return self.keys(self.before(hidden))

    def forward(self, hidden: Tensor, keys: Tensor, seen: Tensor, bias: Tensor) -> Tensor:
        """(B, Q, width) new hidden values.

        Args:
            hidden: (B, Q, width), keys: (B, n, 2 * width), seen: (B, Q, n, features), bias: (B, heads, Q, n)
        """
        count, asking, width = hidden.shape
        items, each = keys.size(1), width // self.heads
        query = self.query(self.before(hidden)).view(count, asking, self.heads, each).transpose(1, 2)
        key, value = keys.view(count, items, 2, self.heads, each).permute(2, 0, 3, 1, 4).unbind(0)  # (B, H, n, each)
        weight = (query @ key.transpose(2, 3) * each**-0.5 + bias).softmax(3)  # (B, H, Q, n)
        mixed = (weight @ value).transpose(1, 2).reshape(count, asking, width)
        gathered = weight.transpose(1, 2) @ seen  # (B, Q, H, features)
        hidden = hidden + self.out(mixed) + self.content(gathered.flatten(2))
        return hidden + self.forward_out(functional.silu(self.forward_in(self.between(hidden))))
