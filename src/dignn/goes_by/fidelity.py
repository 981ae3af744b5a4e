"""Fidelity: how well scorecards and rules give a model's answers on graphs that they were not found on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dignn.core.checks import instance
from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.goes_by.agreement import Found, balanced_agreement, mean_auc, share, things_of
from dignn.goes_by.finding import GoesBy
from dignn.goes_by.places import Places
from dignn.goes_by.scorecards import probability
from dignn.graphs.batch import GraphBatch
from dignn.model.scores import Scores

# Numbers of terms that are told.
TOLD_TERMS = (3, 6, 12, 25, 50)


@dataclass(frozen=True)
class RuleFidelity:
    """How one rule does.

    Args:
        precision: share of the places where it holds that are of its class; None where it holds nowhere.
        recall: share of the places of its class where it holds; None where there is none.
        holds: at how many places.
    """

    precision: Found | None
    recall: Found | None
    holds: int


@dataclass(frozen=True)
class Fidelity:
    """How well what was found gives a model's answers.

    Args:
        places: on how many places of graphs.
        things: how many different nodes or graphs of the data these are.
        terms: of the scorecards that are shown.
        scorecard: their balanced agreement.
        auc: of their probabilities, mean over classes that were looked at.
        auc_by_class: of each class; None where it cannot be told.
        frontier: by number of terms, balanced agreement.
        rules: balanced agreement of the rules.
        by_rule: of each class, its rules.
        majority: balanced agreement of who always gives one class.
    """

    places: int
    things: int
    terms: int
    scorecard: Found
    auc: Found
    auc_by_class: tuple[float | None, ...]
    frontier: dict[int, Found]
    rules: Found
    by_rule: tuple[tuple[RuleFidelity, ...], ...]
    majority: float


def fidelity(found: GoesBy, batch: GraphBatch, scores: Scores, seed: Seed) -> Fidelity:
    """Tests what was found.

    Args:
        found: what the model is said to go by.
        batch: graphs that it was not found on, real ones that were held out for example.
        scores: what the model says of them.
        seed: of the draws for intervals.

    Raises:
        DignnError: there is nothing to test on, or the classes are others.
    """
    instance("found", found, GoesBy, "what find gave")
    number = scores.logits.size(1)
    if number != len(found.scorecards.cards):
        raise DignnError(
            f"There are {len(found.scorecards.cards)} scorecards and {number} classes; give scores of that model"
        )
    if not len(scores):
        raise DignnError("There is nothing to test on; give graphs with something that the model answers about")
    places, answers, thing = Places.of(batch, scores), scores.predicted.numpy(), things_of(batch, scores)
    draws = seed.child("fidelity")

    def agreement(given: np.ndarray) -> Found:
        return balanced_agreement(answers, given, thing, number, draws)

    own = found.scorecards.scores(places)
    auc, by_class = mean_auc(answers, probability(own), thing, draws, found.studied)
    return Fidelity(
        places=len(places),
        things=len(scores.identities(batch).unique()),
        terms=found.scorecards.terms,
        scorecard=agreement(own.argmax(1)),
        auc=auc,
        auc_by_class=tuple(by_class),
        frontier={terms: agreement(found.at(terms).scores(places).argmax(1)) for terms in TOLD_TERMS},
        rules=agreement(found.rules.predicted(places)),
        by_rule=tuple(
            tuple(_of_rule(here, answers == place, thing, draws) for here in held.T)
            for place, held in enumerate(found.rules.holds(places))
        ),
        majority=1.0 / len(np.unique(answers)),
    )


def _of_rule(here: np.ndarray, own: np.ndarray, thing: np.ndarray, seed: Seed) -> RuleFidelity:
    """How a rule does that holds ``here`` (m,), of a class that has its ``own`` places (m,)."""
    return RuleFidelity(share(own, here, thing, seed), share(here, own, thing, seed), int(here.sum()))
