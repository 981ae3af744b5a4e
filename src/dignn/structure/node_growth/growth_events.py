"""Node growth as sequences of events, and what the newest node sees of the others after each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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

    @property
    def followed(self) -> Tensor:
        """(B, S) whether another event follows."""
        return torch.arange(self.code.size(1), device=self.code.device) < self.length[:, None] - 1

    @property
    def last(self) -> Tensor:
        """(B, N) the last event of which each node is the newest one, 0 where there is none."""
        step = torch.arange(self.code.size(1), device=self.code.device).expand_as(self.node)
        return torch.zeros_like(self.tokens).scatter_reduce(1, self.node, step, "amax")

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
        grown_now = int(newest.max()) + 1
        relative = live.seen(graph, newest, grown_now)
        for name, values in seen.items():
            values[:, step, :grown_now] = getattr(relative, name)
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
        size = int(v.max()) + 1  # no later node has come
        distance = self.distance[graph, :size, :size]
        here = torch.arange(len(graph), device=graph.device)
        from_u, from_v = distance[here, u], distance[here, v]  # (b, size)
        through = from_u[:, :, None] + from_v[:, None, :]
        through = torch.minimum(through, through.transpose(1, 2)) + 1
        self.distance[graph, :size, :size] = torch.minimum(distance, through)
        place = torch.arange(size, device=u.device)
        self.closed[graph, :size] |= (place > u[:, None]) & (place < v[:, None]) & new[:, None]

    def seen(self, graph: Tensor, newest: Tensor, size: int) -> RelativeFeatures:
        """What the newest node of each graph sees of the first ``size`` nodes."""
        joined = (self.edges[graph, :size, :size] > 0).float()
        degree = joined.sum(2)
        leaving = 1 / degree.clamp_min(1.0)[:, None, :]
        walk = [(functional.one_hot(newest, size).float()[:, None, :] * leaving) @ joined]
        for _ in range(WALK):
            walk.append((walk[-1] * leaving) @ joined)
        return RelativeFeatures(
            distance=self.distance[graph, newest, :size],
            kind=self.edges[graph, :size, newest],
            degree=degree,
            closed=self.closed[graph, :size],
            age=newest[:, None] - torch.arange(size, device=newest.device),
            walk=torch.cat(walk[1:], 1).transpose(1, 2),
        )
