"""Node growth, one decision at a time: what is there, what may come next, and what should."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dignn.structure.node_growth.growth_events import Events, RelativeFeatures
from dignn.structure.node_growth.growth_orders import Actions


@dataclass(frozen=True)
class Options:
    """What may come next. Most nodes are complete, so only those at which something may are kept.

    Args:
        graph, asking, item: (P,) a decision, and an item at which an action is admissible.
        allowed: (P, actions) which ones are.
        shape: of the decisions and items these are of: B, Q, n.
    """

    graph: Tensor
    asking: Tensor
    item: Tensor
    allowed: Tensor
    shape: torch.Size

    @property
    def decision(self) -> Tensor:
        """(P,) number of the decision."""
        return self.graph * self.shape[1] + self.asking

    def number(self, graph: Tensor, asking: Tensor, item: Tensor) -> Tensor:
        """Numbers of the options at these items of decisions; beyond the last where nothing is admissible."""
        place = torch.full(self.shape, len(self.graph), device=graph.device)  # so that its logit is asked for in vain
        place[self.graph, self.asking, self.item] = torch.arange(len(self.graph), device=graph.device)
        return place[graph, asking, item]

    def dense(self, logits: Tensor) -> Tensor:
        """(B, Q, n, actions) logits (P, actions) where an action is admissible, minus infinity elsewhere."""
        found = logits.new_full((*self.shape, logits.size(1)), -torch.inf)
        found[self.graph, self.asking, self.item] = logits.masked_fill(~self.allowed, -torch.inf)
        return found

    def log_total(self, logits: Tensor) -> Tensor:
        """(B * Q,) logarithm of the sum of exp(logits) over what each decision may choose; 0 where that is nothing."""
        each = logits.masked_fill(~self.allowed, -torch.inf).logsumexp(1)
        row, zero = self.decision, logits.new_zeros(self.shape[0] * self.shape[1])
        most = zero.scatter_reduce(0, row, each.detach(), "amax", include_self=False)
        total = zero.index_add(0, row, (each - most[row]).exp())
        return total.where(total > 0, 1.0).log() + most


@dataclass(frozen=True)
class DecisionPoint:
    """What decides which actions are admissible at n items of Q decisions: earlier nodes, and last the newest one.

    Args:
        tokens: (B, Q, n) node tokens of the items.
        visible: (B, Q, n) whether there is such an item.
        relative: (B, Q, n)
        remaining: (B, Q, K), extra: (B, Q)
        barred: (B, Q, n) items that the newest node is not to be joined to, None for none.
    """

    tokens: Tensor
    visible: Tensor
    relative: RelativeFeatures
    remaining: Tensor
    extra: Tensor
    barred: Tensor | None = None

    def reopened(self, graphs: Tensor) -> DecisionPoint:
        """The same with no node complete in some of the graphs (B,)."""
        nothing = {
            name: getattr(self.relative, name).masked_fill(graphs[:, None, None], 0) for name in ("closed", "degree")
        }
        return replace(self, relative=replace(self.relative, **nothing))

    def missing(self, most_edges: Tensor) -> Tensor:
        """(B, Q, n) edges that each item still takes, where nodes of each token take at most ``most_edges`` (K,)."""
        return (most_edges[self.tokens] - self.relative.degree).clamp_min(0)

    def options(self, actions: Actions, asked: Tensor | None = None) -> Options:
        """What may come next, at which item; for some decisions (B, Q) only, where they are named."""
        missing = self.missing(actions.most_edges) > 0
        open_ = self.visible & (self.relative.closed == 0) & missing
        if asked is not None:
            open_ &= asked[..., None]
        free = (self.relative.kind == 0) & ((self.extra > 0) & missing[..., -1])[..., None]
        free[..., -1] = False
        if self.barred is not None:
            free &= ~self.barred
        graph, asking, item = at = open_.nonzero(as_tuple=True)
        tokens, left = self.tokens[at], self.remaining > 0
        attach = actions.attach_fits[tokens] & left[graph, asking][:, actions.attach_token]
        join = actions.join_fits[tokens, self.tokens[graph, asking, -1]] & free[at][:, None]
        allowed = torch.cat([attach, join], 1)
        some = allowed.any(1)
        return Options(graph[some], asking[some], item[some], allowed[some], self.tokens.shape)


@dataclass(frozen=True)
class Targets:
    """What comes next after events, with which weight: those after one event sum to one.

    Args:
        graph, step: (T,) the event.
        item: (T,) where, as in its decision.
        action: (T,), weight: (T,)
    """

    graph: Tensor
    step: Tensor
    item: Tensor
    action: Tensor
    weight: Tensor


def decisions_of(events: Events) -> DecisionPoint:
    """One decision after every event; items are all nodes but the last that can come, and the newest node."""
    size, newest = events.tokens.size(1), events.node[..., None]  # (B, S, 1)
    place = torch.arange(size - 1, device=newest.device)

    def items(seen: Tensor) -> Tensor:
        at = newest if seen.dim() == 3 else newest[..., None].expand(-1, -1, -1, seen.size(3))
        return torch.cat([seen[:, :, :-1], seen.gather(2, at)], 2)

    earlier = place < newest
    return DecisionPoint(
        tokens=items(events.tokens[:, None, :].expand(-1, newest.size(1), -1)),
        visible=torch.cat([earlier, torch.ones_like(newest, dtype=torch.bool)], 2),
        relative=events.relative.map(items),
        remaining=events.remaining,
        extra=events.extra,
    )


def targets_of(events: Events, actions: Actions) -> Targets:
    """What comes next after each event but the last of each growth.

    It is uniform over the further edges of the newest node if there are any, else over the edges to new nodes of the
    grown node that the next event goes to.
    """
    steps, device = events.code.size(1), events.code.device
    graph, step = events.followed.nonzero(as_tuple=True)
    newest, size = events.node[graph, step], events.tokens.size(1)
    joins = ~events.final[graph, step]
    place = torch.arange(size, device=device)
    # (D, N) further edges of the newest node that are missing, or edges of the next event's node to nodes to come
    came = (events.node[graph] == newest[:, None]).long().argmax(1)  # the event by which the newest node came
    missing = (events.turn[graph, :, newest] > (step - came)[:, None]) & joins[:, None]
    to = events.at[graph, (step + 1).clamp_max(steps - 1)]
    edges = events.edges[graph, to]
    boundary = (edges > 0) & (place > newest[:, None]) & ~joins[:, None]
    row, node = missing.nonzero(as_tuple=True)
    join = actions.attaches + events.edges[graph[row], node, newest[row]] - 1
    other, new = boundary.nonzero(as_tuple=True)
    attach = actions.code[events.tokens[graph[other], new], edges[other, new]]
    row, node, action = torch.cat([row, other]), torch.cat([node, to[other]]), torch.cat([join, attach])
    weight = 1.0 / (missing | boundary).sum(1).float()
    item = node.where(node < newest[row], size - 1)
    return Targets(graph[row], step[row], item, action, weight[row])
