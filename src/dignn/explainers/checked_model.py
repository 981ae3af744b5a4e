"""The model of a run: it answers about real graphs as it should, and it must stay the model that did."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from torch import Tensor

from dignn.core.errors import ModelMismatchError
from dignn.core.model_identity import ModelIdentity
from dignn.core.numerals import percent
from dignn.core.threads import single_thread
from dignn.evidence.label_order import below_guessing
from dignn.explainers.model_and_data import agreement
from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter
from dignn.model.calling import Forward
from dignn.model.lookups import refuse_lookups
from dignn.model.same_answers import OnDifference, compare_answers
from dignn.model.scores import Scores
from dignn.sampling.division import RealGraphs

log = logging.getLogger(__name__)

# What is told of a difference between answers that a user accepts.
ACCEPTED = ("on_difference", "difference")


class CheckedModel:
    """Asks the model about some of the data's own graphs, and remembers what it answers.

    Args:
        adapter: asks the model; knows how from now on.
        real: has the graphs.
        given: the model as the user has it, which may be a wrapper of the one that is asked.
        forward: how it is called, where its signature does not tell.
        on_difference: what happens where its answers on the user's own objects are others.

    Attributes:
        graphs: real graphs that it was asked about.
        difference: the sentence that says how they differ, where they do and that was accepted.
        identity: what a run folder notes of the model.

    Raises:
        ModelMismatchError: model and data do not fit each other.
    """

    def __init__(
        self, adapter: GNNAdapter, real: RealGraphs, given: Any, forward: Forward | None, on_difference: OnDifference
    ) -> None:
        self._adapter, self._real, self._on_difference = adapter, real, on_difference
        self.graphs, own = real.compared()
        with single_thread():
            self.difference: str | None = compare_answers(adapter, self.graphs, own, on_difference)
            adapter.check(self.graphs)
            refuse_lookups(adapter, self.graphs)
        scores = self._asked(self.graphs)
        _warn_of_labels(scores, self.graphs)
        self.identity = ModelIdentity(
            adapter.model, forward, adapter.return_type, scores.logits, given=given, earlier=self._earlier_answers
        )
        self._noted = self.identity.noted()

    def accepted(self) -> dict[str, str]:
        """What is told under :data:`ACCEPTED`: that differences may be, and which there is."""
        may_be = None if self._on_difference == "refuse" else self._on_difference
        found = zip(ACCEPTED, (may_be, self.difference), strict=True)
        return {name: told for name, told in found if told is not None}

    def refuse_changed(self) -> None:
        """Raises where the model has other weights by now, or answers otherwise."""
        now = replace(self.identity, answers=self._asked(self.graphs).logits)
        if any(differs(self._noted[key]) is not None for key, differs in now.differs().items()):
            raise ModelMismatchError("The model was changed since it was checked; make a new explainer of it")

    def _asked(self, graphs: GraphBatch) -> Scores:
        with single_thread():
            return self._adapter.score(graphs, counted=False)

    def _earlier_answers(self) -> Tensor:
        """To the few graphs that earlier versions asked about; only their folders are compared by them."""
        return self._asked(self._real.trial()).logits


def _warn_of_labels(scores: Scores, graphs: GraphBatch) -> None:
    found = agreement(scores, graphs)
    classes, count = graphs.schema.num_classes, found["count"]
    doubt = None if found["share"] is None else below_guessing(found["share"], classes, count)
    if doubt is not None:
        log.warning(
            "The model gives %s of %d labelled %s their label, %s",
            *(percent(found["share"]), count, graphs.schema.task.things, doubt),
        )
