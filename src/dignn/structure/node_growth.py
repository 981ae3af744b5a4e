"""Structure by node growth: absorbing diffusion over nodes.

The forward process removes one node at a time; the reverse process makes one decision at a time (autoregressive
diffusion; Hoogeboom et al. 2022, for graphs Kong et al. 2023). What is grown is connected and consistent with the
metagraph at every moment, so nothing has to be drawn again or thrown away.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
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
from dignn.structure.growth_network import GrowthNetwork
from dignn.structure.growth_orders import Actions, Grown, grow, state_at
from dignn.structure.growth_sampling import Plan, sample_growth
from dignn.structure.vocabulary import Vocabulary
from dignn.validity import connected

log = logging.getLogger(__name__)

# One training graph in this many is kept for the validation loss, if that leaves as many to learn from.
_VALIDATION = 10
# Decisions that the validation loss looks at, at most.
_VALIDATION_DECISIONS = 4000


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
        decisions = Decisions(nodes[learning], edges[learning], graphs.graph_label[learning], seed.child("orders"))
        if not decisions.any:  # single nodes: there is nothing to decide
            return graphs
        batches = decisions.batches(self.config.nodes_per_batch)
        report = train(
            self._network,
            lambda step: [lambda: self._loss(*next(batches))],
            self._validate(nodes[validation], edges[validation], graphs.graph_label[validation], seed),
            self.config.training,
            steps=self.config.training.steps_for(decisions.count, decisions.per_batch(self.config.nodes_per_batch)),
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

    def _loss(self, grown: Grown, decisions: Tensor) -> Tensor:
        """Mean cross-entropy of decisions that have one newest node."""
        state, target = state_at(grown, decisions, self._words, self._actions)
        logits = self._network(state).masked_fill(~state.admissible(self._actions), -torch.inf)
        log_probability = logits.flatten(1).log_softmax(1)
        target = target.flatten(1)
        return -(target * log_probability.where(target > 0, 0.0)).sum() / len(target)

    def _validate(self, nodes: Tensor, edges: Tensor, label: Tensor, seed: Seed) -> Callable[[], float] | None:
        if not len(nodes):
            return None
        held = Decisions(nodes, edges, label, seed.child("validation orders"))
        if not held.any:
            return None
        batches = held.all(_VALIDATION_DECISIONS)

        def loss() -> float:
            total = sum(float(self._loss(grown, decisions)) * len(decisions) for grown, decisions in batches)
            return total / sum(len(decisions) for _, decisions in batches)

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
        self._words = replace(Vocabulary.from_json(settings["vocabulary"]), schema=schema)
        self._plan = Plan.from_tensors(tensors)
        self._build(schema, Seed(0))
        weights = {
            name.removeprefix("network."): value for name, value in tensors.items() if name.startswith("network.")
        }
        self._network.load_state_dict(weights)
        self._network.eval()


@dataclass
class Decisions:
    """All decisions of random growths of some graphs, drawn anew whenever they have been used up.

    Args:
        nodes, edges, label: tokens and classes of the graphs.
        seed: of the growths.
    """

    nodes: Tensor
    edges: Tensor
    label: Tensor
    seed: Seed

    def __post_init__(self) -> None:
        self.count = int(((self.edges > 0).sum((1, 2)) // 2).sum())

    @property
    def any(self) -> bool:
        return self.count > 0

    def per_batch(self, nodes_per_batch: int) -> int:
        """Decisions in a batch, about: states have half the nodes of a graph on average."""
        half = float((self.nodes >= 0).sum(1).float().mean()) / 2
        return max(1, round(nodes_per_batch / half))

    def batches(self, nodes_per_batch: int) -> Iterator[tuple[Grown, Tensor]]:
        """Without end: batches of decisions with one current size, as many as make ``nodes_per_batch`` nodes."""
        round_number = 0
        while True:
            seed = self.seed.child(round_number)
            grown = grow(self.nodes, self.edges, self.label, seed.child("growth").torch())
            generator = seed.child("order").torch()
            pieces: list[Tensor] = []
            for decisions in _by_newest(grown.decisions()):
                mixed = decisions[torch.randperm(len(decisions), generator=generator)]
                pieces += mixed.split(max(1, nodes_per_batch // (int(mixed[0, 1]) + 1)))
            for number in torch.randperm(len(pieces), generator=generator).tolist():
                yield grown, pieces[number]
            round_number += 1

    def all(self, most: int) -> list[tuple[Grown, Tensor]]:
        """At most ``most`` decisions of one growth of every graph, by current size."""
        grown = grow(self.nodes, self.edges, self.label, self.seed.child("growth").torch())
        decisions = grown.decisions()
        chosen = torch.randperm(len(decisions), generator=self.seed.child("choice").torch())[:most].sort().values
        return [(grown, some) for some in _by_newest(decisions[chosen])]


def _by_newest(decisions: Tensor) -> list[Tensor]:
    return [decisions[decisions[:, 1] == newest] for newest in decisions[:, 1].unique().tolist()]


def _divide(count: int, seed: Seed) -> tuple[Tensor, Tensor]:
    """Numbers of graphs to learn from and to validate with; none of the latter where there are few."""
    order = torch.randperm(count, generator=seed.torch())
    kept = count // _VALIDATION if count >= 2 * _VALIDATION else 0
    return order[kept:], order[:kept]
