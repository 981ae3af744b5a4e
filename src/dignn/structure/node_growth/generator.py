"""Structure by node growth: absorbing diffusion over nodes.

The forward process removes one node at a time; the reverse process makes one decision at a time (autoregressive
diffusion; Hoogeboom et al. 2022, for graphs Kong et al. 2023). What is grown is connected and consistent with the
metagraph at every moment, so nothing has to be drawn again or thrown away.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

from dignn.core.devices import at_work, model_device, moved
from dignn.core.errors import DignnError
from dignn.core.files import put_under, under
from dignn.core.progress import Tick
from dignn.core.seeds import Seed
from dignn.diffusion.training import train
from dignn.graphs.batch import GraphBatch
from dignn.graphs.isomorphism import fingerprints
from dignn.graphs.schema import Schema
from dignn.graphs.validity import connected
from dignn.structure.base import Guide, StructureGenerator
from dignn.structure.node_growth.growth_decisions import decisions_of, targets_of
from dignn.structure.node_growth.growth_events import Events, events_of
from dignn.structure.node_growth.growth_network import GrowthNetwork
from dignn.structure.node_growth.growth_orders import Actions, grow
from dignn.structure.node_growth.growth_plan import Plan
from dignn.structure.node_growth.growth_planarity import all_planar
from dignn.structure.node_growth.growth_sampling import Grower
from dignn.structure.node_growth.growth_words import FEW, GrowthWords
from dignn.structure.node_growth.growth_work import Work
from dignn.structure.registry import STRUCTURE_GENERATORS
from dignn.structure.settings import NodeGrowthConfig

log = logging.getLogger(__name__)

# Growths that batches are cut from, at least: few graphs are grown several times, in learning and for validation.
_AT_ONCE, _VALIDATED = 1500, 150
# Batches of which growths are made together.
_TOGETHER = 12
# Events that the validation loss is taken over, at most, where graphs are so many.
_VALIDATION_EVENTS = 6000
# Nodes of all events that are kept at once, at most.
_CELLS = 4_000_000
# One training graph in this many is kept for the validation loss, if that leaves as many to learn from.
_VALIDATION = 10


@STRUCTURE_GENERATORS.register("node-growth")
class NodeGrowth(StructureGenerator):
    """Grows graphs node by node: one model for all sizes.

    How many nodes of each token and how many edges a graph gets is drawn from the training graphs of its size; where
    they go is what the network learns. Training graphs that are not connected cannot be grown: they are left out, and
    the log says how many.
    """

    config: NodeGrowthConfig
    _words: GrowthWords
    _actions: Actions
    _network: GrowthNetwork
    _plan: Plan
    _known: frozenset[str]
    _planar: bool

    def _fit(self, graphs: GraphBatch, seed: Seed, tick: Tick) -> GraphBatch:
        whole = connected(graphs)
        if not bool(whole.any()):
            raise DignnError("No training graph is connected, and node growth needs that; choose 'edge-diffusion'")
        if not bool(whole.all()):
            log.warning("%d of %d training graphs are not connected and left out", int((~whole).sum()), len(whole))
        graphs = graphs[whole]
        learning, validation = _divide(len(graphs), seed.child("validation"))
        self._words = GrowthWords.fitting(graphs, learning, validation if self.config.roles else validation[:0])
        nodes, edges = self._words.encode(graphs)
        few = self.config.new and len(graphs) < FEW
        self._known = frozenset(fingerprints(graphs)) if few else frozenset()
        self._planar = all_planar(edges > 0)
        self._plan = Plan.of(nodes, edges, graphs.graph_label, self._words.node_count)
        self._build(graphs.schema, seed)
        if not bool((edges > 0).any()):  # single nodes: there is nothing to decide
            return graphs
        some, orders = (nodes[learning], edges[learning], graphs.graph_label[learning]), seed.child("orders")
        batches = itertools.chain.from_iterable(self._batches(*some, orders.child(n)) for n in itertools.count())
        steps = self._steps(graphs[learning])
        validate = self._validate(nodes[validation], edges[validation], graphs.graph_label[validation], seed)
        with self._at_work():
            report = train(
                self._network,
                lambda step: [lambda: self._loss(next(batches))],
                validate,
                self.config.training,
                steps=steps,
                tick=tick,
            )
        self.report["training"] = {"all sizes": report.to_json()}
        return graphs

    def _at_work(self) -> AbstractContextManager[torch.device]:
        return at_work(self._network, self._network, self.config.events_per_batch, self.device)

    def _build(self, schema: Schema, seed: Seed) -> None:
        """The network, with first weights."""
        self._actions = Actions.of(self._words)
        size = {"width": self.config.width, "layers": self.config.layers, "heads": self.config.heads}
        with seed.child("network").torch_globally():
            self._network = GrowthNetwork(self._words, self._actions, schema.graph_classes, **size)

    def _steps(self, graphs: GraphBatch) -> int:
        """Gradient steps to learn from graphs."""
        events = len(graphs) + int(graphs.undirected.sum()) // 2
        training, batch = self.config.training, self.config.events_per_batch
        if training.epochs is not None:
            return training.steps_for(len(graphs), max(1, round(len(graphs) * batch / events)))
        work = Work.of(graphs, self._actions.count, batch)
        return min(training.steps, work.steps(self.config.effort, self.config.passes))

    def _batches(
        self, nodes: Tensor, edges: Tensor, label: Tensor, seed: Seed, at_once: int = _AT_ONCE
    ) -> Iterator[Events]:
        """Random growths of graphs with these tokens and classes, in batches of similar length and in random order.

        Growths are made ``at_once`` where there are fewer graphs, each graph several times, and in pieces where their
        events would take much memory.
        """
        length = 1 + (edges > 0).sum((1, 2)) // 2
        most = max(1, _CELLS // (nodes.size(1) * int(length.max())))
        times = max(1, min(-(-at_once // len(nodes)), most // len(nodes)))
        generator = seed.child("order").torch()
        several = torch.randperm(len(nodes) * times, generator=generator) % len(nodes)
        for number, some in enumerate(several.split(most)):
            source = seed.child("growth", number).torch()
            some = some[length[some].argsort(stable=True)]
            batch = (length[some].cumsum(0) / self.config.events_per_batch).ceil().long()
            pieces = some.split(batch.unique_consecutive(return_counts=True)[1].tolist())
            made = [
                events
                for start in range(0, len(pieces), _TOGETHER)
                for events in self._grown(nodes, edges, label, pieces[start : start + _TOGETHER], source)
            ]
            yield from (made[place] for place in torch.randperm(len(made), generator=generator).tolist())

    def _grown(
        self, nodes: Tensor, edges: Tensor, label: Tensor, pieces: Sequence[Tensor], source: torch.Generator
    ) -> Iterator[Events]:
        """A random growth of each graph of some batches of similar length: no short one waits for long ones."""
        every = torch.cat(list(pieces))
        size = int((nodes[every] >= 0).sum(1).max())
        grown = grow(nodes[every, :size], edges[every, :size, :size], label[every], source)
        events = events_of(grown, self._words, self._actions)
        for piece in torch.arange(len(every)).split([len(piece) for piece in pieces]):
            yield events[piece]

    def _loss(self, events: Events) -> Tensor:
        """Mean cross-entropy of the next event."""
        events, actions = moved((events, self._actions), model_device(self._network))
        decision, target = decisions_of(events), targets_of(events, actions)
        options = decision.options(actions, events.followed)
        logits = self._network(events.code, decision, events.label, options, events.last)
        found = logits[options.number(target.graph, target.step, target.item), target.action]
        return (options.log_total(logits).sum() - (target.weight * found).sum()) / (events.length - 1).sum().clamp_min(
            1
        )

    def _validate(self, nodes: Tensor, edges: Tensor, label: Tensor, seed: Seed) -> Callable[[], float] | None:
        events = len(nodes) + int((edges > 0).sum()) // 2
        few = slice(max(1, len(nodes) * _VALIDATION_EVENTS // max(1, events)))
        nodes, edges, label = nodes[few], edges[few], label[few]
        if not bool((edges > 0).any()):
            return None
        batches = list(self._batches(nodes, edges, label, seed.child("validation orders").child(0), _VALIDATED))

        def loss() -> float:
            decisions = [int((events.length - 1).sum()) for events in batches]
            total = sum(float(self._loss(some)) * number for some, number in zip(batches, decisions, strict=True))
            return total / sum(decisions)

        return loss

    def _sample(self, sizes: list[int], seed: Seed, tick: Tick, guide: Guide | None) -> GraphBatch:
        chosen = self.config.temperature, self.config.looks, self._known, self._planar
        grower = Grower(self._network, self._words, self._actions, self._plan, *chosen)
        with self._at_work():
            graphs, self.report["sampling"] = grower.sample(sizes, seed, tick, guide)
        return graphs

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        weights = put_under("network.", self._network.state_dict())
        return weights | put_under("plan.", vars(self._plan)), {
            "vocabulary": self._words.to_json(),
            "known": sorted(self._known),
            "planar": self._planar,
        }

    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any], schema: Schema) -> None:
        self._words = GrowthWords.from_json(settings["vocabulary"], schema)
        self._known, self._planar = frozenset(map(str, settings["known"])), bool(settings["planar"])
        self._plan = Plan(**under("plan.", tensors))
        self._build(schema, Seed(0))
        self._network.load_state_dict(under("network.", tensors))
        self._network.eval()


def _divide(count: int, seed: Seed) -> tuple[Tensor, Tensor]:
    """Numbers of graphs to learn from and to validate with; none of the latter where there are few."""
    order = torch.randperm(count, generator=seed.torch())
    kept = count // _VALIDATION if count >= 2 * _VALIDATION else 0
    return order[kept:], order[:kept]
