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
from dignn.structure.base import Guide
from dignn.structure.node_growth.growth_events import DecisionPoint, GrowingGraphs
from dignn.structure.node_growth.growth_network import GrowthNetwork
from dignn.structure.node_growth.growth_orders import Actions
from dignn.structure.vocabulary import Vocabulary

# Graphs that grow together, with random numbers of their own: the result does not depend on how many cores there are.
_CHUNK = 384
# A guide is asked from this share of the nodes on, at every second node.
_GUIDED_FROM, _GUIDED_EVERY = 0.4, 2


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


@dataclass(frozen=True)
class Grower:
    """Everything that decides how graphs grow.

    Args:
        network: scores what comes next; graphs grow on its device.
        words: what nodes and edges are.
        actions: what can be decided.
        plan: what training graphs consist of.
        temperature: of every decision.
    """

    network: GrowthNetwork
    words: Vocabulary
    actions: Actions
    plan: Plan
    temperature: float

    def sample(
        self, sizes: Sequence[int], seed: Seed, tick: Tick, guide: Guide | None = None
    ) -> tuple[GraphBatch, dict[str, Any]]:
        """Grows one graph for each size.

        Returns the graphs, and how many of them lack edges that their plan asked for (``short_of_edges``) or had to
        give an edge to a node that was complete, because nothing else could take what was still to come (``reopened``).
        """
        if not len(sizes):
            return self.words.no_graphs(), {"graphs": 0}
        drawn = self.plan.draw(sizes, seed.child("plan").torch())
        together = Together(tick, len(sizes))

        def one(index: Tensor) -> _Growing:
            growing = _Growing(self, drawn, index, seed.child(int(index[0])).torch())
            with torch.no_grad():
                growing.run(guide)
            together.add(len(index))
            return growing

        workers = None if guide is None else 1  # a model to explain need not be made for threads
        grown = map_threads(one, torch.arange(len(sizes)).split(_CHUNK), workers)
        graphs = [self.words.decode(growing.nodes, growing.live.edges.long(), growing.label) for growing in grown]
        return GraphBatch.cat(graphs), {
            "graphs": len(sizes),
            "short_of_edges": sum(int((growing.extra > 0).sum()) for growing in grown),
            "reopened": sum(int(growing.reopened.sum()) for growing in grown),
        }


class _Growing:
    """Graphs of one chunk while they grow. All graphs with nodes to come have the same current size."""

    def __init__(self, grower: Grower, drawn: Plan, index: Tensor, generator: torch.Generator) -> None:
        self.network, self.words = grower.network, grower.words
        device = model_device(self.network)
        self.actions = moved(grower.actions, device)
        self.temperature, self.generator = grower.temperature, generator
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

    def run(self, guide: Guide | None) -> None:
        first = draw(self.remaining.float(), self.generator)[:, None]
        self.nodes[:, :1], self.code = first, first[:, 0]
        self.remaining = self.remaining.scatter_add(1, first, torch.full_like(first, -1))
        for newest in range(self.nodes.size(1)):
            active = (self.sizes > newest).nonzero()[:, 0]
            while len(active):
                active = active[self._decide(active, newest)]
            if guide is not None and newest + 2 < self.nodes.size(1) and newest % _GUIDED_EVERY == 0:
                self._follow(guide, newest + 2)

    def _decide(self, active: Tensor, newest: int) -> Tensor:
        """One event for each active graph; returns which of them stay: they joined, and may join again."""
        decision = self._decision(active, newest)
        kept = [part[active] for part in self.memory]
        logits = self.network.step(self.code[active], decision, self.label[active], kept, newest)
        for part, values in zip(self.memory, kept, strict=True):
            part[active, newest] = values[:, newest]
        admissible = decision.admissible(self.actions)[:, 0].flatten(1)
        stuck = ~admissible.any(1) & (self.remaining[active].sum(1) > 0)
        if bool(stuck.any()):  # what is to come fits complete nodes only: they take one more edge
            admissible[stuck] = decision.reopened().admissible(self.actions)[stuck, 0].flatten(1)
            self.reopened[active[stuck]] = True
        keep = admissible.any(1)  # a graph is finished when it is complete or its edges find no place
        if not bool(keep.any()):
            return keep
        logits = logits.flatten(1).masked_fill(~admissible, -torch.inf)[keep]
        choice = draw((logits / self.temperature).softmax(1), self.generator)
        node, action = choice // self.actions.count, choice % self.actions.count
        graph, joins = active[keep], action >= self.actions.attaches
        self.code[graph] = self.words.node_count + action
        self.extra[graph] -= joins.long()
        edge = action - self.actions.attaches + 1
        edge[~joins] = self.actions.attach_edge[action[~joins]]
        self.live.add(graph, node, newest + (~joins).long(), edge, self.words, ~joins)
        grown, token = graph[~joins], self.actions.attach_token[action[~joins]]
        if len(grown):
            self.nodes[grown, newest + 1] = token
            self.remaining[grown, token] -= 1
        keep[keep.nonzero()[:, 0][~joins]] = False
        return keep

    def _decision(self, active: Tensor, newest: int) -> DecisionPoint:
        size = newest + 1
        tokens = self.nodes[active, :size]
        relative = self.live.seen(active, torch.full_like(active, newest), size)
        itself = (torch.arange(size, device=active.device) == newest).expand(len(active), 1, -1)
        return DecisionPoint(
            tokens=tokens[:, None],
            newest=tokens[:, -1:],
            itself=itself,
            visible=torch.ones_like(itself),
            relative=relative.map(lambda seen: seen[:, None]),
            remaining=self.remaining[active][:, None],
            extra=self.extra[active][:, None],
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
