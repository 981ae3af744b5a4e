"""Scorecards without decoys: what goes with a class is told apart from what acts, and left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from dignn.core.seeds import Seed
from dignn.goes_by.barred import Bars
from dignn.goes_by.effects import Effect, effects
from dignn.goes_by.finding import Finder, find
from dignn.goes_by.finding_causes import Causes, _Decoys, _Trials, find_with_effects
from dignn.goes_by.phrases import phrase
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count
from dignn.goes_by.rule_sets import Rules
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around
from goes_by.answered import SCHEMA, WORDS
from goes_by.asked import ByWords, asked
from goes_by.by_numbers import with_numbers

# "remote" is where "query" is, in nine of ten graphs, and does nothing.
MODEL = ByWords(paper=2.0, query=3.0, logic=-2.5)


@cache
def told(seed: int = 0) -> Causes:
    batch, _, adapter = asked(MODEL, copied=True)
    batch.tables["author"][::10, WORDS.index("query")] = 1 - batch.tables["author"][::10, WORDS.index("query")]
    return find_with_effects(batch, adapter.score(batch), adapter, None, Seed(seed))


def words_of(predicate: Predicate) -> set[str]:
    quantity = predicate.quantity
    if not isinstance(quantity, Count):
        return set()
    assert isinstance(quantity.where, Around)
    return {WORDS[trait.column] for trait in quantity.traits if isinstance(trait, Holds) and quantity.where.own}


def test_terms_act_and_decoys_are_named_apart() -> None:
    found = told()
    for place, card in enumerate(found.goes_by.scorecards.cards):
        assert [each.term for each in found.terms[place]] == list(card.terms)
        assert not any(each.decoy for each in found.terms[place])
        assert all(each.decoy for each in found.decoys[place])
    said = [phrase(each.term.predicate, SCHEMA) for each in found.terms[1]]
    assert {"it has “query”", "it has “logic”", "a paper next to it carries “a”"} <= set(said)
    assert "it has “remote”" in [phrase(each.term.predicate, SCHEMA) for each in found.decoys[1]]


def test_effects_stand_beside_points() -> None:
    effect = {phrase(each.term.predicate, SCHEMA): each.effect.mean for each in told().terms[1]}
    assert effect["it has “query”"] == pytest.approx(3.0)
    assert effect["it has “logic”"] == pytest.approx(-2.5)


def test_neither_terms_nor_rules_use_a_decoy_again() -> None:
    found = told().goes_by
    used = [term.predicate for card in found.scorecards.cards for term in card.terms]
    used += [each for rules in found.rules.by_class for rule in rules for each in rule.predicates]
    assert used
    assert not any("remote" in words_of(predicate) for predicate in used)


def test_same_seed_same_findings() -> None:
    first = told()
    told.cache_clear()
    assert told() == first


def test_what_is_barred_is_not_found() -> None:
    batch, scores, _ = asked(ByWords(paper=1.0, query=3.0))
    finder = Finder(batch, scores, Seed(0))
    assert finder.found() == find(batch, scores, Seed(0))
    assert finder.cards(3) in finder.found().frontier

    query = Bars(2, {1: lambda predicate: "query" in words_of(predicate)})
    free, barred = finder.found(), finder.found(query)
    for found, there in ((free, True), (barred, False)):
        terms = [term.predicate for card in found.frontier[-1].cards for term in card.terms]
        rules = [each for rules in found.rules.by_class for rule in rules for each in rule.predicates]
        assert any("query" in words_of(each) for each in terms) is there
        assert any("query" in words_of(each) for each in rules) is there


def test_only_what_may_be_used_is_found() -> None:
    batch, scores, _ = asked(ByWords(paper=1.0, query=3.0))
    finder = Finder(batch, scores, Seed(0))
    terms = [term.predicate for term in finder.cards(3).cards[1].terms]
    found = finder.found(Bars(2, only=[terms, terms[:2]]))
    assert {term.predicate for each in found.frontier for card in each.cards for term in card.terms} == set(terms[:2])
    rules = [each for rules in found.rules.by_class for rule in rules for each in rule.predicates]
    assert {replace(each, holds=True) for each in rules} <= set(terms[:2])


# -- what is shown was tried --------------------------------------------------------------------------

_Tried = dict[tuple[int, Predicate], Effect]


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> _Tried:
    """What is tried meanwhile."""
    found: _Tried = {}

    def noted(terms: Sequence[tuple[int, Predicate, float]], *given: Any, **named: Any) -> list[Effect]:
        new = effects(terms, *given, **named)
        found.update({(place, one): effect for (place, one, _), effect in zip(terms, new, strict=True) if effect.tried})
        return new

    monkeypatch.setattr("dignn.goes_by.finding_causes.effects", noted)
    return found


def shown_acts(found: Causes, tried: _Tried) -> None:
    cards, rules = found.goes_by.scorecards.cards, found.goes_by.rules.by_class
    shown = [(place, term.predicate, term.points) for place, card in enumerate(cards) for term in card.terms]
    shown += [
        (place, replace(each, holds=True), 0.2 if each.holds else -0.2)
        for place, own in enumerate(rules)
        for rule in own
        for each in rule.predicates
    ]
    assert shown
    assert [each for each in shown if each[:2] not in tried] == []
    assert [each for each in shown if tried[each[:2]].decoy(each[2])] == []
    assert [[each.term for each in own] for own in found.terms] == [list(card.terms) for card in cards]
    assert not any(each.decoy for own in found.terms for each in own)


@pytest.mark.parametrize("seed", [3, 6])
@pytest.mark.parametrize("rounds", [(8, 4), (1, 0)])
def test_all_that_is_shown_was_tried_and_acts(
    seed: int, rounds: tuple[int, int], tried: _Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where there is no end to decoys in time."""
    monkeypatch.setattr("dignn.goes_by.finding_causes._ROUNDS", rounds[0])
    monkeypatch.setattr("dignn.goes_by.finding_causes._LAST_ROUNDS", rounds[1])
    batch, scores, adapter = with_numbers(4, seed)
    found = find_with_effects(batch, scores, adapter, None, Seed(seed))
    shown_acts(found, tried)
    assert max(found.goes_by.validated) > 0.7  # and the rest is not barred with it


def test_what_is_too_much_to_be_tried_at_once_is_tried_later_or_not_shown(
    tried: _Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dignn.goes_by.effects._MOST_TRIED", 12)
    batch, scores, adapter = with_numbers(4, 3)
    shown_acts(find_with_effects(batch, scores, adapter, None, Seed(3)), tried)
    assert len({predicate for _, predicate in tried}) > 12


def test_there_is_no_end_while_something_was_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.goes_by.effects._MOST_TRIED", 1)
    batch, scores, adapter = asked(MODEL)
    finder = Finder(batch, scores, Seed(0))
    trials, cards, none = _Trials(finder, adapter, None), finder.cards(3), Rules(((), ()), 0)
    assert [trials.all_act(cards, none, Seed(number)) for number in range(4)] == [False, False, True, True]


def test_what_acts_the_other_way_round_is_barred_with_thresholds_that_are_near() -> None:
    batch, scores, _ = with_numbers()
    finder = Finder(batch, scores, Seed(0))
    decoys = _Decoys(finder)
    decoys.add(2, above(0.37), Effect(-1.0, (-1.2, -0.8), False, 48, 1.0), 0.5)
    assert [decoys.bars(2, above(value)) for value in (0.3, 0.37, 0.38, 0.44)] == [True] * 4
    assert not any(decoys.bars(2, above(value)) for value in (-0.5, 0.1, 0.7))
    assert not decoys.bars(1, above(0.37))
    decoys.add(1, above(0.37), Effect(0.0, (0.0, 0.0), False, 48, 0.0), 0.5)
    assert decoys.bars(1, above(-0.5))  # what has no effect has none with any threshold


def above(value: float) -> Predicate:
    return Predicate(Count(Around("author"), (Holds(WORDS.index("open"), "above", value),)))
