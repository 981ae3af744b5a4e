"""Scorecards: points that come to nothing are no terms, and thresholds move to nothing that is barred."""

from __future__ import annotations

import numpy as np
import pytest

from dignn.core.seeds import Seed
from dignn.goes_by.barred import Bars
from dignn.goes_by.finding import Finder
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count
from dignn.goes_by.scorecards import Term, _card, fitted_to
from dignn.goes_by.screening import screened
from dignn.goes_by.sparse_fit import Fit, _State, class_weights
from dignn.goes_by.thresholds import Thresholds
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around
from goes_by.by_numbers import with_numbers

EVERY = [Predicate(Count(Around("author"), (Holds(column),))) for column in range(3)]


def test_a_term_has_points() -> None:
    chosen, points = np.array([2, 0, 1]), np.array([0.004, -0.006, 1.5])
    card = _card(Fit(3, [chosen], np.zeros(1), [points]), 0, EVERY)
    assert card.terms == (Term(EVERY[1], 1.5), Term(EVERY[0], -0.01))


def test_no_threshold_moves_to_what_is_barred() -> None:
    """All that was moved is barred; what is found then is no number that was not there before."""
    batch, scores, _ = with_numbers()
    finder = Finder(batch, scores, Seed(0))
    answers = scores.predicted.numpy()
    there = set(screened(finder.places, answers, 4).predicates)
    free = [term.predicate for card in finder.cards(12).cards for term in card.terms]
    moved = [each for each in free if each not in there]
    assert moved

    def barred(predicate: Predicate) -> bool:
        return predicate not in there

    bound = finder.cards(12, Bars(4, dict.fromkeys(range(4), barred)))
    assert {term.predicate for card in bound.cards for term in card.terms} <= there


def test_moved_thresholds_keep_probabilities_true_without_a_look_at_all_classes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch, scores, _ = with_numbers()
    places, answers = Places.of(batch, scores), scores.predicted.numpy()
    known = screened(places, answers, 4)
    target = fitted_to(answers, scores.probability.double().numpy())
    few = [np.arange(place, len(known.predicates), 12) for place in range(4)]  # of which none fits best
    state = _State(known.true, target, class_weights(answers, 4), few, fixed=False)
    thresholds, moved = Thresholds(places, known.predicates), 0
    for _ in range(6):
        state.add(1)
        state.fit(2)
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(_State, "_sum", lambda self: pytest.fail("all classes are summed up"))
            for place, own in enumerate(state._named):
                moved += sum(state._move(place, term, thresholds, None) for term in range(len(own)))
        lifted = np.exp(state._score)
        given = np.stack([state._probability(place) for place in range(4)], axis=1)
        assert np.allclose(given, lifted / lifted.sum(1, keepdims=True), atol=1e-9)
    assert moved
