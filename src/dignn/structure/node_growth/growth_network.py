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

from dignn.structure.node_growth.growth_decisions import DecisionPoint, Options
from dignn.structure.node_growth.growth_events import FAR, WALK
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

    def forward(self, code: Tensor, decision: DecisionPoint, label: Tensor, options: Options, last: Tensor) -> Tensor:
        """(P, actions) logits of what comes after each event of whole growths, those not admissible included.

        Args:
            code: (B, S) the events.
            decision: what there is after each of them.
            label: (B,) class of the graph.
            options: of which logits are wanted.
            last: (B, n) the last event of each node, as which it is seen later.
        """
        seen = self._seen(decision)
        hidden = self.event(code) + self.plan(self._plan(decision, label))
        earlier = last[:, :-1, None]
        for layer, bias in zip(self.layers, self._bias(seen, decision.visible), strict=True):
            own = layer.remember(hidden)
            hidden = layer(hidden, own.gather(1, earlier.expand(-1, -1, own.size(2))), own, seen, bias)
        hidden = self.norm(hidden)
        event = last[options.graph, options.item].where(options.item < last.size(1) - 1, options.asking)
        return self._decide(hidden, self.offers(hidden), options.graph * code.size(1) + event, seen, options)

    def step(
        self,
        code: Tensor,
        decision: DecisionPoint,
        label: Tensor,
        memory: list[Tensor],
        place: int,
        options: Options,
    ) -> Tensor:
        """(P, actions) the same for one more event of each growth, n = ``place`` + 1 nodes.

        Args:
            code: (B,) the event.
            decision: what there is after it (one decision).
            label: (B,) class of the graph.
            memory: what earlier events left, per layer (B, N, 2 * width), and at the end (B, N, width); the newest
                node's place is written.
            place: the newest node.
            options: of which logits are wanted.
        """
        seen = self._seen(decision)
        hidden = self.event(code)[:, None, :] + self.plan(self._plan(decision, label))
        for layer, bias, kept in zip(self.layers, self._bias(seen, decision.visible), memory, strict=False):
            own = layer.remember(hidden)
            kept[:, place] = own[:, 0]
            hidden = layer(hidden, kept[:, :place], own, seen, bias)
        hidden = self.norm(hidden)
        memory[-1][:, place] = self.offers(hidden)[:, 0]
        offered = options.graph * (place + 1) + options.item
        return self._decide(hidden, memory[-1][:, : place + 1], offered, seen, options)

    def blank(self, count: int, size: int) -> list[Tensor]:
        """Memory of growths of which nothing has happened."""
        width, own = self.norm.normalized_shape[0], self.norm.weight
        return [own.new_zeros(count, size, 2 * width) for _ in self.layers] + [own.new_zeros(count, size, width)]

    def _bias(self, seen: Tensor, visible: Tensor) -> tuple[Tensor, ...]:
        """What is added to attention scores, per layer (B, heads, Q, n): nothing is seen where there is no item."""
        bias = self.bias(seen).masked_fill(~visible[..., None], -torch.inf)
        return bias.permute(3, 0, 1, 2).unflatten(0, (len(self.layers), -1)).transpose(1, 2).contiguous().unbind(0)

    def _decide(self, hidden: Tensor, offers: Tensor, offered: Tensor, seen: Tensor, options: Options) -> Tensor:
        """(P, actions) logits: of what asks (B, Q, width), by what items offer (B, m, width), ``offered`` (P,) each."""
        decision = options.decision
        asked = self.asks(hidden).flatten(0, 1).index_select(0, decision)
        asked = asked + offers.flatten(0, 1).index_select(0, offered)
        seen = seen.flatten(0, 2).index_select(0, decision * seen.size(2) + options.item)
        return self.scores(functional.silu(asked + self.sees(seen)))

    def _seen(self, decision: DecisionPoint) -> Tensor:
        """(B, Q, n, features) what the newest node sees of each item."""
        relative, missing = decision.relative, decision.missing(self.most_edges)
        degree_from = FAR + 1 + self.edge_count
        ages_from = degree_from + DEGREE + 1
        walk_from = ages_from + AGE
        seen = torch.zeros(*missing.shape, self.sees.in_features, dtype=self.sees.weight.dtype, device=missing.device)
        ones = [
            relative.distance.long(),
            relative.kind.long() + FAR + 1,
            relative.degree.long().clamp_max(DEGREE - 1) + degree_from,
            missing.long().clamp_max(LACKING - 1) + walk_from + WALK,
        ]
        seen.scatter_(3, torch.stack(ones, 3), 1.0)
        seen[..., ages_from - 1] = relative.closed.to(seen.dtype)
        age = torch.arange(int(relative.age.max()) + 1, device=seen.device).to(seen.dtype)
        ages = torch.stack([(age == 1).to(seen.dtype), 1 / (1 + age), age.log1p(), (age / 10).clamp_max(2)], 1)
        seen[..., ages_from:walk_from] = ages[relative.age.long().clamp_min(0)]
        seen[..., walk_from : walk_from + WALK] = relative.walk
        return seen

    def _plan(self, decision: DecisionPoint, label: Tensor) -> Tensor:
        """What is still to come.  (B, Q, features)"""
        dtype = self.sees.weight.dtype
        left, total, extra = decision.remaining.to(dtype), decision.remaining.sum(2), decision.extra
        grown = decision.visible.sum(2)
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

    def forward(self, hidden: Tensor, earlier: Tensor, own: Tensor, seen: Tensor, bias: Tensor) -> Tensor:
        """(B, Q, width) new hidden values.

        Args:
            hidden: (B, Q, width)
            earlier: (B, n - 1, 2 * width) keys and values of earlier nodes, own: (B, Q, 2 * width) of the newest one.
            seen: (B, Q, n, features), bias: (B, heads, Q, n)
        """
        count, asking, width = hidden.shape
        each = width // self.heads
        query = self.query(self.before(hidden)).view(count, asking, self.heads, each).transpose(1, 2) * each**-0.5
        key, value = self._by_head(earlier)
        own_key, own_value = self._by_head(own)
        score = torch.cat([query @ key.transpose(2, 3), (query * own_key).sum(3, keepdim=True)], 3)
        weight = (score + bias).softmax(3)  # (B, H, Q, n)
        of_earlier, of_own = weight.split([earlier.size(1), 1], 3)
        mixed = (of_earlier @ value + of_own * own_value).transpose(1, 2).reshape(count, asking, width)
        gathered = weight.transpose(1, 2) @ seen  # (B, Q, H, features)
        hidden = hidden + self.out(mixed) + self.content(gathered.flatten(2))
        return hidden + self.forward_out(functional.silu(self.forward_in(self.between(hidden))))

    def _by_head(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of items (B, m, 2 * width), (B, heads, m, width of a head) each."""
        key, value = keys.unflatten(2, (2, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        return key, value
