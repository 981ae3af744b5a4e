"""Node growth, the reverse process: many graphs grow at once, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dignn.core.devices import model_device, moved
from dignn.core.progress import Tick, Together
from dignn.core.seeds import Seed
from dignn.core.threads import map_threads
from dignn.diffusion.categorical import draw
from dignn.diffusion.resampling import resample
from dignn.graphs.batch import GraphBatch
from dignn.graphs.isomorphism import fingerprints
from dignn.structure.base import Guide
from dignn.structure.node_growth.growth_decisions import DecisionPoint
from dignn.structure.node_growth.growth_events import GrowingGraphs
from dignn.structure.node_growth.growth_network import GrowthNetwork
from dignn.structure.node_growth.growth_orders import Actions
from dignn.structure.node_growth.growth_plan import Plan
from dignn.structure.node_growth.growth_planarity import Drawings
from dignn.structure.vocabulary import UNBOUNDED, Vocabulary

# Graphs that grow together, with random numbers of their own: the result does not depend on how many cores there are.
_CHUNK = 384
# Each further look at a graph that is not as planned is cooler than the one before.
_COOLER = 0.87
# Graphs are not looked at further once a look has mended a smaller share than this of those it grew again.
_MENDED = 0.05
# A guide is asked from this share of the nodes on, at every second node.
_GUIDED_FROM, _GUIDED_EVERY = 0.4, 2


@dataclass(frozen=True)
class Grower:
    """Everything that decides how graphs grow.

    Args:
        network: scores what comes next; graphs grow on its device.
        words: what nodes and edges are.
        actions: what can be decided.
        plan: what training graphs consist of.
        temperature: of every decision.
        looks: how often a graph that is not as planned, or known, is grown again.
        known: fingerprints of graphs that are not to be copied.
        planar: whether graphs are to be planar.
    """

    network: GrowthNetwork
    words: Vocabulary
    actions: Actions
    plan: Plan
    temperature: float
    looks: int = 0
    known: frozenset[str] = frozenset()
    planar: bool = False

    def sample(
        self, sizes: Sequence[int], seed: Seed, tick: Tick, guide: Guide | None = None
    ) -> tuple[GraphBatch, dict[str, Any]]:
        """Grows one graph for each size.

        A graph in which nodes do not play the part that their tokens say, or that lacks edges, is grown again by the
        same plan, and of all attempts the one with the fewest such faults is kept. An exact network makes none, so
        what it generates is not changed by this. So is a copy of a known graph. A guide's graphs are not grown again.

        Returns the graphs, and how many of them lack edges that their plan asked for (``short_of_edges``) or had to
        give an edge to a node that was complete, because nothing else could take what was still to come (``reopened``);
        and how many were not as planned, or copies, at first (``unlike_plan_at_first``, ``copies_at_first``) and in the
        end (``unlike_plan``, ``copies``).
        """
        if not len(sizes):
            return self.words.no_graphs(), {"graphs": 0}
        drawn = self.plan.draw(sizes, seed.child("plan").torch())
        grown = _Grown.blank(len(sizes), int(drawn.tokens.sum(1).max()))
        together = Together(tick, len(sizes))
        workers = None if guide is None else 1  # a model to explain need not be made for threads
        at_first: dict[str, int] = {}
        for look in range(1 + (self.looks if guide is None else 0)):
            faulty = grown.faulty()
            pieces = faulty.split(_CHUNK)
            source = seed.child("look", look) if look else seed
            cooler = _COOLER**look

            def one(index: Tensor, source: Seed = source, cooler: float = cooler) -> _Growing:
                growing = _Growing(self, drawn, index, source.child(int(index[0])).torch(), cooler)
                with torch.no_grad():
                    growing.run(guide)
                return growing

            for growing in map_threads(one, pieces, workers) if len(pieces[0]) else ():
                together.add(grown.take(growing))
            at_first = at_first or {f"{name}_at_first": number for name, number in grown.counts().items()}
            if len(faulty) - len(grown.faulty()) < _MENDED * len(faulty) and look:
                break
        together.add(len(grown.faulty()))
        return self.words.decode(grown.nodes, grown.edges, grown.label), {
            "graphs": len(sizes),
            "short_of_edges": int((grown.short > 0).sum()),
            "reopened": int(grown.reopened.sum()),
            **at_first,
            **grown.counts(),
        }


@dataclass(frozen=True)
class _Grown:
    """The best attempt at each graph so far.

    Args:
        nodes: (G, N), edges: (G, N, N) tokens.
        label: (G,) class of the graph.
        short: (G,) edges that found no place.
        reopened: (G,) whether a complete node took an edge.
        copied: (G,) whether it is a copy of a known graph.
        faults: (G,) nodes and edges that are not as planned, and one for a copy.
    """

    nodes: Tensor
    edges: Tensor
    label: Tensor
    short: Tensor
    reopened: Tensor
    copied: Tensor
    faults: Tensor

    @classmethod
    def blank(cls, count: int, size: int) -> _Grown:
        """No attempt at any graph."""
        nodes, edges = torch.full((count, size), -1), torch.zeros(count, size, size, dtype=torch.long)
        number = torch.zeros(count, dtype=torch.long)
        return cls(
            nodes, edges, number.clone(), number, number.bool(), number.bool(), torch.full_like(number, UNBOUNDED)
        )

    def faulty(self) -> Tensor:
        """Numbers of the graphs that are not as planned, or copies."""
        return self.faults.nonzero()[:, 0]

    def counts(self) -> dict[str, int]:
        """How many graphs are not as planned, and how many are copies."""
        return {
            "unlike_plan": int((self.faults > self.copied.long()).sum()),
            "copies": int(self.copied.sum()),
        }

    def take(self, growing: _Growing) -> int:
        """Keeps what is better than before; returns how many graphs are without fault now."""
        nodes, edges, extra = (part.long().cpu() for part in (growing.nodes, growing.live.edges, growing.extra))
        copied = growing.copied()
        faults = growing.words.misfits(nodes, edges) + extra + copied
        better = faults < self.faults[growing.index]
        here, size = growing.index[better], nodes.size(1)
        self.nodes[here, :size], self.edges[here, :size, :size] = nodes[better], edges[better]
        self.short[here], self.faults[here], self.copied[here] = extra[better], faults[better], copied[better]
        self.label[here], self.reopened[here] = growing.label.cpu()[better], growing.reopened.cpu()[better]
        return int((faults == 0).sum())


class _Growing:
    """Graphs of one chunk while they grow. All graphs with nodes to come have the same current size."""

    def __init__(
        self, grower: Grower, drawn: Plan, index: Tensor, generator: torch.Generator, cooler: float = 1.0
    ) -> None:
        self.network, self.words, self.known = grower.network, grower.words, grower.known
        device = model_device(self.network)
        self.actions = moved(grower.actions, device)
        self.temperature, self.generator = grower.temperature * cooler, generator
        self.index = index  # which of the requested graphs these are
        given = drawn.tokens[index], drawn.extra[index], drawn.label[index]
        self.remaining, self.extra, self.label = moved(given, device)
        self.sizes = self.remaining.sum(1)
        most = int(self.sizes.max())
        self.nodes = torch.full((len(index), most), -1, device=device)
        self.code = torch.zeros(len(index), dtype=torch.long, device=device)  # the last event
        self.live = GrowingGraphs.start(len(index), most, device)
        self.memory = self.network.blank(len(index), most)
        self.liked = torch.zeros(len(index))
        self.reopened = torch.zeros(len(index), dtype=torch.bool, device=device)
        self.drawings = Drawings(len(index), most) if grower.planar else None
        self.barred = torch.zeros(len(index), most, dtype=torch.bool, device=device)  # joining it would cross edges

    def copied(self) -> Tensor:
        """(B,) which graphs are copies of known ones."""
        if not self.known:
            return torch.zeros(len(self.index), dtype=torch.bool)
        graphs = self.words.decode(self.nodes, self.live.edges.long(), self.label)
        return torch.tensor([name in self.known for name in fingerprints(graphs)])

    def run(self, guide: Guide | None) -> None:
        first = draw(self.remaining.float(), self.generator)[:, None]
        self.nodes[:, :1], self.code = first, first[:, 0]
        self.remaining = self.remaining.scatter_add(1, first, torch.full_like(first, -1))
        for newest in range(self.nodes.size(1)):
            active = (self.sizes > newest).nonzero()[:, 0]
            self.barred[:] = False
            while len(active):
                active = active[self._decide(active, newest)]
            if guide is not None and newest + 2 < self.nodes.size(1) and newest % _GUIDED_EVERY == 0:
                self._follow(guide, newest + 2)
        if self.drawings is not None:
            self._complete(self.drawings)

    def _decide(self, active: Tensor, newest: int) -> Tensor:
        """One event for each active graph; returns which of them stay: they joined, or may not, and may join again."""
        decision = self._decision(active, newest)
        options = decision.options(self.actions)
        keep = _among(options.graph, len(active))
        stuck = ~keep & (self.remaining[active].sum(1) > 0)
        if bool(stuck.any()):  # what is to come fits complete nodes only: they take one more edge
            options = decision.reopened(stuck).options(self.actions)
            self.reopened[active[stuck]] = True
            keep = _among(options.graph, len(active))
        if not bool(keep.any()):  # a graph is finished when it is complete or its edges find no place
            return keep
        kept = [part[active] for part in self.memory]
        logits = self.network.step(self.code[active], decision, self.label[active], kept, newest, options)
        for part, values in zip(self.memory, kept, strict=True):
            part[active, newest] = values[:, newest]
        logits = options.dense(logits).flatten(1)[keep]
        choice = draw((logits / self.temperature).softmax(1), self.generator)
        node, action = choice // self.actions.count, choice % self.actions.count
        graph, joins = active[keep], action >= self.actions.attaches
        keep[keep.nonzero()[:, 0][~joins]] = False
        if self.drawings is not None:
            fine = ~self._crossing(self.drawings, graph, node, newest, joins)
            graph, node, action, joins = (part[fine] for part in (graph, node, action, joins))
            if not len(graph):
                return keep
        self.code[graph] = self.words.node_count + action
        self.extra[graph] -= joins.long()
        edge = action - self.actions.attaches + 1
        edge[~joins] = self.actions.attach_edge[action[~joins]]
        self.live.add(graph, node, newest + (~joins).long(), edge, self.words, ~joins)
        grown, token = graph[~joins], self.actions.attach_token[action[~joins]]
        if len(grown):
            self.nodes[grown, newest + 1] = token
            self.remaining[grown, token] -= 1
        return keep

    def _crossing(self, drawings: Drawings, graph: Tensor, node: Tensor, newest: int, joins: Tensor) -> Tensor:
        """(b,) where joining the newest node to this one would cross other edges; it is not proposed again."""
        found, new = joins.clone(), torch.full_like(node, newest)
        found[joins] = drawings.refused(graph[joins], node[joins], new[joins])
        drawings.attach(graph[~joins], node[~joins], new[~joins] + 1)
        self.barred[graph[found], node[found]] = True
        return found

    def _complete(self, drawings: Drawings) -> None:
        """Puts edges that were refused where they cross nothing, as far as types leave one way to join two nodes."""
        size = self.nodes.size(1)
        order = torch.rand(len(self.nodes), size, size, generator=self.generator)
        ways, most = self.words.allowed[:, :, 1:], self.words.most_edges.tolist()
        for number in (self.extra > 0).nonzero()[:, 0].tolist():
            nodes = self.nodes[number, : int(self.sizes[number])].cpu()
            own = ways[nodes[:, None], nodes[None, :]]
            room = [most[token] for token in nodes.tolist()]
            missing, one = int(self.extra[number]), own.sum(2) == 1
            drawn = torch.tensor(drawings.complete(number, missing, one, room, order[number]), dtype=torch.long)
            u, v = drawn.view(-1, 2).unbind(1)
            token = 1 + own[u, v].long().argmax(1)
            self.live.edges[number, u, v] = token.to(self.live.edges)
            self.live.edges[number, v, u] = self.words.mirror[token].to(self.live.edges)
            self.extra[number] -= len(drawn)

    def _decision(self, active: Tensor, newest: int) -> DecisionPoint:
        size = newest + 1
        tokens = self.nodes[active, :size]
        relative = self.live.seen(active, torch.full_like(active, newest), size)
        return DecisionPoint(
            tokens=tokens[:, None],
            visible=torch.ones_like(tokens, dtype=torch.bool)[:, None],
            relative=relative.map(lambda seen: seen[:, None]),
            remaining=self.remaining[active][:, None],
            extra=self.extra[active][:, None],
            barred=self.barred[active, None, :size] if self.drawings is not None else None,
        )

    def _follow(self, guide: Guide, size: int) -> None:
        """Resamples graphs of each group by how much more the guide likes them now."""
        here = ((self.sizes > size) & (size >= _GUIDED_FROM * self.sizes)).nonzero()[:, 0].cpu()  # as the guide is
        if not len(here):
            return
        edges = self.live.edges[here, :size, :size].long()
        graphs = self.words.decode(self.nodes[here, :size], edges, self.label[here])
        liked = guide.log_weight(graphs, self.index[here])
        chosen = here[resample(liked - self.liked[here], guide.group[self.index[here]], self.generator)]
        self.liked[here] = liked
        state = [self.nodes, self.code, self.remaining, self.extra, self.label, self.liked, self.reopened]
        state += self.memory
        for values in [*state, self.live.distance, self.live.edges, self.live.closed]:
            values[here] = values[chosen].clone()
        if self.drawings is not None:
            self.drawings.keep(here, chosen)


def _among(graph: Tensor, count: int) -> Tensor:
    """(count,) which numbers are among those given."""
    found = torch.zeros(count, dtype=torch.bool, device=graph.device)
    found[graph] = True
    return found
