"""Of very many classes those are looked at that a model gives most often; the others stand together."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from dignn.core.seeds import Seed
from dignn.goes_by import rule_sets, sparse_fit
from dignn.goes_by.barred import Bars
from dignn.goes_by.fidelity import fidelity
from dignn.goes_by.finding import find
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count
from dignn.goes_by.rule_sets import Rule, Rules
from dignn.goes_by.scorecards import Scorecard, Scorecards, Term
from dignn.goes_by.studied_classes import STUDIED_CLASSES, StudiedClasses
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around
from dignn.graphs.batch import GraphBatch
from dignn.model.scores import Scores
from goes_by.answered import additive, answered

EVERY = 3 * STUDIED_CLASSES
QUERY = Predicate(Count(Around("author", 0), (Holds(5),)))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.goes_by.studied_classes.STUDIED_CLASSES", 3)


def many_classes() -> tuple[GraphBatch, Scores]:
    """Of 45 classes four are given, by three words: each half as often as the one before, the last by none of them."""
    graphs, scores = answered(additive, count=300)
    words = graphs.tables["author"][graphs.row[:, 0]]
    given = torch.where(words[:, 0] > 0, 10, torch.where(words[:, 2] > 0, 20, torch.where(words[:, 5] > 0, 30, 44)))
    return graphs, replace(scores, logits=5.0 * torch.eye(45)[given])


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Has an entry for each search of a rule."""
    searched: list[int] = []
    search = rule_sets._search
    monkeypatch.setattr(rule_sets, "_search", lambda *given: searched.append(1) or search(*given))
    return searched


def test_up_to_a_hundred_all_are_looked_at_as_they_are() -> None:
    every = StudiedClasses.of(np.array([3, 1, 1]), STUDIED_CLASSES)
    said, cards = np.random.default_rng(0).random((3, STUDIED_CLASSES)), Scorecards((Scorecard(0.0, ()),))
    rules, bars = Rules(((),), 0), Bars(STUDIED_CLASSES)
    assert every.number == STUDIED_CLASSES
    assert every.answers(np.array([3, 1, 1])).tolist() == [3, 1, 1]
    for given, back in ((said, every.said), (bars, every.bars), (cards, every.cards), (rules, every.rules)):
        assert back(given) is given  # type: ignore[operator]


def test_of_more_those_that_are_given_most_often() -> None:
    answers = np.repeat(np.arange(EVERY), [1 + (place % 3 == 0) for place in range(EVERY)])
    studied = StudiedClasses.of(answers, EVERY)
    assert studied.chosen.tolist() == list(range(0, EVERY, 3))
    assert sorted([*studied.chosen, *studied.rest]) == list(range(EVERY))
    assert Counter(studied.answers(answers).tolist())[STUDIED_CLASSES] == EVERY - STUDIED_CLASSES
    probability = np.random.default_rng(0).dirichlet(np.ones(EVERY), 5)
    assert np.allclose(studied.said(probability)[:, -1], probability[:, studied.rest].sum(1))
    assert StudiedClasses.of(np.array([7, 7, 9]), EVERY).chosen.tolist() == [7, 9]  # others are never given


def test_what_is_found_is_of_all_classes_again(few: None) -> None:
    studied = StudiedClasses.of(np.array([4, 4, 0, 0, 2, 2, 1]), 5)
    cards = tuple(Scorecard(float(place), (Term(QUERY, 1.0),) if place < 3 else ()) for place in range(4))
    back = studied.cards(Scorecards(cards)).cards
    assert [back[place] for place in (0, 2, 4)] == list(cards[:3])
    assert math.exp(back[1].base) + math.exp(back[3].base) == pytest.approx(math.exp(3.0), rel=0.02)
    rule = Rule((QUERY,), 1.0)
    assert studied.rules(Rules(((rule,), (), (), ()), 3)) == Rules(((rule,), (), (), (), ()), 1)
    bars = studied.bars(Bars(5, {2: lambda each: each == QUERY}))
    assert bars is not None
    assert bars.marks([QUERY, QUERY.absent]).tolist() == [[False] * 2, [True, False], [False] * 2, [True] * 2]


def test_the_others_have_a_base_alone_and_are_not_searched(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    searched, fitted = counted(monkeypatch), []
    fit = sparse_fit.fit_path
    monkeypatch.setattr("dignn.goes_by.scorecards.fit_path", lambda *given: fitted.append(len(given[3])) or fit(*given))
    graphs, scores = many_classes()
    found = find(graphs, scores, Seed(0))
    assert found.studied == (10, 20, 30)
    assert set(fitted) == {4}
    assert len(searched) <= 3 * 3 * rule_sets.MOST_RULES  # on two parts of the places, in one of them twice
    others = [card for place, card in enumerate(found.scorecards.cards) if place not in found.studied]
    assert len(set(others)) == 1
    assert not others[0].terms
    assert all(found.scorecards.cards[place].terms for place in found.studied)
    told = fidelity(found, graphs, scores, Seed(0))
    assert told.scorecard.value == pytest.approx(0.75, abs=0.02)  # of four classes three
    assert {place for place, value in enumerate(told.auc_by_class) if value is not None} == {10, 20, 30}


def test_for_a_class_that_is_not_there_no_rule_is_sought(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = counted(monkeypatch)
    graphs, scores = many_classes()
    given = replace(scores, logits=scores.logits[:, [10, 20, 30, 44]])
    find(graphs, given, Seed(0))
    four = len(searched)
    find(graphs, replace(scores, logits=scores.logits[:, [10, 20, 30, 44, *range(10)]]), Seed(0))
    assert len(searched) == 2 * four
