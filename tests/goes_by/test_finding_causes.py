"""Scorecards without decoys: what goes with a class is told apart from what acts, and left out."""

from __future__ import annotations

from functools import cache

import pytest

from dignn.core.seeds import Seed
from dignn.goes_by.finding import Finder, find
from dignn.goes_by.finding_causes import Causes, find_with_effects
from dignn.goes_by.phrases import phrase
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around
from goes_by.answered import SCHEMA, WORDS
from goes_by.asked import ByWords, asked

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

    def query(place: int, predicate: Predicate) -> bool:
        return place == 1 and "query" in words_of(predicate)

    free, barred = finder.found(), finder.found(query)
    for found, there in ((free, True), (barred, False)):
        terms = [term.predicate for card in found.frontier[-1].cards for term in card.terms]
        rules = [each for rules in found.rules.by_class for rule in rules for each in rule.predicates]
        assert any("query" in words_of(each) for each in terms) is there
        assert any("query" in words_of(each) for each in rules) is there


def test_where_there_is_no_end_only_what_was_tried_and_acts_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.goes_by.finding_causes._ROUNDS", 1)
    told.cache_clear()
    found = told(1)
    assert found.decoys[1]
    for tried in found.terms:
        assert tried
        assert not any(each.decoy for each in tried)
        assert all(each.effect.pairs for each in tried)
