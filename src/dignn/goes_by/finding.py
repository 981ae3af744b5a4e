"""Finds what a model goes by, from graphs and what the model says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from dignn.core.checks import instance
from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.goes_by.agreement import balanced, fewest
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.rule_sets import Rules, find_rules
from dignn.goes_by.scorecards import FRONTIER, MOST_TERMS, Scorecards, scorecards
from dignn.goes_by.screening import joined_by, screened
from dignn.graphs.batch import GraphBatch, spread
from dignn.model.scores import Scores

# Places that are learned from and validated on, at most, and one graph in so many validates.
STUDIED_PLACES, _VALIDATION = 4500, 3
# Predicates of a rule that are tried, and by how much longer ones must agree better.
_RULE_LENGTHS, _AS_GOOD = (2, 4), 0.005


@dataclass(frozen=True)
class GoesBy:
    """What a model goes by.

    Args:
        frontier: scorecards with ever more terms for each class.
        chosen: place in the frontier of those to show: of those with no more than ``MOST_TERMS`` that do as well as the
            best on validation graphs, those with the fewest.
        rules: of each class.
        validated: for each of the frontier, the balanced agreement on validation graphs of those found without them.
    """

    frontier: tuple[Scorecards, ...]
    chosen: int
    rules: Rules
    validated: tuple[float, ...]

    @property
    def scorecards(self) -> Scorecards:
        """Those to show."""
        return self.frontier[self.chosen]

    def at(self, terms: int) -> Scorecards:
        """Those of the frontier with so many terms for each class, or the next fewer."""
        fitting = [each for number, each in zip(FRONTIER, self.frontier, strict=False) if number <= terms]
        return fitting[-1]


def find(batch: GraphBatch, scores: Scores, seed: Seed, *, most: int = STUDIED_PLACES) -> GoesBy:
    """What a model goes by on these graphs.

    How many terms scorecards get, and how long rules are, is chosen on one graph in three; then both are found again on
    all graphs.

    Args:
        batch: graphs with features, generated ones for example.
        scores: what the model says of them.
        seed: of the choice of validation graphs.
        most: places that are looked at, evenly spread.

    Raises:
        DignnError: there are too few places, or the model gives one class to all of them.
    """
    instance("scores", scores, Scores, "what the model says, as GNNAdapter.score gives it")
    scores = scores[torch.tensor(spread(len(scores), most), dtype=torch.long)]
    number = scores.logits.size(1)
    answers = scores.predicted.numpy()
    if len(np.unique(answers)) < 2:
        raise DignnError(
            f"The model gives the same class to all {len(answers)} places, so there is nothing it goes by; give graphs "
            "of several classes"
        )
    said = scores.probability.double().numpy()
    held = _drawn(scores.graph.numpy(), seed)
    validation = Places.of(batch, scores[torch.from_numpy(held)])
    known = screened(Places.of(batch, scores[torch.from_numpy(~held)]), answers[~held], number)
    cards = scorecards(known, answers[~held], said[~held], FRONTIER)
    given = [each.scores(validation).argmax(1) for each in cards]
    known = joined_by(known, _terms(cards), answers[~held], number)
    ruled = [
        balanced(answers[held], find_rules(known, answers[~held], number, length).predicted(validation), number)
        for length in _RULE_LENGTHS
    ]
    length = next(length for length, value in zip(_RULE_LENGTHS, ruled, strict=True) if value >= max(ruled) - _AS_GOOD)
    few = [each for terms, each in zip(FRONTIER, given, strict=True) if terms <= MOST_TERMS]
    known = screened(Places.of(batch, scores), answers, number)
    cards = scorecards(known, answers, said, FRONTIER)
    return GoesBy(
        frontier=tuple(cards),
        chosen=fewest(answers[held], few, scores.graph.numpy()[held], number),
        rules=find_rules(joined_by(known, _terms(cards), answers, number), answers, number, length),
        validated=tuple(balanced(answers[held], each, number) for each in given),
    )


def _terms(cards: Sequence[Scorecards]) -> list[Predicate]:
    """The predicates of scorecards that may be shown, each once; thresholds of theirs are better than those tried."""
    shown = [each for number, each in zip(FRONTIER, cards, strict=True) if number <= MOST_TERMS]
    return list(dict.fromkeys(term.predicate for each in shown for card in each.cards for term in card.terms))


def _drawn(graph: np.ndarray, seed: Seed) -> np.ndarray:
    """(m,) whether a place is in one of the graphs that validate."""
    different = np.unique(graph)
    order = seed.child("validation").numpy().permutation(different)
    return np.isin(graph, order[: max(1, len(different) // _VALIDATION)])
