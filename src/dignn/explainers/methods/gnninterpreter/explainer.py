"""GNNInterpreter (Wang and Shen, ICLR 2023): distributions of graphs, learned by the gradients of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.explainers.class_search import ClassSearch
from dignn.explainers.methods.gnninterpreter.distribution_learning import Learning, check_gradients
from dignn.explainers.methods.gnninterpreter.distributions import Distributions
from dignn.explainers.methods.gnninterpreter.settings import PRESETS, InterpreterSettings
from dignn.explainers.methods.gnninterpreter.slots import PairFrequencies, Slots
from dignn.explainers.registry import EXPLAINERS
from dignn.explainers.settings import RunSettings
from dignn.graphs.batch import GraphBatch, spread
from dignn.graphs.edge_tables import rows_in, table_in
from dignn.graphs.joining_up import joined_up

# Real rows of a type that are looked at, at most; and graphs that a model's gradients are tried on.
_LOOKED_AT, _TRIED = 1000, 4


@EXPLAINERS.register("gnninterpreter")
class GNNInterpreter(ClassSearch):
    """For each class, graphs drawn from distributions whose parameters climb the model's score of the class.

    A distribution has a Bernoulli for each pair of nodes and, by column, one for each entry of features. The objective
    is the class's raw score, nearness to the mean embedding of real members, and terms that keep graphs small and
    whole (:mod:`~dignn.explainers.methods.gnninterpreter.objective`), averaged over relaxed draws.

    Departures from the paper:

    - Types. Where the model sees a node's type as its one-hot features, types are relaxed as published. Elsewhere a
      type decides which layers and features a node has, and nothing lies between two of them: each distribution takes
      the types of a real graph in which the model sees the class. Either way only pairs that real graphs join may be
      joined.
    - Features, which the paper's data does not have beside types, are learned
      (:class:`~dignn.explainers.methods.gnninterpreter.feature_relaxation.FeatureRelaxation`); what edges carry is
      that of real ones, and so are relation and direction, where a pair may have several.
    - Nodes. Where nodes are classified, the objective is about the first, which is of the target's type.
    - Budget. As many edges as real graphs of the size have, in place of a number chosen by hand.
    - Connected graphs. Where a drawn graph falls apart, the most probable of the missing edges join its parts.
    - Looks. The budget's weight changes every fifth iteration, by what five would change it.
    - Effort. 200 iterations of 8 draws in place of 2,000 of up to 32 (the preset ``paper``), for a few sizes.
    """

    presets = PRESETS
    config: InterpreterSettings

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._found: dict[str, Any] = {}

    @classmethod
    def within(cls, settings: RunSettings, budget: int, classes: int) -> RunSettings:
        """Half of the budget for learning, where that does not pay for all: one distribution of each class."""
        assert isinstance(settings, InterpreterSettings)
        each = settings.draws + 1  # the most probable graph as well
        rest = budget - _TRIED
        if classes * settings.distributions * (settings.iterations * each + 1) > rest // 2:
            iterations = max(1, min(settings.iterations, (rest // (2 * classes) - 1) // each))
            settings = replace(settings, distributions=1, iterations=iterations)
        asked = classes * settings.distributions * (settings.iterations * each + 1)
        return super().within(settings, rest - asked, classes)

    def learn(self, train: GraphBatch) -> None:
        """Nothing is learned before classes are; a model without gradients is refused here."""
        check_gradients(self.adapter, train[spread(len(train), _TRIED)])

    @cached_property
    def _frequencies(self) -> PairFrequencies:
        return PairFrequencies.of(self.real.train)

    @cached_property
    def _real_rows(self) -> dict[str, Tensor]:
        """By node type and relation, some of the real rows that training graphs have."""
        found = {}
        for name in (*self.real.train.tables, *self.real.train.edge_tables):
            rows = rows_in(self.real.train, name)
            if len(rows):
                chosen = self.seed.child("rows", name).numpy().choice(rows.numpy(), min(len(rows), _LOOKED_AT), False)
                found[name] = table_in(self.real.train, name)[torch.from_numpy(chosen)]
        return found

    def search(self, class_index: int, sizes: Sequence[int], seed: Seed) -> GraphBatch:
        """Learns distributions of a few of the sizes, and draws graphs from them in turn."""
        learned = _learned_sizes(sizes, self.config.distributions)
        slots = Slots.like_real(
            learned, self.real.train, self.train_scores, class_index, self.config.budget, seed.child("slots")
        )
        distributions = Distributions(
            slots, self._frequencies, self._real_rows, seed.child("begin"), learned_types=self.schema.type_in_x
        )
        members = self.members[class_index].embedding
        centre = torch.from_numpy(members.mean(0)).float() if len(members) else torch.empty(0)
        reached = Learning(distributions, self.adapter, class_index, centre, self.config).run(seed.child("learning"))
        self._found[self.schema.classes[class_index]] = {
            "sizes": learned,
            "probability": [round(value, 4) for value in reached.tolist()],
            "expected_edges": [round(value, 2) for value in distributions.expected_edges.tolist()],
        }
        return _drawn(distributions, _shared_out(sizes, learned), seed.child("draws"))

    def findings(self) -> dict[str, Any]:
        return {"distributions": self._found}


@torch.no_grad()
def _drawn(distributions: Distributions, which: Tensor, seed: Seed) -> GraphBatch:
    """A connected graph of each of these distributions (B,)."""
    drawn = distributions.draw(which, None, seed.torch())
    token = drawn.token * joined_up(drawn.perturbed, distributions.slots.node_type.size(1))
    whole = distributions.with_edges(drawn.graphs.node_type, token, which)
    return GraphBatch(
        whole.schema,
        *(whole.node_type, whole.edge, whole.label, whole.graph_label, drawn.graphs.row),
        tables=drawn.graphs.tables,
        edge_row=whole.edge_row,
        edge_tables=whole.edge_tables,
    )


def _learned_sizes(sizes: Sequence[int], number: int) -> list[int]:
    """Sizes of so many distributions: all that are asked for in turn, or evenly chosen where they are more."""
    known = sorted(set(sizes))
    if len(known) > number:
        known = [known[place] for place in spread(len(known), number)]
    return [known[place % len(known)] for place in range(number)]


def _shared_out(sizes: Sequence[int], learned: Sequence[int]) -> Tensor:
    """(B,) for each size the number of a distribution of the nearest size; those of one size take turns."""
    known, turns, found = np.array(learned), dict.fromkeys(learned, 0), []
    for size in sizes:
        nearest = int(known[np.abs(known - size).argmin()])
        own = np.flatnonzero(known == nearest)
        found.append(int(own[turns[nearest] % len(own)]))
        turns[nearest] += 1
    return torch.tensor(found, dtype=torch.long)
