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
from dignn.goes_by.barred import Bars
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.rule_sets import Rules, find_rules
from dignn.goes_by.scorecards import FRONTIER, MOST_TERMS, Scorecards, scorecards
from dignn.goes_by.screening import Screened, exactly, joined_by, screened
from dignn.goes_by.studied_classes import StudiedClasses
from dignn.graphs.batch import GraphBatch, spread
from dignn.model.scores import Scores

# Places that are learned from and validated on, at most, and one graph in so many validates.
STUDIED_PLACES, _VALIDATION = 4500, 3
# Predicates of a rule that are tried, and by how much longer ones must agree better.
_RULE_LENGTHS, _AS_GOOD = (2, 4), 0.005
# Places of every class that are looked at, where there are so many; fewer where there are very many classes.
_OF_EACH = 30


@dataclass(frozen=True)
class GoesBy:
    """What a model goes by.

    Args:
        frontier: scorecards with ever more terms for each class.
        chosen: place in the frontier of those to show: of those with no more than ``MOST_TERMS`` that do as well as the
            best on validation graphs, those with the fewest.
        rules: of each class.
        validated: for each of the frontier, the balanced agreement on validation graphs of those found without them.
        studied: the classes that were looked at; others have a base alone and no rules.
    """

    frontier: tuple[Scorecards, ...]
    chosen: int
    rules: Rules
    validated: tuple[float, ...]
    studied: tuple[int, ...]

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
    all graphs. Of very many classes some are looked at (:mod:`dignn.goes_by.studied_classes`).

    Args:
        batch: graphs with features, generated ones for example.
        scores: what the model says of them.
        seed: of the choice of validation graphs.
        most: places that are looked at, evenly spread, but some of every class.

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
        studied: those that are looked at.
        places: the places that are looked at.
    """

    def __init__(self, batch: GraphBatch, scores: Scores, seed: Seed, *, most: int = STUDIED_PLACES) -> None:
        instance("scores", scores, Scores, "what the model says, as GNNAdapter.score gives it")
        self.batch = batch
        self.scores = scores = scores[torch.from_numpy(_looked_at(scores.predicted.numpy(), most))]
        self.classes, answers = scores.logits.size(1), scores.predicted.numpy()
        if len(np.unique(answers)) < 2:
            raise DignnError(
                f"The model gives the same class to all {len(answers)} places, so there is nothing it goes by; give "
                "graphs of several classes"
            )
        self.studied = StudiedClasses.of(answers, self.classes)
        self._answers = answers = self.studied.answers(answers)
        self._said = self.studied.said(scores.probability.double().numpy())
        number = self.studied.number
        self._held = held = _drawn(scores.graph.numpy(), seed)
        self._validation = Places.of(batch, scores[torch.from_numpy(held)])
        self._learned = screened(Places.of(batch, scores[torch.from_numpy(~held)]), answers[~held], number)
        self.places = Places.of(batch, scores)
        self._known = screened(self.places, answers, number)

    def cards(self, terms: int, bars: Bars | None = None) -> Scorecards:
        """Scorecards of so many terms for each class, from all graphs."""
        (found,) = scorecards(self._known, self._answers, self._said, (terms,), self.studied.bars(bars))
        return self.studied.cards(found)

    def rules(self, bars: Bars | None = None) -> Rules:
        """Rules of at most as many predicates as rules have, from all graphs."""
        marks = _marks(self._known, self.studied.bars(bars))
        return self.studied.rules(find_rules(self._known, self._answers, self.studied.number, barred=marks))

    def found(self, bars: Bars | None = None) -> GoesBy:
        """What the model goes by, without barred predicates."""
        answers, held, graph = self._answers, self._held, self.scores.graph.numpy()
        studied, number, bars = self.studied, self.studied.number, self.studied.bars(bars)
        cards, sets = self._on(self._learned, ~held, _RULE_LENGTHS, bars)
        given = [each.scores(self._validation).argmax(1) for each in cards]
        ruled = [balanced(answers[held], rules.predicted(self._validation), number) for rules in sets]
        good = max(ruled) - _AS_GOOD
        length = next(length for length, value in zip(_RULE_LENGTHS, ruled, strict=True) if value >= good)
        few = [each for terms, each in zip(FRONTIER, given, strict=True) if terms <= MOST_TERMS]
        cards, (rules,) = self._on(self._known, np.ones(len(answers), dtype=bool), (length,), bars)
        return GoesBy(
            frontier=tuple(map(studied.cards, cards)),
            chosen=fewest(answers[held], few, graph[held], number),
            rules=studied.rules(rules),
            validated=tuple(balanced(answers[held], each, number) for each in given),
            studied=tuple(studied.chosen.tolist()),
        )

    def _on(
        self, known: Screened, some: np.ndarray, lengths: Sequence[int], bars: Bars | None
    ) -> tuple[list[Scorecards], list[Rules]]:
        """Scorecards of every number of terms, and rules of every length, from some places and what is known of them.

        Where only some predicates may be used, these are all that is looked at, whatever else is known.
        """
        answers, number = self._answers[some], self.studied.number
        if bars is not None and bars.only is not None:
            known = exactly(known, [each for own in bars.only for each in own], answers, number)
        cards = scorecards(known, answers, self._said[some], FRONTIER, bars)
        known = joined_by(known, _terms(cards), answers, number)
        marks = _marks(known, bars)
        return cards, [find_rules(known, answers, number, length, marks) for length in lengths]


def _marks(known: Screened, bars: Bars | None) -> np.ndarray | None:
    return None if bars is None else bars.marks(known.predicates)


def _terms(cards: Sequence[Scorecards]) -> list[Predicate]:
    """The predicates of scorecards that may be shown, each once; thresholds of theirs are better than those tried."""
    shown = [each for number, each in zip(FRONTIER, cards, strict=True) if number <= MOST_TERMS]
    return list(dict.fromkeys(term.predicate for each in shown for card in each.cards for term in card.terms))


def _drawn(graph: np.ndarray, seed: Seed) -> np.ndarray:
    """(m,) whether a place is in one of the graphs that validate."""
    different = np.unique(graph)
    order = seed.child("validation").numpy().permutation(different)
    return np.isin(graph, order[: max(1, len(different) // _VALIDATION)])


def _looked_at(answers: np.ndarray, most: int) -> np.ndarray:
    """Numbers of at most so many places, ascending: evenly spread, but of every class that is there some.

    Args:
        answers: (m,) the classes of all places.
        most: places.
    """
    even = np.array(spread(len(answers), most), dtype=int)
    there, times = np.unique(answers, return_counts=True)
    least = np.minimum(times, max(1, min(_OF_EACH, most // (2 * max(1, len(there))))))
    seldom = (answers[even] == there[:, None]).sum(1) < least
    if not seldom.any():
        return even
    rare = [np.flatnonzero(answers == each) for each in there[seldom]]
    taken = np.concatenate([own[spread(len(own), few)] for own, few in zip(rare, least[seldom], strict=True)])
    taken = taken[spread(len(taken), most)]
    (others,) = np.nonzero(~np.isin(answers, there[seldom]))
    return np.sort(np.concatenate([taken, others[spread(len(others), most - len(taken))]]))
