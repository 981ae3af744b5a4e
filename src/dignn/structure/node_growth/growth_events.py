"""Node growth as sequences of events, and what the newest node sees of the others after each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional

from dignn.core.devices import CPU
from dignn.structure.node_growth.growth_orders import Actions, Grown
from dignn.structure.vocabulary import Vocabulary

# Distances are told apart up to this one.
FAR = 9
# Random walks of 2 to WALK + 1 steps from the newest node.
WALK = 7


@dataclass(frozen=True)
class RelativeFeatures:
    """What the newest node sees of each grown node, now.

    Args:
        distance: (..., n) steps to the newest node, at most :data:`FAR`.
        kind: (..., n) edge token from the node to the newest one.
        degree: (..., n) number of edges.
        closed: (..., n) whether all edges of the node are there: a later node came by an earlier one.
        age: (..., n) nodes that came after it.
        walk: (..., n, WALK) probability that a random walk of 2, 3, ... steps from the newest node ends there.
    """

    distance: Tensor
    kind: Tensor
    degree: Tensor
    closed: Tensor
    age: Tensor
    walk: Tensor

    def map(self, change: Callable[[Tensor], Tensor]) -> RelativeFeatures:
        """The same with each tensor changed."""
        return RelativeFeatures(*(change(seen) for seen in vars(self).values()))

    def at(self, index: Tensor) -> RelativeFeatures:
        """What is seen of other nodes than the first, second, ...: of node ``index`` (B, Q, m)."""
        walks = index[..., None].expand(-1, -1, -1, WALK)
        return self.map(lambda seen: seen.gather(2, index if seen.dim() == 3 else walks))


@dataclass(frozen=True)
class Events:
    """Growths as sequences: event 0 is the first node, each further one an edge.

    Args:
        code: (B, S) what happens: token k of a first node, or K + action.
        node: (B, S) the newest node after the event.
        at: (B, S) the grown node that the event's edge goes to.
        final: (B, S) whether it is the last event of its newest node.
        length: (B,) number of events; what follows is padding.
        relative: of the newest node after each event, over all nodes.  (B, S, N)
        remaining: (B, S, K) nodes of each token that are still to come.
        extra: (B, S) edges that are still to come beyond those by which nodes come.
        tokens: (B, N) node tokens, 0 on padding.
        label: (B,) class of the graph.
        turn, edges: as in :class:`~dignn.structure.node_growth.growth_orders.Grown`.
    """

    code: Tensor
    node: Tensor
    at: Tensor
    final: Tensor
    length: Tensor
    relative: RelativeFeatures
    remaining: Tensor
    extra: Tensor
    tokens: Tensor
    label: Tensor
    turn: Tensor
    edges: Tensor

    def __getitem__(self, index: Tensor) -> Events:
        """Some growths, cut to the longest and the largest of them."""
        length = self.length[index]
        steps, size = int(length.max()), int(self.node[index].max()) + 1
        by_step = ("code", "node", "at", "final", "remaining", "extra")
        cut = {name: getattr(self, name)[index, :steps] for name in by_step}
        return Events(
            **cut,
            length=length,
            relative=self.relative.map(lambda seen: seen[index, :steps, :size]),
            tokens=self.tokens[index, :size],
            label=self.label[index],
            turn=self.turn[index, :size, :size],
            edges=self.edges[index, :size, :size],
        )


def events_of(grown: Grown, words: Vocabulary, actions: Actions) -> Events:
    """The events of growths, and what is seen after each of them."""
    count, size = grown.nodes.shape
    graph = torch.arange(count)
    back = (grown.turn >= 0).sum(1)  # (B, N) edges of each node to earlier ones
    total = back.sum(1)
    steps = int(total.max()) + 1
    first = back.cumsum(1) - back + 1  # the event by which each node comes, where it comes
    live = GrowingGraphs.start(count, size)
    code, node, at = (torch.zeros(count, steps, dtype=torch.long) for _ in range(3))
    final = torch.zeros(count, steps, dtype=torch.bool)
    tokens = grown.nodes.clamp_min(0)
    code[:, 0] = tokens[:, 0]
    remaining = torch.zeros(count, steps, words.node_count, dtype=torch.long)
    left = functional.one_hot(grown.nodes + 1, words.node_count + 1)[..., 1:]  # (B, N, K)
    after = left.sum(1, keepdim=True) - left.cumsum(1)  # still to come after each node
    extra = torch.zeros(count, steps, dtype=torch.long)
    later = (back - 1).clamp_min(0)
    seen = {name: torch.zeros(count, steps, size, dtype=torch.int16) for name in RelativeFeatures.__dataclass_fields__}
    seen["walk"] = torch.zeros(count, steps, size, WALK)
    newest = torch.zeros(count, dtype=torch.long)
    for step in range(steps):
        if step:
            going = step <= total
            # The newest node is the last one whose first event is not after this one.
            newest = ((first <= step) & (back > 0)).long().mul(torch.arange(size)).max(1).values
            turn = step - first[graph, newest]
            u = (grown.turn[graph, :, newest] == turn[:, None]).long().argmax(1)
            edge = grown.edges[graph, u, newest]
            new = turn == 0
            live.add(graph[going], u[going], newest[going], edge[going], words, new[going])
            attach = actions.code[tokens[graph, newest], edge]
            code[:, step] = words.node_count + torch.where(new, attach, actions.attaches + edge - 1)
            at[:, step] = u
        node[:, step] = newest
        placed = step - first[graph, newest]  # further edges of the newest node that are there
        final[:, step] = placed + 1 >= back[graph, newest]
        extra[:, step] = (
            later.sum(1) - later.cumsum(1)[graph, newest] + (later[graph, newest] - placed).where(newest > 0, 0)
        )
        remaining[:, step] = after[graph, newest]
        relative = live.seen(graph, newest, size)
        for name, values in seen.items():
            values[:, step] = getattr(relative, name)
    told = grown.label, grown.turn, grown.edges
    return Events(code, node, at, final, total + 1, RelativeFeatures(**seen), remaining, extra, tokens, *told)


class GrowingGraphs:
    """Distances, degrees and the rest of many growing graphs, kept up to date edge by edge.

    Args:
        distance: (B, N, N) at most :data:`FAR`.
        edges: (B, N, N) edge tokens.
        closed: (B, N) nodes whose edges are all there.
    """

    def __init__(self, distance: Tensor, edges: Tensor, closed: Tensor) -> None:
        self.distance, self.edges, self.closed = distance, edges, closed

    @classmethod
    def start(cls, count: int, size: int, device: torch.device = CPU) -> GrowingGraphs:
        distance = torch.full((count, size, size), FAR, dtype=torch.int8, device=device)
        distance[:, range(size), range(size)] = 0
        edges = torch.zeros(count, size, size, dtype=torch.int16, device=device)
        return cls(distance, edges, torch.zeros(count, size, dtype=torch.bool, device=device))

    def add(self, graph: Tensor, u: Tensor, v: Tensor, edge: Tensor, words: Vocabulary, new: Tensor) -> None:
        """An edge of token ``edge`` from u to the newest node v; where ``new``, v came by it."""
        self.edges[graph, u, v] = edge.to(torch.int16)
        self.edges[graph, v, u] = words.mirror.to(edge.device)[edge].to(torch.int16)
        distance = self.distance[graph]
        here = torch.arange(len(graph), device=graph.device)
        from_u, from_v = distance[here, u], distance[here, v]  # (b, N)
        through = torch.minimum(from_u[:, :, None] + from_v[:, None, :], from_v[:, :, None] + from_u[:, None, :]) + 1
        self.distance[graph] = torch.minimum(distance, through)
        place = torch.arange(self.closed.size(1), device=u.device)
        between = (place > u[:, None]) & (place < v[:, None]) & new[:, None]
        self.closed[graph] |= between

    def seen(self, graph: Tensor, newest: Tensor, size: int) -> RelativeFeatures:
        """What the newest node of each graph sees of the first ``size`` nodes."""
        joined = (self.edges[graph, :size, :size] > 0).float()
        degree = joined.sum(2)
        step = joined / degree.clamp_min(1.0)[:, :, None]
        walk = [functional.one_hot(newest, size).float()[:, None, :] @ step]
        for _ in range(WALK):
            walk.append(walk[-1] @ step)
        return RelativeFeatures(
            distance=self.distance[graph, newest, :size],
            kind=self.edges[graph, :size, newest],
            degree=degree,
            closed=self.closed[graph, :size],
            age=newest[:, None] - torch.arange(size, device=newest.device),
            walk=torch.cat(walk[1:], 1).transpose(1, 2),
        )


@dataclass(frozen=True)
class DecisionPoint:
    """What decides which actions are admissible at n items (grown nodes) of Q decisions.

    Args:
        tokens: (B, Q, n) node tokens of the items.
        newest: (B, Q) token of the newest node.
        itself: (B, Q, n) whether the item is the newest node.
        visible: (B, Q, n) whether there is such an item.
        relative: (B, Q, n)
        remaining: (B, Q, K), extra: (B, Q)
    """

    tokens: Tensor
    newest: Tensor
    itself: Tensor
    visible: Tensor
    relative: RelativeFeatures
    remaining: Tensor
    extra: Tensor

    def reopened(self) -> DecisionPoint:
        """The same with no node complete."""
        nothing = {name: torch.zeros_like(getattr(self.relative, name)) for name in ("closed", "degree")}
        return replace(self, relative=replace(self.relative, **nothing))

    def missing(self, most_edges: Tensor) -> Tensor:
        """(B, Q, n) edges that each item still takes, where nodes of each token take at most ``most_edges`` (K,)."""
        return (most_edges[self.tokens] - self.relative.degree).clamp_min(0)

    def admissible(self, actions: Actions) -> Tensor:
        """(B, Q, n, actions) what may come next, at which item."""
        left = self.remaining[..., actions.attach_token] > 0  # (B, Q, A)
        missing = self.missing(actions.most_edges) > 0
        open_ = self.visible & (self.relative.closed == 0) & missing
        attach = actions.attach_fits[self.tokens] & left[:, :, None, :] & open_[..., None]
        join = actions.join_fits[self.tokens, self.newest[:, :, None]]
        able = (missing & self.itself).any(2, keepdim=True)
        free = open_ & (self.relative.kind == 0) & (self.extra > 0)[:, :, None] & ~self.itself & able
        return torch.cat([attach, join & free[..., None]], 3)


def decisions_of(events: Events) -> DecisionPoint:
    """One decision after every event; items are events, of which the last of each node is visible."""
    steps, device = events.code.size(1), events.code.device
    index = events.node[:, None, :].expand(-1, steps, -1)  # (B, S, S) node of each item
    relative = events.relative.at(index)
    itself = torch.eye(steps, dtype=torch.bool, device=device).expand(len(events.code), -1, -1)
    earlier = events.node[:, None, :] < events.node[:, :, None]
    tokens = events.tokens.gather(1, events.node)  # (B, S)
    return DecisionPoint(
        tokens=tokens[:, None, :].expand(-1, steps, -1),
        newest=tokens,
        itself=itself,
        visible=(earlier & events.final[:, None, :]) | itself,
        relative=relative,
        remaining=events.remaining,
        extra=events.extra,
    )


def targets_of(events: Events, decision: DecisionPoint, actions: Actions) -> Tensor:
    """(B, S, S, actions) distribution of the next event after each; 0 after the last one.

    It is uniform over the further edges of the newest node if there are any, else over the edges to new nodes of the
    grown node that the next event goes to.
    """
    (count, steps), device = events.code.shape, events.code.device
    graph, step = (torch.arange(steps, device=device) < events.length[:, None] - 1).nonzero(as_tuple=True)
    newest, size = events.node[graph, step], events.tokens.size(1)
    joins = ~events.final[graph, step]
    place = torch.arange(size, device=device)
    # (D, N) further edges of the newest node that are missing, or edges of the next event's node to nodes to come
    came = (events.node[graph] == newest[:, None]).long().argmax(1)  # the event by which the newest node came
    missing = events.turn[graph, :, newest] > (step - came)[:, None]
    to = events.at[graph, (step + 1).clamp_max(steps - 1)]
    edges = events.edges[graph, to]
    boundary = (edges > 0) & (place > newest[:, None])
    target = torch.zeros(count, steps, size, actions.count, device=device)
    row, node = (missing & joins[:, None]).nonzero(as_tuple=True)
    action = actions.attaches + events.edges[graph[row], node, newest[row]] - 1
    target[graph[row], step[row], node, action] = 1.0
    row, node = (boundary & ~joins[:, None]).nonzero(as_tuple=True)
    action = actions.code[events.tokens[graph[row], node], edges[row, node]]
    once = torch.ones(len(row), device=device)
    target.index_put_((graph[row], step[row], to[row], action), once, accumulate=True)
    target = target / target.sum((2, 3), keepdim=True).clamp_min(1.0)
    index = events.node[:, None, :, None].expand(-1, steps, -1, actions.count)
    return target.gather(2, index) * decision.visible[..., None]
