"""Finds what a model goes by and tries each term by intervention, until none is left that only goes with its class."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dignn.core.progress import Tick, part_of, silent
from dignn.core.seeds import Seed
from dignn.features.bank import FeatureBank
from dignn.goes_by.effects import Effect, effects
from dignn.goes_by.finding import STUDIED_PLACES, Finder, GoesBy
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count
from dignn.goes_by.rule_sets import Rules
from dignn.goes_by.scorecards import MOST_TERMS, Scorecards, Term
from dignn.goes_by.traits import Holds, Trait
from dignn.goes_by.where import Where
from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores

# How often scorecards are found without what turned out to be decoys.
_ROUNDS = 8
# Points that a predicate of a rule is judged by, as if it were a term of few.
_RULE_POINTS = 0.2
# Points of a decoy that is told; fewer go with nothing.
_TOLD_POINTS = 0.1
# The share of a group's columns that decoys may be.
_DECOYS_IN_GROUP = 0.25


@dataclass(frozen=True)
class TriedTerm:
    """A term and what it does.

    Args:
        term: its predicate, and its points when it was tried.
        effect: on the log-odds of its class.
        decoy: whether it goes with its class and does not act.
    """

    term: Term
    effect: Effect
    decoy: bool


@dataclass(frozen=True)
class Causes:
    """What a model goes by, with effects.

    Args:
        goes_by: found without decoys, as far as that could be done.
        terms: for each class those of its scorecard, in order.
        decoys: for each class those that were left out and had more than a tenth of a point, those of most first.
    """

    goes_by: GoesBy
    terms: tuple[tuple[TriedTerm, ...], ...]
    decoys: tuple[tuple[TriedTerm, ...], ...]


def find_with_effects(
    batch: GraphBatch,
    scores: Scores,
    adapter: GNNAdapter,
    bank: FeatureBank | None,
    seed: Seed,
    tick: Tick = silent,
    *,
    most: int = STUDIED_PLACES,
) -> Causes:
    """What a model goes by on these graphs, tried by intervention.

    Scorecards of twelve terms, and rules, are found, effects of their predicates tried, and decoys barred from their
    class with whatever looks at the same, until there are no more of them. Where that does not end, only what was
    tried and acts is used.

    Args:
        batch: graphs with features, generated ones for example.
        scores: what the model says of them.
        adapter: the model.
        bank: draws rows anew; None where none has learned.
        seed: of everything that is drawn.
        tick: progress.
        most: places that are looked at, evenly spread.

    Raises:
        DignnError: there are too few places, or the model gives one class to all of them.
    """
    finder = Finder(batch, scores, seed, most=most)
    decoys = _Decoys(finder.classes)
    known: dict[tuple[int, Predicate], Effect] = {}
    out: list[dict[Predicate, TriedTerm]] = [{} for _ in range(finder.classes)]
    ended = False
    for number in range(_ROUNDS):
        shown = _shown(finder.cards(MOST_TERMS, decoys))
        terms = shown + _in_rules(finder.rules(decoys))
        own, part = seed.child("round", number), part_of(tick, number, _ROUNDS)
        tried = effects(terms, batch, finder.scores, adapter, bank, own, part, known=known)
        ended = True
        for which, ((place, predicate, points), effect) in enumerate(zip(terms, tried, strict=True)):
            known[place, predicate] = effect
            if effect.decoy(points):
                ended = False
                decoys.add(place, predicate, effect, points)
                if which < len(shown):
                    out[place][predicate] = TriedTerm(Term(predicate, points), effect, True)
        if ended:
            break

    def untried(place: int, predicate: Predicate) -> bool:
        return (place, predicate) not in known or decoys(place, predicate)

    found = finder.found(decoys, None if ended else untried)
    asked = _shown(found.scorecards)
    told = effects(asked, batch, finder.scores, adapter, bank, seed.child("round", _ROUNDS), known=known)
    by_class: list[list[TriedTerm]] = [[] for _ in range(finder.classes)]
    for (place, predicate, points), effect in zip(asked, told, strict=True):
        by_class[place].append(TriedTerm(Term(predicate, points), effect, effect.decoy(points)))
    tick(1, 1)
    worth = [[each for each in some.values() if abs(each.term.points) >= _TOLD_POINTS] for some in out]
    left = [sorted(some, key=lambda each: -abs(each.term.points)) for some in worth]
    return Causes(found, tuple(map(tuple, by_class)), tuple(map(tuple, left)))


def _shown(cards: Scorecards) -> list[tuple[int, Predicate, float]]:
    return [(place, term.predicate, term.points) for place, card in enumerate(cards.cards) for term in card.terms]


def _in_rules(rules: Rules) -> list[tuple[int, Predicate, float]]:
    """Predicates of rules, as terms of few points."""
    several = ((place, one) for place, own in enumerate(rules.by_class) for rule in own for one in rule.predicates)
    signed = ((place, replace(one, holds=True), _RULE_POINTS * (1 if one.holds else -1)) for place, one in several)
    return list(dict.fromkeys(signed))


class _Decoys:
    """What may not be a term of a class any more.

    A predicate that has no effect bars whatever looks at the same, with any threshold, and groups of columns of which
    too many have no effect. One that acts the other way round bars only itself with its thresholds.
    """

    def __init__(self, classes: int) -> None:
        self._quantities: list[set[object]] = [set() for _ in range(classes)]
        self._traits: list[set[tuple[Where, object]]] = [set() for _ in range(classes)]

    def add(self, place: int, predicate: Predicate, effect: Effect, points: float) -> None:
        quantity = predicate.quantity
        self._quantities[place].add(quantity)
        if isinstance(quantity, Count) and not effect.acts(points):
            self._traits[place] |= {(quantity.where, _seen(trait)) for trait in quantity.traits}

    def __call__(self, place: int, predicate: Predicate) -> bool:
        quantity, traits = predicate.quantity, self._traits[place]
        if quantity in self._quantities[place]:
            return True
        if not traits or not isinstance(quantity, Count) or not quantity.traits:
            return False
        idle = sum((quantity.where, _seen(trait)) in traits for trait in quantity.traits)
        return idle > _DECOYS_IN_GROUP * len(quantity.traits)


def _seen(trait: Trait) -> object:
    """What a trait looks at, whatever the threshold."""
    return (trait.column, trait.test) if isinstance(trait, Holds) and trait.test == "above" else trait
