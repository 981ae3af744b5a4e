"""GNNInterpreter (Wang and Shen, ICLR 2023): distributions of graphs, learned by the gradients of the model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dignn.core.files import load_learned, save_tensors
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

# File of a run folder: what was learned of a class.
DISTRIBUTIONS = "distributions-{}.safetensors"
_FORMAT = "dignn.GNNInterpreter.1"
# Draws of a step where not all steps can be paid for, so that there are more of them.
_FEW_DRAWS = 8
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
    - Beginning. Probabilities of edges, types and features begin at frequencies of real graphs, not at random ones.
    - Norms. Those of logits are means, of absolute values and of squares, and connectivity is a mean over pairs, so
      that their weights mean the same at all sizes.
    - Faint edges. Relaxed edges of a weight below 0.01 are left out of a draw.
    - Looks. Whether the most probable graph is sure of its class is seen after every fifth step, where the published
      method looks before each. The budget's weight then changes as five steps would change it, up to a hundred times
      the least. A distribution that is also within its budget is done, as published, each for itself.
    - Effort. 2,000 iterations of 32 draws are the published ones, for a few sizes. With a limit of graphs to score
      each class has one distribution, of one size and one list of types, and 8 draws before iterations become fewer.
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
        rest = budget - _TRIED
        if settings.asks(classes) > rest // 2:
            draws = min(settings.draws, _FEW_DRAWS)
            iterations = max(1, min(settings.iterations, (rest // (2 * classes) - 1) // (draws + 1)))
            settings = replace(settings, distributions=1, iterations=iterations, draws=draws)
        return super().within(settings, rest - settings.asks(classes), classes)

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
        reached = self._learned(distributions, class_index, seed.child("learning"))
        self._found[self.schema.classes[class_index]] = {"sizes": learned, **reached}
        return _drawn(distributions, _shared_out(sizes, learned), seed.child("draws"))

    def _learned(self, begun: Distributions, class_index: int, seed: Seed) -> dict[str, Any]:
        """What distributions reached that are learned now, or were before the run was stopped; they are changed."""

        def learn() -> dict[str, Any]:
            members = self.members[class_index].embedding
            centre = torch.from_numpy(members.mean(0)).float() if len(members) else torch.empty(0)
            return Learning(begun, self.adapter, class_index, centre, self.config).run(seed)

        def save(reached: dict[str, Any], path: Path) -> None:
            tensors = {name: parameter.detach() for name, parameter in begun.parameters.items()}
            save_tensors(path, tensors, {"format": _FORMAT, "metadata": json.dumps({"reached": reached})})

        def load(path: Path) -> dict[str, Any]:
            found: dict[str, Any] = {}

            def restore(tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
                begun.restore(tensors)
                found.update(about["reached"])

            load_learned(path, _FORMAT, restore)
            return found

        return self.run.artifact(DISTRIBUTIONS.format(class_index), learn, save, load)

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
