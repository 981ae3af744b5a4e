"""Node growth, the forward process: a graph is taken apart node by node, in a random depth-first order.

Read backwards it is a growth: a uniformly random node, then again and again a random edge from the latest grown node
that lacks one to a new node, followed by the new node's further edges to grown nodes, in random order. Each edge is
one event. A model that predicts the next event exactly, from what has grown and what remains to be placed, generates
graphs of exactly the distribution it learned from.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from dignn.structure.vocabulary import Vocabulary

# Distances are told apart up to this one.
FAR = 9
# Random walks from the newest node have 2 to this many steps, and one more.
WALK = 7


@dataclass(frozen=True)
class Actions:
    """What can be done at a grown node u: attach a new node of some token to it, or join the newest node to it.

    Attach actions come first, then one join action for each edge token but 0.

    Args:
        attach_token, attach_edge: (A,) the new node's token and the edge's token, seen from u, of attach action a.
        code: (K, E) the attach action of a node token and an edge token; -1 where there is none.
        attach_fits: (K, A) whether u's token may take attach action a: the metagraph.
        join_fits: (K, K, E - 1) whether tokens of u and of the newest node may be joined by edge token e + 1.
    """

    attach_token: Tensor
    attach_edge: Tensor
    code: Tensor
    attach_fits: Tensor
    join_fits: Tensor

    @property
    def attaches(self) -> int:
        """Number of attach actions, A."""
        return len(self.attach_token)

    @property
    def count(self) -> int:
        """Number of all actions, A + E - 1."""
        return self.attaches + self.join_fits.size(2)

    @classmethod
    def of(cls, words: Vocabulary) -> Actions:
        fits = words.allowed[..., 1:]  # (K, K, E - 1)
        token, edge = fits.any(0).nonzero().unbind(1)
        code = torch.full((words.node_count, words.edge_count), -1)
        code[token, edge + 1] = torch.arange(len(token))
        return cls(token, edge + 1, code, fits[:, token, edge], fits)


@dataclass(frozen=True)
class Grown:
    """Graphs in growth order: node 0 came first.

    Args:
        nodes: (B, N) node tokens, -1 on padding.
        edges: (B, N, N) edge tokens.
        by: (B, N) the node by which each came; 0 for the first.
        turn: (B, N, N) for i < k with an edge: 0 for the edge by which k came, then 1, 2, ...; -1 elsewhere.
        label: (B,) class of the graph, -1 where there is none.
    """

    nodes: Tensor
    edges: Tensor
    by: Tensor
    turn: Tensor
    label: Tensor


def grow(nodes: Tensor, edges: Tensor, label: Tensor, generator: torch.Generator) -> Grown:
    """A random growth of every graph.

    Args:
        nodes: (B, N) tokens, -1 on padding.
        edges: (B, N, N) tokens; every graph is connected.
        label: (B,) class of each graph.
        generator: of the random order.
    """
    count, size = nodes.shape
    there, joined = nodes >= 0, edges > 0
    graph = torch.arange(count)
    order = torch.zeros(count, size, dtype=torch.long)
    parent = torch.zeros(count, size, dtype=torch.long)  # as a node of the given order
    came = torch.full((count, size), -1)  # when each node came
    for step in range(size):
        if step == 0:
            chosen = _uniform(there, generator)
        else:
            new = joined & (came < 0)[:, None, :]  # (B, N, N) edges to nodes that have not come
            latest = came.masked_fill(~new.any(2), -1).argmax(1)
            options = new[graph, latest] & (came[graph, latest] >= 0)[:, None]
            chosen = _uniform(options, generator)
            parent[:, step] = latest
            # Graphs that are complete take their padding in any order.
            chosen = chosen.where(options.any(1), (came < 0).long().argmax(1))
        order[:, step] = chosen
        came[graph, chosen] = step
    nodes = nodes.gather(1, order)
    edges = edges.gather(1, order[:, :, None].expand_as(edges)).gather(2, order[:, None, :].expand_as(edges))
    earlier = (edges > 0).triu(1)  # (B, i, k): k has an edge to the earlier i
    by = came.gather(1, parent)
    key = torch.rand(count, size, size, generator=generator) + 1
    key.scatter_(1, by[:, None, :], 0.0)
    turn = key.masked_fill(~earlier, torch.inf).argsort(1).argsort(1)
    return Grown(nodes, edges, by, turn.where(earlier, -1), label)


@dataclass(frozen=True)
class Sight:
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

    def at(self, index: Tensor) -> Sight:
        """What is seen of other nodes than the first, second, ...: of node ``index`` (B, Q, m)."""
        flat = {name: getattr(self, name).gather(2, index) for name in ("distance", "kind", "degree", "closed", "age")}
        return Sight(**flat, walk=self.walk.gather(2, index[..., None].expand(-1, -1, -1, self.walk.size(3))))


@dataclass(frozen=True)
class Events:
    """Growths as sequences: event 0 is the first node, each further one an edge.

    Args:
        code: (B, S) what happens: token k of a first node, or K + action.
        node: (B, S) the newest node after the event.
        at: (B, S) the grown node that the event's edge goes to.
        final: (B, S) whether it is the last event of its newest node.
        length: (B,) number of events; what follows is padding.
        sight: of the newest node after each event, over all nodes.  (B, S, N)
        remaining: (B, S, K) nodes of each token that are still to come.
        extra: (B, S) edges that are still to come beyond those by which nodes come.
        tokens: (B, N) node tokens, 0 on padding.
        label: (B,) class of the graph.
        options: (B, N, N, A) whether node i has an edge to k, as an attach action.
        turn, edges: as in :class:`Grown`.
    """

    code: Tensor
    node: Tensor
    at: Tensor
    final: Tensor
    length: Tensor
    sight: Sight
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
        seen = {name: getattr(self.sight, name)[index, :steps, :size] for name in Sight.__dataclass_fields__}
        cut = {
            name: getattr(self, name)[index, :steps] for name in ("code", "node", "at", "final", "remaining", "extra")
        }
        return Events(
            **cut,
            length=length,
            sight=Sight(**seen),
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
    live = LiveSight.start(count, size)
    code, node, at = (torch.zeros(count, steps, dtype=torch.long) for _ in range(3))
    final = torch.zeros(count, steps, dtype=torch.bool)
    tokens = grown.nodes.clamp_min(0)
    code[:, 0] = tokens[:, 0]
    remaining = torch.zeros(count, steps, words.node_count, dtype=torch.long)
    left = functional.one_hot(grown.nodes + 1, words.node_count + 1)[..., 1:]  # (B, N, K)
    after = left.sum(1, keepdim=True) - left.cumsum(1)  # still to come after each node
    extra = torch.zeros(count, steps, dtype=torch.long)
    later = (back - 1).clamp_min(0)
    seen = {name: torch.zeros(count, steps, size, dtype=torch.int16) for name in Sight.__dataclass_fields__}
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
        sight = live.seen(graph, newest, size)
        for name, values in seen.items():
            values[:, step] = getattr(sight, name)
    return Events(
        code, node, at, final, total + 1, Sight(**seen), remaining, extra, tokens, grown.label, grown.turn, grown.edges
    )


class LiveSight:
    """Distances, degrees and the rest of many growing graphs, kept up to date edge by edge.

    Args:
        distance: (B, N, N) at most :data:`FAR`.
        edges: (B, N, N) edge tokens.
        closed: (B, N) nodes whose edges are all there.
    """

    def __init__(self, distance: Tensor, edges: Tensor, closed: Tensor) -> None:
        self.distance, self.edges, self.closed = distance, edges, closed

    @classmethod
    def start(cls, count: int, size: int) -> LiveSight:
        distance = torch.full((count, size, size), FAR, dtype=torch.int8)
        distance[:, range(size), range(size)] = 0
        edges = torch.zeros(count, size, size, dtype=torch.int16)
        return cls(distance, edges, torch.zeros(count, size, dtype=torch.bool))

    def add(self, graph: Tensor, u: Tensor, v: Tensor, edge: Tensor, words: Vocabulary, new: Tensor) -> None:
        """An edge of token ``edge`` from u to the newest node v; where ``new``, v came by it."""
        self.edges[graph, u, v] = edge.to(torch.int16)
        self.edges[graph, v, u] = words.mirror[edge].to(torch.int16)
        distance = self.distance[graph]
        here = torch.arange(len(graph))
        from_u, from_v = distance[here, u], distance[here, v]  # (b, N)
        through = torch.minimum(from_u[:, :, None] + from_v[:, None, :], from_v[:, :, None] + from_u[:, None, :]) + 1
        self.distance[graph] = torch.minimum(distance, through)
        place = torch.arange(self.closed.size(1))
        between = (place > u[:, None]) & (place < v[:, None]) & new[:, None]
        self.closed[graph] |= between

    def seen(self, graph: Tensor, newest: Tensor, size: int) -> Sight:
        """What the newest node of each graph sees of the first ``size`` nodes."""
        joined = (self.edges[graph, :size, :size] > 0).float()
        degree = joined.sum(2)
        step = joined / degree.clamp_min(1.0)[:, :, None]
        walk = [functional.one_hot(newest, size).float()[:, None, :] @ step]
        for _ in range(WALK):
            walk.append(walk[-1] @ step)
        return Sight(
            distance=self.distance[graph, newest, :size],
            kind=self.edges[graph, :size, newest],
            degree=degree,
            closed=self.closed[graph, :size],
            age=newest[:, None] - torch.arange(size),
            walk=torch.cat(walk[1:], 1).transpose(1, 2),
        )


@dataclass(frozen=True)
class Moment:
    """What decides which actions are admissible at n items (grown nodes) of Q moments.

    Args:
        tokens: (B, Q, n) node tokens of the items.
        newest: (B, Q) token of the newest node.
        itself: (B, Q, n) whether the item is the newest node.
        visible: (B, Q, n) whether there is such an item.
        sight: (B, Q, n)
        remaining: (B, Q, K), extra: (B, Q)
    """

    tokens: Tensor
    newest: Tensor
    itself: Tensor
    visible: Tensor
    sight: Sight
    remaining: Tensor
    extra: Tensor

    def admissible(self, actions: Actions) -> Tensor:
        """(B, Q, n, actions) what may come next, at which item."""
        left = self.remaining[..., actions.attach_token] > 0  # (B, Q, A)
        open_ = self.visible & (self.sight.closed == 0)
        attach = actions.attach_fits[self.tokens] & left[:, :, None, :] & open_[..., None]
        join = actions.join_fits[self.tokens, self.newest[:, :, None]]
        free = open_ & (self.sight.kind == 0) & (self.extra > 0)[:, :, None] & ~self.itself
        return torch.cat([attach, join & free[..., None]], 3)


def moments_of(events: Events) -> Moment:
    """One moment after every event; items are events, of which the last of each node is visible."""
    steps = events.code.size(1)
    index = events.node[:, None, :].expand(-1, steps, -1)  # (B, S, S) node of each item
    sight = events.sight.at(index)
    itself = torch.eye(steps, dtype=torch.bool).expand(len(events.code), -1, -1)
    earlier = events.node[:, None, :] < events.node[:, :, None]
    tokens = events.tokens.gather(1, events.node)  # (B, S)
    return Moment(
        tokens=tokens[:, None, :].expand(-1, steps, -1),
        newest=tokens,
        itself=itself,
        visible=(earlier & events.final[:, None, :]) | itself,
        sight=sight,
        remaining=events.remaining,
        extra=events.extra,
    )


def targets_of(events: Events, moment: Moment, actions: Actions) -> Tensor:
    """(B, S, S, actions) distribution of the next event after each; 0 after the last one.

    It is uniform over the further edges of the newest node if there are any, else over the edges to new nodes of the
    grown node that the next event goes to.
    """
    count, steps = events.code.shape
    graph, step = (torch.arange(steps) < events.length[:, None] - 1).nonzero(as_tuple=True)
    newest, size = events.node[graph, step], events.tokens.size(1)
    joins = ~events.final[graph, step]
    place = torch.arange(size)
    # (D, N) further edges of the newest node that are missing, or edges of the next event's node to nodes to come
    have = (events.turn[graph, :, newest] >= 0) & (
        events.turn[graph, :, newest] > (step - _first(events, graph, newest))[:, None]
    )
    to = events.at[graph, (step + 1).clamp_max(steps - 1)]
    edges = events.edges[graph, to]
    boundary = (edges > 0) & (place > newest[:, None])
    target = torch.zeros(count, steps, size, actions.count)
    row, node = (have & joins[:, None]).nonzero(as_tuple=True)
    action = actions.attaches + events.edges[graph[row], node, newest[row]] - 1
    target[graph[row], step[row], node, action] = 1.0
    row, node = (boundary & ~joins[:, None]).nonzero(as_tuple=True)
    action = actions.code[events.tokens[graph[row], node], edges[row, node]]
    target.index_put_((graph[row], step[row], to[row], action), torch.ones(len(row)), accumulate=True)
    target = target / target.sum((2, 3), keepdim=True).clamp_min(1.0)
    index = events.node[:, None, :, None].expand(-1, steps, -1, actions.count)
    return target.gather(2, index) * moment.visible[..., None]


def _first(events: Events, graph: Tensor, node: Tensor) -> Tensor:
    """The event by which a node came."""
    return (events.node[graph] == node[:, None]).long().argmax(1)


def _uniform(options: Tensor, generator: torch.Generator) -> Tensor:
    """(B,) a uniformly random true position of each row of (B, M)."""
    return torch.rand(options.shape, generator=generator).masked_fill(~options, -1.0).argmax(1)
