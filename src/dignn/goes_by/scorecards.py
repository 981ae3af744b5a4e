"""Scorecards: for each class a few readable terms with points, which are added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dignn.goes_by.barred import Bars
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate, truth
from dignn.goes_by.screening import Screened
from dignn.goes_by.sparse_fit import Fit, class_weights, fit_path
from dignn.goes_by.thresholds import Thresholds

# Terms of a scorecard at most, and numbers of terms for which fidelity is told.
MOST_TERMS = 12
FRONTIER = (1, 2, 3, 4, 6, 8, 10, 12, 16, 25, 36, 50)
# Points are rounded to so many digits.
_DIGITS = 2
# Candidates for the terms of a class, of all classes together, and of a class at least.
_CANDIDATES, _ALL_CANDIDATES, _FEWEST = 800, 16000, 20


@dataclass(frozen=True)
class Term:
    """A predicate, and the log-odds that it is worth where it is true."""

    predicate: Predicate
    points: float


@dataclass(frozen=True)
class Scorecard:
    """The score of a class: its base and the points of all terms that are true, added up.

    Args:
        base: what a place scores of which no term is true.
        terms: those worth most first.
    """

    base: float
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Scorecards:
    """One scorecard for each class. Whatever scores most is the class."""

    cards: tuple[Scorecard, ...]

    @property
    def terms(self) -> int:
        """How many terms a class has at most."""
        return max((len(card.terms) for card in self.cards), default=0)

    def scores(self, places: Places) -> np.ndarray:
        """(m, C)"""
        predicates = list(dict.fromkeys(term.predicate for card in self.cards for term in card.terms))
        number = {predicate: place for place, predicate in enumerate(predicates)}
        points = np.zeros((len(predicates), len(self.cards)))
        for place, card in enumerate(self.cards):
            for term in card.terms:
                points[number[term.predicate], place] += term.points
        return truth(places, predicates) @ points + np.array([card.base for card in self.cards])

    def probability(self, places: Places) -> np.ndarray:
        """(m, C) of each class: of several classes a softmax of scores; of two the second's logistic function."""
        return probability(self.scores(places))


def probability(scores: np.ndarray) -> np.ndarray:
    """(m, C) of scores (m, C)."""
    if scores.shape[1] == 2:
        scores = scores / 2  # they are each other's negative
    lifted = np.exp(scores - scores.max(1, keepdims=True))
    return lifted / lifted.sum(1, keepdims=True)


def scorecards(
    known: Screened, answers: np.ndarray, said: np.ndarray, numbers: Sequence[int], bars: Bars | None = None
) -> list[Scorecards]:
    """Scorecards with ever more terms, fitted to the answers of a model.

    Args:
        known: p predicates, and of which places they are true.
        answers: (m,) the classes that the model gives.
        said: (m, C) its probabilities.
        numbers: of terms for each class, ascending.
        bars: what may not be a term of a class, whatever its threshold was moved to; by default all may.
    """
    count = said.shape[1]
    most = max(_FEWEST, min(_CANDIDATES, _ALL_CANDIDATES // max(1, count)))
    worth = np.abs(known.tells)
    if bars is not None and known.predicates:
        worth = np.where(bars.marks(known.predicates), -1.0, worth)
    candidates = [order[each[order] >= 0] for each in worth for order in [np.argsort(-each, kind="stable")[:most]]]
    candidates = candidates or [np.empty(0, dtype=int)] * count
    thresholds = Thresholds(known.places, known.predicates)
    target, weight = fitted_to(answers, said), class_weights(answers, count)
    fits = fit_path(known.true, target, weight, candidates, numbers, thresholds, bars)
    return [Scorecards(tuple(_card(fit, place, thresholds.predicates) for place in range(count))) for fit in fits]


def fitted_to(answers: np.ndarray, said: np.ndarray) -> np.ndarray:
    """(m, C) the mean of answers, with which scores must agree, and probabilities, which say how sure they are."""
    return (np.eye(said.shape[1])[answers] + said) / 2


def _card(fit: Fit, place: int, predicates: Sequence[Predicate]) -> Scorecard:
    terms = [
        Term(predicates[number], rounded)
        for number, points in zip(fit.chosen[place], fit.points[place], strict=True)
        if (rounded := round(float(points), _DIGITS))  # no points are no term
    ]
    order = sorted(range(len(terms)), key=lambda each: -abs(terms[each].points))
    return Scorecard(round(float(fit.base[place]), _DIGITS), tuple(terms[each] for each in order))
