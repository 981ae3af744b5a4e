"""Rules: for each class a few conjunctions of predicates and their negations, for what adding cannot say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest

import numpy as np

from dignn.goes_by.deciding import Decider, decided, needed
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate, truth
from dignn.goes_by.screening import Screened, is_plain
from dignn.goes_by.sparse_fit import even_weights

# Conjunctions of a class, and predicates of one, at most.
MOST_RULES, MOST_PREDICATES = 3, 4
# What a further predicate, and a further rule, must bring: a share of the class, less that of others taken along.
_LEAST_GAIN, _LEAST_WORTH = 0.005, 0.02
# Conjunctions that are looked at together; predicates that tell the class, and others that may do so together.
_BEAM, _TELLING, _OTHERS = 20, 250, 150
# Pairs of predicates that are looked at for all classes together.
_PAIRS = 4_000_000


@dataclass(frozen=True)
class Rule:
    """Where all of its predicates are true, the class is given.

    Args:
        predicates: at most four, negated ones among them.
        precision: how likely the class is there, all classes being equally frequent, where the rule was found.
    """

    predicates: tuple[Predicate, ...]
    precision: float


@dataclass(frozen=True)
class Rules:
    """Rules of each class. Of those that hold the most precise one decides.

    Args:
        by_class: for each class at most three, in the order in which they were found.
        otherwise: the class where no rule holds.
    """

    by_class: tuple[tuple[Rule, ...], ...]
    otherwise: int

    def holds(self, places: Places) -> list[np.ndarray]:
        """For each class (m, r) bool, which of its rules hold."""
        predicates = list(dict.fromkeys(each for rules in self.by_class for rule in rules for each in rule.predicates))
        number = {predicate: place for place, predicate in enumerate(predicates)}
        true = truth(places, predicates)
        found = []
        for rules in self.by_class:
            held = [true[:, [number[each] for each in rule.predicates]].all(1) for rule in rules]
            found.append(np.stack(held, axis=1) if held else np.zeros((len(places), 0), dtype=bool))
        return found

    def predicted(self, places: Places) -> np.ndarray:
        """(m,) the class that the rules give."""
        precision = [[rule.precision for rule in rules] for rules in self.by_class]
        return decided(self.holds(places), precision, self.otherwise)


def find_rules(
    known: Screened,
    answers: np.ndarray,
    number: int,
    most: int = MOST_PREDICATES,
    barred: np.ndarray | None = None,
) -> Rules:
    """Rules by a beam search that starts from all pairs, so that predicates count that tell nothing alone.

    Args:
        known: predicates, and of which places they are true.
        answers: (m,) the classes that a model gives.
        number: how many classes there are.
        most: predicates of a rule.
        barred: (C, p) bool, which predicates may not be in rules of a class; by default all may.
    """
    weight = even_weights(answers, number)
    room = max(20, min(_TELLING + _OTHERS, int((_PAIRS / max(1, number)) ** 0.5)))
    found: list[list[Decider[tuple[Predicate, ...]]]] = []
    plain = _by_plainness(known)
    for place in range(number):
        pool = _pool(known, place, room, plain)
        pool = pool if barred is None else pool[~barred[place, pool]]
        own = answers == place
        found.append(
            [
                Decider.of(
                    tuple(_signed(known.predicates[pool[which]], holds) for which, holds in literals), here, own, weight
                )
                for literals, here in _of_class(known.true[:, pool], own, weight, most)
            ]
        )
    kept, otherwise, _ = needed(found, answers, weight)
    return Rules(tuple(tuple(Rule(one.what, one.precision) for one in own) for own in kept), otherwise)


# A literal is the number of a predicate and whether it holds; a conjunction of several is kept in order.
_Literals = tuple[tuple[int, bool], ...]


def _signed(predicate: Predicate, holds: bool) -> Predicate:
    return predicate if holds else predicate.absent


def _by_plainness(known: Screened) -> np.ndarray:
    """Numbers of plain predicates, those first that are neither rare nor common."""
    if not known.predicates:
        return np.empty(0, dtype=int)
    share = known.true.mean(0)
    plain = np.array([is_plain(predicate) for predicate in known.predicates])
    order = np.argsort(-np.where(plain, share * (1 - share), -1.0), kind="stable")
    return order[plain[order]]


def _pool(known: Screened, place: int, room: int, plain: np.ndarray) -> np.ndarray:
    """Predicates that tell the class, and ``plain`` ones, the first that do not."""
    if not known.predicates:
        return np.empty(0, dtype=int)
    telling = room * _TELLING // (_TELLING + _OTHERS)
    chosen = np.argsort(-np.abs(known.tells[place]), kind="stable")[:telling]
    others = plain[:room]  # as many are enough beside those that were chosen
    others = others[~np.isin(others, chosen)][: room - telling]
    return np.sort(np.concatenate([chosen, others]))


def _of_class(true: np.ndarray, own: np.ndarray, weight: np.ndarray, most: int) -> list[tuple[_Literals, np.ndarray]]:
    """Rules of a class, and (m,) where each holds."""
    table = true.astype(np.float32)
    left, found = np.ones(len(own), dtype=bool), []
    for _ in range(MOST_RULES if table.shape[1] else 0):
        if (weight * (own & left)).sum() < _LEAST_WORTH:  # no rule can be worth more than what is left of the class
            break
        value = np.where(own, weight, -weight) * left
        literals, worth = _search(true, table, value, most)
        if worth < _LEAST_WORTH:
            break
        here = _where(true, literals)
        found.append((literals, here))
        left &= ~here
    return found


def _where(true: np.ndarray, literals: _Literals) -> np.ndarray:
    here = np.ones(len(true), dtype=bool)
    for which, holds in literals:
        here &= true[:, which] if holds else ~true[:, which]
    return here


def _search(true: np.ndarray, table: np.ndarray, worth: np.ndarray, most: int) -> tuple[_Literals, float]:
    """The conjunction whose places are worth most, less a little for each predicate.

    Candidates are found by sums of 32-bit numbers, and the best of them compared by exact ones, so that what is true of
    the same places is worth the same.

    Args:
        true, table: (m, p) the predicates, as flags and as numbers.
        worth: (m,) what a place is worth.
        most: predicates at most.
    """
    value = worth.astype(np.float32)
    single, total = value @ table, float(value.sum())
    beam = _best(
        true,
        worth,
        [
            (((which, holds),), float(line[which]))
            for holds, line in ((True, single), (False, total - single))
            for which in _largest(line, 2 * _BEAM)
        ],
    )
    best = max(beam, key=_standing, default=((), 0.0))
    if most > 1 and table.shape[1] > 1:
        beam = _best(true, worth, beam + _pairs(table, value, single, total))
        best = max(beam, key=_standing)
    for _ in range(2, most):
        grown = _grown(true, table, value, [one for one in beam if one[0]])
        beam = _best(true, worth, beam + grown)
        best = max([best, *beam], key=_standing)
    return best


def _standing(one: tuple[_Literals, float]) -> float:
    return round(one[1] - _LEAST_GAIN * len(one[0]), 9)


def _best(
    true: np.ndarray, worth: np.ndarray, several: Sequence[tuple[_Literals, float]]
) -> list[tuple[_Literals, float]]:
    """The best of all, each once, with what they are worth exactly."""
    different = {tuple(sorted(literals)): about for literals, about in several}
    about = nsmallest(2 * _BEAM, different.items(), key=lambda one: (-_standing(one), one[0]))
    exact = [(literals, float(worth[_where(true, literals)].sum())) for literals, _ in about]
    return sorted(exact, key=lambda one: (-_standing(one), one[0]))[:_BEAM]


def _pairs(table: np.ndarray, value: np.ndarray, single: np.ndarray, total: float) -> list[tuple[_Literals, float]]:
    """The best of all pairs of predicates and negations."""
    both = (table * value[:, None]).T @ table
    found: list[tuple[_Literals, float]] = []
    signs = {
        (True, True): both,
        (True, False): single[:, None] - both,
        (False, False): total - single[:, None] - single[None, :] + both,
    }
    for (one, other), worth in signs.items():
        worth = worth.copy()
        np.fill_diagonal(worth, -np.inf)
        for flat in _largest(worth.ravel(), 2 * _BEAM):
            u, v = divmod(flat, len(worth))
            if u != v:
                found.append((tuple(sorted(((u, one), (v, other)))), float(worth[u, v])))
    return found


def _grown(
    true: np.ndarray, table: np.ndarray, value: np.ndarray, beam: Sequence[tuple[_Literals, float]]
) -> list[tuple[_Literals, float]]:
    """Conjunctions with one more predicate."""
    here = np.stack([_where(true, literals) for literals, _ in beam], axis=1)
    with_it = (here * value[:, None]).T.astype(np.float32) @ table  # (b, p)
    found: list[tuple[_Literals, float]] = []
    for (literals, worth), line in zip(beam, with_it, strict=True):
        used = {which for which, _ in literals}
        for holds, gains in ((True, line), (False, worth - line)):
            for which in _largest(gains, _BEAM):
                if which not in used:
                    found.append(((*literals, (which, holds)), float(gains[which])))
    return found


def _largest(values: np.ndarray, number: int) -> list[int]:
    """Places of the largest values, largest first; of equal ones the first."""
    number = min(number, len(values))
    least = np.partition(values, len(values) - number)[len(values) - number]
    (places,) = np.nonzero(values >= least)
    return places[np.argsort(-values[places], kind="stable")[:number]].tolist()
