"""Finds what a model goes by and tries each term by intervention, until none is left that only goes with its class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from dignn.core.progress import Tick, part_of, silent
from dignn.core.seeds import Seed
from dignn.features.bank import FeatureBank
from dignn.goes_by.barred import Bars
from dignn.goes_by.effects import Effect, effects
from dignn.goes_by.finding import STUDIED_PLACES, Finder, GoesBy
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count
from dignn.goes_by.rule_sets import Rules
from dignn.goes_by.scorecards import MOST_TERMS, Scorecards, Term
from dignn.goes_by.thresholds import at_threshold, levels, near_threshold, threshold_of
from dignn.goes_by.traits import Holds, Trait
from dignn.goes_by.where import Where
from dignn.graphs.batch import GraphBatch
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores

# How often scorecards of many terms are found without what turned out to be decoys, and then what is shown.
_ROUNDS, _LAST_ROUNDS = 8, 4
# Points that a predicate of a rule is judged by, as if it were a term of few.
_RULE_POINTS = 0.2
# Points of a decoy that is told; fewer go with nothing.
_TOLD_POINTS = 0.1
# The share of a group's columns that decoys may be.
_DECOYS_IN_GROUP = 0.25
# Thresholds are near each other with no more than this share of all places between them.
_NEAR = 0.05


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
    class with whatever looks at the same, until there are no more of them; then the same is done with those that are
    shown, of which there may be fewer. Where that does not end, only what was tried and acts is used.

    Args:
        batch: graphs with features, generated ones for example.
        scores: what the model says of them.
        adapter: the model.
        bank: draws rows anew; None where none has learned.
        seed: of everything that is drawn.
        tick: progress.
        most: places that are looked at, evenly spread, but some of every class.

    Raises:
        DignnError: there are too few places, or the model gives one class to all of them.
    """
    finder = Finder(batch, scores, seed, most=most)
    trials = _Trials(finder, adapter, bank)
    every = _ROUNDS + _LAST_ROUNDS
    for number in range(_ROUNDS):
        cards, rules = finder.cards(MOST_TERMS, trials.bars), finder.rules(trials.bars)
        if trials.all_act(cards, rules, seed.child("round", number), part_of(tick, number, every)):
            break
    for number in range(_ROUNDS, every):
        found = finder.found(trials.bars)
        if trials.all_act(found.scorecards, found.rules, seed.child("round", number), part_of(tick, number, every)):
            break
    else:
        found = finder.found(trials.only_acting)
        while not trials.all_act(found.scorecards, found.rules, seed.child("last")):  # what was tried becomes less
            found = finder.found(trials.only_acting)
    tick(1, 1)
    shown = [[trials.told(place, term) for term in card.terms] for place, card in enumerate(found.scorecards.cards)]
    return Causes(found, tuple(map(tuple, shown)), trials.left)


class _Trials:
    """What was tried so far, and what of it may not be used any more.

    Args:
        finder: finds what is tried.
        adapter: the model.
        bank: draws rows anew; None where none has learned.
    """

    def __init__(self, finder: Finder, adapter: GNNAdapter, bank: FeatureBank | None) -> None:
        self._finder, self._adapter, self._bank = finder, adapter, bank
        self._known: dict[tuple[int, Predicate], Effect] = {}
        self._decoys = _Decoys(finder)
        self._left: list[dict[Predicate, TriedTerm]] = [{} for _ in range(finder.classes)]

    def all_act(self, cards: Scorecards, rules: Rules, seed: Seed, tick: Tick = silent) -> bool:
        """Whether all predicates of scorecards and rules were tried and none is a decoy; tries what was not."""
        finder, shown = self._finder, _shown(cards)
        terms = shown + _in_rules(rules, finder.classes)
        asked = finder.batch, finder.scores, self._adapter, self._bank, seed, tick
        good = True
        for which, (term, effect) in enumerate(zip(terms, effects(terms, *asked, known=self._known), strict=True)):
            place, predicate, points = term
            if effect.tried:
                self._known[place, predicate] = effect
            decoy = effect.decoy(points)
            good &= effect.tried and not decoy
            if decoy:
                self._decoys.add(place, predicate, effect, points)
                if which < len(shown):
                    self._left[place][predicate] = TriedTerm(Term(predicate, points), effect, True)
        return good

    @property
    def bars(self) -> Bars:
        """Without decoys."""
        return self._decoys.bars

    @property
    def only_acting(self) -> Bars:
        """With nothing but what was tried and acts."""
        only: list[dict[Predicate, None]] = [{} for _ in range(self._finder.classes)]
        for place, predicate in self._known:
            if not self.bars(place, predicate):
                only[place][predicate] = None
        return Bars(self._finder.classes, only=only)

    def told(self, place: int, term: Term) -> TriedTerm:
        """A term of a class, which was tried."""
        effect = self._known[place, term.predicate]
        return TriedTerm(term, effect, effect.decoy(term.points))

    @property
    def left(self) -> tuple[tuple[TriedTerm, ...], ...]:
        """For each class the decoys that were terms of a scorecard, those of most points first."""
        worth = [[each for each in own.values() if abs(each.term.points) >= _TOLD_POINTS] for own in self._left]
        return tuple(tuple(sorted(some, key=lambda each: -abs(each.term.points))) for some in worth)


def _shown(cards: Scorecards) -> list[tuple[int, Predicate, float]]:
    return [(place, term.predicate, term.points) for place, card in enumerate(cards.cards) for term in card.terms]


def _in_rules(rules: Rules, classes: int) -> list[tuple[int, Predicate, float]]:
    """Predicates of rules, as terms of few points; of two classes what speaks for one speaks against the other."""
    several = ((place, one) for place, own in enumerate(rules.by_class) for rule in own for one in rule.predicates)
    signed = [(place, replace(one, holds=True), _RULE_POINTS * (1 if one.holds else -1)) for place, one in several]
    others = [(1 - place, one, -points) for place, one, points in signed] if classes == 2 else []
    return list(dict.fromkeys([*signed, *others]))


class _Decoys:
    """What may not be a term of a class any more.

    A predicate that has no effect bars whatever looks at the same, with any threshold, and groups of columns of which
    too many have no effect. One that acts the other way round bars itself with whatever number it counts to, and with
    thresholds of values near its own: further away it may act as its points say.

    Args:
        finder: knows the values between which thresholds lie.
    """

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._quantities: list[set[object]] = [set() for _ in range(finder.classes)]
        self._traits: list[dict[Where, set[object]]] = [{} for _ in range(finder.classes)]
        self._near: list[dict[Predicate, list[tuple[float, float]]]] = [{} for _ in range(finder.classes)]

    def add(self, place: int, predicate: Predicate, effect: Effect, points: float) -> None:
        quantity = predicate.quantity
        self._quantities[place].add(quantity)
        if isinstance(quantity, Count) and not effect.acts(points):
            self._traits[place].setdefault(quantity.where, set()).update(map(_seen, quantity.traits))
        elif isinstance(quantity, Count) and (value := threshold_of(predicate)) is not None:
            near = near_threshold(levels(self._finder.places, predicate), value, _NEAR)
            self._near[place].setdefault(at_threshold(predicate, 0.0), []).append(near)

    @property
    def bars(self) -> Bars:
        """As they are by now."""
        barring = {place: partial(self._bars, place) for place, own in enumerate(self._quantities) if own}
        return Bars(self._finder.classes, barring)

    def _bars(self, place: int, predicate: Predicate) -> bool:
        quantity, traits, near = predicate.quantity, self._traits[place], self._near[place]
        if quantity in self._quantities[place]:
            return True
        if near and (value := threshold_of(predicate)) is not None:
            parts = near.get(at_threshold(predicate, 0.0), [])
            if any(low <= value < high for low, high in parts):
                return True
        if not traits or not isinstance(quantity, Count) or not quantity.traits:
            return False
        there = traits.get(quantity.where)
        idle = sum(_seen(trait) in there for trait in quantity.traits) if there else 0
        return idle > _DECOYS_IN_GROUP * len(quantity.traits)


def _seen(trait: Trait) -> object:
    """What a trait looks at, whatever the threshold."""
    return (trait.column, trait.test) if isinstance(trait, Holds) and trait.test == "above" else trait
