"""Finds what a model goes by, from graphs and what the model says of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from dignn.goes_by.screening import Screened, joined_by, screened
from dignn.graphs.batch import GraphBatch, spread
from dignn.model.scores import Scores

# Places that are learned from and validated on, at most, and one graph in so many validates.
STUDIED_PLACES, _VALIDATION = 4500, 3
# Predicates of a rule that are tried, and by how much longer ones must agree better.
_RULE_LENGTHS, _AS_GOOD = (2, 4), 0.005

Barred = Callable[[int, Predicate], bool]
"""(class, predicate) -> whether it may not be used for this class"""


def nothing(place: int, predicate: Predicate) -> bool:
    """Bars nothing."""
    return False


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
    return Finder(batch, scores, seed, most=most).found()


class Finder:
    """Finds what a model goes by, again and again, without what turned out not to matter.

    Args:
        batch, scores, seed, most: as :func:`find` takes them.

    Attributes:
        batch, scores: the graphs, and what the model says of the places that are looked at.
        classes: how many there are.
    """

    def __init__(self, batch: GraphBatch, scores: Scores, seed: Seed, *, most: int = STUDIED_PLACES) -> None:
        instance("scores", scores, Scores, "what the model says, as GNNAdapter.score gives it")
        self.batch = batch
        self.scores = scores = scores[torch.tensor(spread(len(scores), most), dtype=torch.long)]
        self.classes = number = scores.logits.size(1)
        self._answers = answers = scores.predicted.numpy()
        if len(np.unique(answers)) < 2:
            raise DignnError(
                f"The model gives the same class to all {len(answers)} places, so there is nothing it goes by; give "
                "graphs of several classes"
            )
        self._said = scores.probability.double().numpy()
        self._held = held = _drawn(scores.graph.numpy(), seed)
        self._validation = Places.of(batch, scores[torch.from_numpy(held)])
        self._learned = screened(Places.of(batch, scores[torch.from_numpy(~held)]), answers[~held], number)
        self._known = screened(Places.of(batch, scores), answers, number)

    def cards(self, terms: int, barred: Barred = nothing) -> Scorecards:
        """Scorecards of so many terms for each class, from all graphs."""
        marks = self._marks(self._known, barred)
        return scorecards(self._known, self._answers, self._said, (terms,), marks)[0]

    def rules(self, barred: Barred = nothing) -> Rules:
        """Rules of at most as many predicates as rules have, from all graphs."""
        return find_rules(self._known, self._answers, self.classes, barred=self._marks(self._known, barred))

    def found(self, barred: Barred = nothing, at_last: Barred | None = None) -> GoesBy:
        """What the model goes by, without barred predicates.

        Args:
            barred: says whether a predicate may not be used for a class.
            at_last: the same, of what is found on all graphs, whose thresholds are others; by default ``barred``.
        """
        answers, said, held, number = self._answers, self._said, self._held, self.classes
        known, own = self._learned, answers[~held]
        cards = scorecards(known, own, said[~held], FRONTIER, self._marks(known, barred))
        given = [each.scores(self._validation).argmax(1) for each in cards]
        known = joined_by(known, _terms(cards), own, number)
        marks = self._marks(known, barred)
        tried = (find_rules(known, own, number, length, marks) for length in _RULE_LENGTHS)
        ruled = [balanced(answers[held], rules.predicted(self._validation), number) for rules in tried]
        good = max(ruled) - _AS_GOOD
        length = next(length for length, value in zip(_RULE_LENGTHS, ruled, strict=True) if value >= good)
        few = [each for terms, each in zip(FRONTIER, given, strict=True) if terms <= MOST_TERMS]
        known, bars = self._known, at_last or barred
        cards = scorecards(known, answers, said, FRONTIER, self._marks(known, bars))
        known = joined_by(known, _terms(cards), answers, number)
        return GoesBy(
            frontier=tuple(cards),
            chosen=fewest(answers[held], few, self.scores.graph.numpy()[held], number),
            rules=find_rules(known, answers, number, length, self._marks(known, bars)),
            validated=tuple(balanced(answers[held], each, number) for each in given),
        )

    def _marks(self, known: Screened, barred: Barred) -> np.ndarray:
        """(C, p) which predicates are barred from each class; of two classes, whose cards are one, from both."""
        found = np.array(
            [[barred(place, predicate) for predicate in known.predicates] for place in range(self.classes)], dtype=bool
        ).reshape(self.classes, len(known.predicates))
        return np.broadcast_to(found.any(0), found.shape) if self.classes == 2 else found


def _terms(cards: Sequence[Scorecards]) -> list[Predicate]:
    """The predicates of scorecards that may be shown, each once; thresholds of theirs are better than those tried."""
    shown = [each for number, each in zip(FRONTIER, cards, strict=True) if number <= MOST_TERMS]
    return list(dict.fromkeys(term.predicate for each in shown for card in each.cards for term in card.terms))


def _drawn(graph: np.ndarray, seed: Seed) -> np.ndarray:
    """(m,) whether a place is in one of the graphs that validate."""
    different = np.unique(graph)
    order = seed.child("validation").numpy().permutation(different)
    return np.isin(graph, order[: max(1, len(different) // _VALIDATION)])
