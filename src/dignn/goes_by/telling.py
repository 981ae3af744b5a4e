"""What was found, and how it was tested, as JSON: words for people, predicates for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from dignn.goes_by.agreement import Found
from dignn.goes_by.fidelity import Fidelity, RuleFidelity
from dignn.goes_by.finding import GoesBy
from dignn.goes_by.finding_causes import Causes, TriedTerm
from dignn.goes_by.phrases import phrase, words_of
from dignn.goes_by.rule_sets import Rule
from dignn.goes_by.term_keys import predicate_json
from dignn.graphs.schema import Schema


def terms_told(found: Causes, schema: Schema) -> dict[str, list[dict[str, Any]]]:
    """By class the terms of its scorecard, those worth most first, and after them what turned out to be decoys.

    Classes that were not looked at are left out.
    """
    several = ((schema.classes[place], found.terms[place], found.decoys[place]) for place in found.goes_by.studied)
    return {name: [_term(each, schema) for each in (*terms, *decoys)] for name, terms, decoys in several}


def tested_told(found: GoesBy, tested: Fidelity, schema: Schema) -> dict[str, Any]:
    """How well it gives the model's answers on graphs that it was not found on, and the rules of classes looked at."""
    named = [(schema.classes[place], place) for place in found.studied]
    return {
        "places": tested.places,
        "things": tested.things,
        "terms": tested.terms,
        "scorecard": _figure(tested.scorecard),
        "rules": _figure(tested.rules),
        "auc": _figure(tested.auc),
        "auc_by_class": {name: tested.auc_by_class[place] for name, place in named},
        "frontier": {str(terms): _figure(each) for terms, each in tested.frontier.items()},
        "majority": tested.majority,
        "base": {name: found.scorecards.cards[place].base for name, place in named},
        "rule_list": {
            name: [
                _rule(rule, each, schema)
                for rule, each in zip(found.rules.by_class[place], tested.by_rule[place], strict=True)
            ]
            for name, place in named
        },
    }


def _term(tried: TriedTerm, schema: Schema) -> dict[str, Any]:
    term, effect = tried.term, tried.effect
    return {
        "term": phrase(term.predicate, schema),
        "points": term.points,
        "effect": effect.mean,
        "interval": None if effect.interval is None else list(effect.interval),
        "decoy": tried.decoy,
        "matched": effect.matched,
        "predicate": predicate_json(term.predicate),
    }


def _rule(rule: Rule, tested: RuleFidelity, schema: Schema) -> dict[str, Any]:
    return {
        "rule": words_of(rule.predicates, schema),
        "predicates": [predicate_json(each) for each in rule.predicates],
        "precision": None if tested.precision is None else _figure(tested.precision),
        "recall": None if tested.recall is None else _figure(tested.recall),
    }


def _figure(found: Found) -> dict[str, Any]:
    return {**asdict(found), "interval": list(found.interval)}
