"""Structure by node growth: absorbing diffusion over nodes.

The forward process removes one node at a time; the reverse process makes one decision at a time (autoregressive
diffusion; Hoogeboom et al. 2022, for graphs Kong et al. 2023). What is grown is connected and consistent with the
metagraph at every moment, so nothing has to be drawn again or thrown away.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from dignn.batch import GraphBatch
from dignn.config import Config, NodeGrowthConfig
from dignn.diffusion.training import train
from dignn.errors import DignnError
from dignn.runtime.progress import Tick
from dignn.runtime.seeds import Seed
from dignn.schema import Schema
from dignn.structure.base import STRUCTURE_GENERATORS, Guide, StructureGenerator
from dignn.structure.growth_events import Events, events_of, moments_of, targets_of
from dignn.structure.growth_network import GrowthNetwork
from dignn.structure.growth_orders import Actions, grow
from dignn.structure.growth_sampling import Plan, sample_growth
from dignn.structure.vocabulary import Vocabulary
from dignn.validity import connected

log = logging.getLogger(__name__)

# One training graph in this many is kept for the validation loss, if that leaves as many to learn from.
_VALIDATION = 10


@STRUCTURE_GENERATORS.register("node-growth")
class NodeGrowth(StructureGenerator):
    """Grows graphs node by node: one model for all sizes.

    How many nodes of each token and how many edges a graph gets is drawn from the training graphs of its size; where
    they go is what the network learns. Training graphs that are not connected cannot be grown: they are left out, and
    the log says how many.
    """

    _words: Vocabulary
    _actions: Actions
    _network: GrowthNetwork
    _plan: Plan

    def __init__(self, config: NodeGrowthConfig | None = None) -> None:
        super().__init__()
        self.config = config if config is not None else NodeGrowthConfig()

    @classmethod
    def build(cls, config: Config) -> Self:
        return cls(config.node_growth)

    def _fit(self, graphs: GraphBatch, seed: Seed, tick: Tick) -> GraphBatch:
        whole = connected(graphs)
        if not bool(whole.any()):
            raise DignnError("No training graph is connected, and node growth needs that; choose 'edge-diffusion'")
        if not bool(whole.all()):
            log.warning("%d of %d training graphs are not connected and left out", int((~whole).sum()), len(whole))
        graphs = graphs[whole]
        self._words = Vocabulary.of(graphs)
        nodes, edges = self._words.encode(graphs)
        self._plan = Plan.of(nodes, edges, graphs.graph_label, self._words.node_count)
        self._build(graphs.schema, seed)
        learning, validation = _divide(len(graphs), seed.child("validation"))
        growths = Growths(nodes[learning], edges[learning], graphs.graph_label[learning], seed.child("orders"))
        if not bool((edges > 0).any()):  # single nodes: there is nothing to decide
            return graphs
        batches = growths.batches(self._words, self._actions, self.config.events_per_batch)
        per_batch = max(1, round(len(learning) * self.config.events_per_batch / growths.events))
        report = train(
            self._network,
            lambda step: [lambda: self._loss(next(batches))],
            self._validate(nodes[validation], edges[validation], graphs.graph_label[validation], seed),
            self.config.training,
            steps=self.config.training.steps_for(len(learning), per_batch),
            tick=tick,
        )
        self.report["training"] = {"all sizes": report.to_json()}
        return graphs

    def _build(self, schema: Schema, seed: Seed) -> None:
        """The network, with first weights."""
        self._actions = Actions.of(self._words)
        classes = schema.num_classes if schema.target is None else 0
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed.child("network").value)
            self._network = GrowthNetwork(
                self._words,
                self._actions,
                classes,
                width=self.config.width,
                layers=self.config.layers,
                heads=self.config.heads,
            )

    def _loss(self, events: Events) -> Tensor:
        """Mean cross-entropy of the next event."""
        moment = moments_of(events)
        logits = self._network(events.code, moment, events.label)
        target = targets_of(events, moment, self._actions).flatten(2)
        logits = logits.masked_fill(~moment.admissible(self._actions), -torch.inf).flatten(2)
        log_probability = logits.log_softmax(2).where(target > 0, 0.0)  # (B, S, S * actions)
        return -(target * log_probability).sum() / (events.length - 1).sum()

    def _validate(self, nodes: Tensor, edges: Tensor, label: Tensor, seed: Seed) -> Callable[[], float] | None:
        if not bool((edges > 0).any()):
            return None
        held = Growths(nodes, edges, label, seed.child("validation orders"))
        batches = list(held.once(self._words, self._actions, 0, self.config.events_per_batch))

        def loss() -> float:
            decisions = [int((events.length - 1).sum()) for events in batches]
            total = sum(float(self._loss(some)) * number for some, number in zip(batches, decisions, strict=True))
            return total / sum(decisions)

        return loss

    def _sample(self, sizes: list[int], seed: Seed, tick: Tick, guide: Guide | None) -> GraphBatch:
        graphs, report = sample_growth(
            self._network, self._words, self._actions, self._plan, sizes, self.config.temperature, seed, tick, guide
        )
        self.report["sampling"] = report
        return graphs

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        weights = {f"network.{name}": value for name, value in self._network.state_dict().items()}
        return weights | self._plan.tensors(), {"vocabulary": self._words.to_json()}

    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any], schema: Schema) -> None:
        self._words = Vocabulary.from_json(settings["vocabulary"], schema)
        self._plan = Plan.from_tensors(tensors)
        self._build(schema, Seed(0))
        weights = {
            name.removeprefix("network."): value for name, value in tensors.items() if name.startswith("network.")
        }
        self._network.load_state_dict(weights)
        self._network.eval()


@dataclass(frozen=True)
class Growths:
    """Random growths of some graphs, in batches of similar length, drawn anew for every pass.

    Args:
        nodes, edges, label: tokens and classes of the graphs.
        seed: of the growths.
    """

    nodes: Tensor
    edges: Tensor
    label: Tensor
    seed: Seed

    @property
    def events(self) -> int:
        """Events of one growth of every graph."""
        return len(self.nodes) + int((self.edges > 0).sum()) // 2

    def batches(self, words: Vocabulary, actions: Actions, events: int) -> Iterator[Events]:
        """Without end."""
        number = 0
        while True:
            yield from self.once(words, actions, number, events)
            number += 1

    def once(self, words: Vocabulary, actions: Actions, number: int, events: int) -> Iterator[Events]:
        """One pass: batches of about ``events`` events, in random order."""
        seed = self.seed.child(number)
        grown = grow(self.nodes, self.edges, self.label, seed.child("growth").torch())
        every = events_of(grown, words, actions)
        generator = seed.child("order").torch()
        mixed = torch.randperm(len(self.nodes), generator=generator)
        mixed = mixed[every.length[mixed].argsort(stable=True)]
        cut = (every.length[mixed].cumsum(0) / events).ceil().long().unique_consecutive(return_counts=True)[1]
        pieces = mixed.split(cut.tolist())
        for piece in torch.randperm(len(pieces), generator=generator).tolist():
            yield every[pieces[piece]]


def _divide(count: int, seed: Seed) -> tuple[Tensor, Tensor]:
    """Numbers of graphs to learn from and to validate with; none of the latter where there are few."""
    order = torch.randperm(count, generator=seed.torch())
    kept = count // _VALIDATION if count >= 2 * _VALIDATION else 0
    return order[kept:], order[:kept]
