"""Sparse additive scores: for each class a few predicates with points, fitted together to what a model says.

The scores of all classes make probabilities by a softmax, so that a point is one unit of log-odds of its class. Terms
are added one at a time to every class, the one whose score statistic is largest, and all points are fitted again, class
by class, by Newton's method. Thresholds of terms that compare a number are moved to where they fit best. Of two classes
only the second is fitted; the score of the first is its negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dignn.goes_by.predicates import Predicate
from dignn.goes_by.thresholds import Thresholds

# Strength of the ridge on points, in places; on the base of a class almost none.
_RIDGE, _BASE_RIDGE = 3.0, 1e-3
# The largest step of Newton's method, the least weight of a place, and passes over the classes when terms were added
# and at last.
_STEP, _LEAST_WEIGHT, _PASSES, _LAST_PASSES = 3.0, 1e-4, 2, 4
# Numbers of terms beyond which two at a time are added, and thresholds stay.
_ONE_BY_ONE = 12
# How often thresholds are moved and points fitted again when a term was added.
_MOVES = 2


@dataclass(frozen=True, eq=False)
class Fit:
    """Scores with so many terms for each class at most.

    Args:
        number: of terms.
        chosen: for each class, numbers of predicates in the order in which they were chosen; with thresholds, of those
            that these have by now.
        base: (C,) of each class.
        points: for each class, of its terms.
    """

    number: int
    chosen: list[np.ndarray]
    base: np.ndarray
    points: list[np.ndarray]


def class_weights(classes: np.ndarray, number: int) -> np.ndarray:
    """(m,) weights of places that sum to m, equally for every class that has some."""
    times = np.bincount(classes, minlength=number)
    return len(classes) / (np.maximum(times, 1) * max(1, (times > 0).sum()))[classes]


def even_weights(classes: np.ndarray, number: int) -> np.ndarray:
    """(m,) weights of places that sum to 1 in every class that has some."""
    return 1.0 / np.maximum(np.bincount(classes, minlength=number), 1)[classes]


def fit_path(
    true: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
    candidates: Sequence[np.ndarray],
    numbers: Sequence[int],
    thresholds: Thresholds | None = None,
    barred: Callable[[int, Predicate], bool] | None = None,
) -> list[Fit]:
    """Scores with ever more terms.

    Args:
        true: (m, p) bool, which predicates are true of which places.
        target: (m, C) how likely each class is.
        weight: (m,) of places.
        candidates: for each class, numbers of the predicates that may become terms.
        numbers: of terms, ascending.
        thresholds: of the predicates, if they may be moved.
        barred: whether a class may not get a predicate, whatever its threshold was moved to.
    """
    two = target.shape[1] == 2
    state = _State(true, target, weight, [np.empty(0, int), candidates[1]] if two else candidates, fixed=two)
    found, have = [], 0
    state.fit(_LAST_PASSES)
    for number in numbers:
        while have < number:
            more = min(number - have, 1 if have < _ONE_BY_ONE else 2)
            state.add(more)
            have += more
            state.fit(_PASSES)
            if thresholds is not None and have <= _ONE_BY_ONE:
                state.move(thresholds, barred)
        state.fit(_LAST_PASSES - _PASSES)
        found.append(state.fitted(number))
    return found


class _State:
    """Terms and points so far."""

    def __init__(
        self, true: np.ndarray, target: np.ndarray, weight: np.ndarray, candidates: Sequence[np.ndarray], fixed: bool
    ) -> None:
        self._target, self._weight, self._candidates, self._two = target, weight, candidates, fixed
        self._classes = [1] if fixed else list(range(target.shape[1]))
        self._columns = [true[:, chosen].astype(np.float32) for chosen in candidates]
        count = len(target)
        self._score = np.zeros(target.shape)
        self._chosen: list[list[int]] = [[] for _ in candidates]
        self._named: list[list[int]] = [[] for _ in candidates]
        self._terms = [np.ones((count, 1)) for _ in candidates]
        self._points = [np.zeros(1) for _ in candidates]
        self._sum()

    def _sum(self) -> None:
        self._shift = self._score.max(1)
        self._total = np.exp(self._score - self._shift[:, None]).sum(1)

    def _probability(self, place: int) -> np.ndarray:
        return np.exp(self._score[:, place] - self._shift) / self._total

    def add(self, more: int) -> None:
        """The best terms for each class."""
        for place in self._classes:
            columns = self._columns[place]
            said = self._probability(place)
            missed = (self._weight * (self._target[:, place] - said)).astype(np.float32)
            weight = (self._weight * said * (1 - said)).astype(np.float32)
            slope, share = missed @ columns, weight @ columns
            spread = share - share**2 / max(weight.sum(), 1e-12)
            gain = slope.astype(float) ** 2 / (np.maximum(spread, 0) + _RIDGE)
            gain[self._chosen[place]] = -1.0
            best = [number for number in np.argsort(-gain, kind="stable")[:more].tolist() if gain[number] > 1e-9]
            self._chosen[place] += best
            self._named[place] += self._candidates[place][best].tolist()
            self._terms[place] = np.column_stack([self._terms[place], columns[:, best]])
            self._points[place] = np.append(self._points[place], np.zeros(len(best)))

    def fit(self, passes: int) -> None:
        """The points of all terms, anew."""
        for _ in range(passes):
            for place in self._classes:
                terms, points = self._terms[place], self._points[place]
                said = self._probability(place)
                weight = self._weight * np.maximum(said * (1 - said), _LEAST_WEIGHT)
                ridge = np.full(len(points), _RIDGE)
                ridge[0] = _BASE_RIDGE
                slope = (self._weight * (said - self._target[:, place])) @ terms + ridge * points
                curve = terms.T @ (terms * weight[:, None]) + np.diag(ridge)
                points = points - np.clip(np.linalg.solve(curve, slope), -_STEP, _STEP)
                self._points[place] = points
                self._score[:, place] = terms @ points
                rest = np.maximum(self._total * (1 - said), 1e-12)
                self._total = rest + np.exp(self._score[:, place] - self._shift)
            self._sum()

    def move(self, thresholds: Thresholds, barred: Callable[[int, Predicate], bool] | None = None) -> None:
        """The thresholds of all terms to where they fit best, as the points are; then the points anew."""
        for _ in range(_MOVES):
            moved = False
            for place in self._classes:
                own = None if barred is None else partial(barred, place)
                for term in range(len(self._named[place])):
                    moved |= self._move(place, term, thresholds, own)
            if not moved:
                return
            self.fit(_PASSES)

    def _move(self, place: int, term: int, thresholds: Thresholds, barred: Callable[[Predicate], bool] | None) -> bool:
        """Whether the threshold of a term was moved."""
        points, column = self._points[place][term + 1], self._terms[place][:, term + 1]
        with np.errstate(divide="ignore"):  # without other classes' scores there is nothing to lose
            rest = np.log(np.maximum(self._total - np.exp(self._score[:, place] - self._shift), 1e-300)) + self._shift
        without = self._score[:, place] - column * points
        cost = np.logaddexp(rest, without + points) - np.logaddexp(rest, without) - self._target[:, place] * points
        number = self._named[place][term]
        better = thresholds.better(number, self._weight * cost, barred)
        if better == number:
            return False
        true = thresholds.true(better)
        self._named[place][term] = better
        self._terms[place][:, term + 1] = true
        self._score[:, place] = without + points * true
        self._total = np.exp(rest - self._shift) + np.exp(self._score[:, place] - self._shift)
        return True

    def fitted(self, number: int) -> Fit:
        chosen = [np.array(named, dtype=int) for named in self._named]
        points, base = [each[1:].copy() for each in self._points], np.array([each[0] for each in self._points])
        if self._two:
            chosen[0], points[0], base[0] = chosen[1], -points[1], -base[1]
        return Fit(number, chosen, base, points)
