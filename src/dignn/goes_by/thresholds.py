"""Thresholds of terms that compare a number: moved to the value of the data that fits best, in few digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dignn.goes_by.phrases import spec_of
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate, truth
from dignn.goes_by.quantities import Count, Mean, means
from dignn.goes_by.traits import Holds
from dignn.graphs.feature_spec import ColumnKind

# Places that must lie on either side of a threshold.
_LEAST = 5
# Digits of a threshold, at most; those of a 32-bit number.
_DIGITS = 8
_SCALES = (ColumnKind.CONTINUOUS, ColumnKind.DATE)


@dataclass(frozen=True, eq=False)
class _Levels:
    """Numbers that are compared with a threshold, largest first; and of which place each is."""

    values: np.ndarray
    order: np.ndarray


class Thresholds:
    """Predicates whose thresholds can be moved.

    Args:
        places: m places.
        predicates: some predicates; better ones come after them.

    Attributes:
        predicates: all of them.
    """

    def __init__(self, places: Places, predicates: Sequence[Predicate]) -> None:
        self.predicates = list(predicates)
        self._places = places
        self._number: dict[Predicate, int] = {}
        self._levels: dict[Predicate, _Levels] = {}

    def better(self, number: int, cost: np.ndarray, barred: Callable[[Predicate], bool] | None = None) -> int:
        """The number of the predicate with the best threshold, of all that compare the same with one.

        It is the given one unless another saves more than the logarithm of the number of places.

        Args:
            number: of a predicate.
            cost: (m,) by how much the negative log-likelihood is larger if it is true of a place.
            barred: whether a predicate may not be used; if the best one may not, the given one stays.
        """
        predicate = self.predicates[number]
        now = self._threshold(predicate)
        if now is None:
            return number
        alike = at_threshold(predicate, 0.0)
        if alike not in self._levels:
            self._levels[alike] = _sorted(levels(self._places, predicate))
        sought = self._levels[alike]
        found = _best_cut(sought, cost)
        if found is None:
            return number
        value, total = found
        here = float(cost[sought.order[sought.values > np.float32(now)]].sum())
        if total >= here - math.log(len(cost)):  # of many thresholds some are better by chance
            return number
        moved = at_threshold(predicate, value)
        if barred is not None and barred(moved):
            return number
        if moved not in self._number:
            self._number[moved] = len(self.predicates)
            self.predicates.append(moved)
        return self._number[moved]

    def _threshold(self, predicate: Predicate) -> float | None:
        """That of a predicate about a column on a scale; what is counted has no others between."""
        return threshold_of(predicate) if _column_kind(predicate, self._places) in _SCALES else None

    def true(self, number: int) -> np.ndarray:
        """(m,) bool: of which places a predicate is true."""
        return truth(self._places, [self.predicates[number]])[:, 0]


# -- what is compared ---------------------------------------------------------------------------------


def threshold_of(predicate: Predicate) -> float | None:
    """The number on a scale with which a predicate compares; None of one that counts or looks for a value."""
    if isinstance(predicate.quantity, Mean):
        return predicate.above
    trait = _compared(predicate)
    return None if trait is None else trait.value


def at_threshold(predicate: Predicate, value: float) -> Predicate:
    """The same predicate with another threshold."""
    quantity, trait = predicate.quantity, _compared(predicate)
    if trait is None:
        return replace(predicate, above=value)
    assert isinstance(quantity, Count)
    return replace(predicate, quantity=replace(quantity, traits=(replace(trait, value=value),)))


def _column_kind(predicate: Predicate, places: Places) -> ColumnKind | None:
    quantity, trait = predicate.quantity, _compared(predicate)
    if isinstance(quantity, Mean):
        return spec_of(places.schema, quantity.where).kinds[quantity.column]
    if trait is None or not isinstance(quantity, Count):
        return None
    return spec_of(places.schema, quantity.where).kinds[trait.column]


def _compared(predicate: Predicate) -> Holds | None:
    quantity = predicate.quantity
    if not isinstance(quantity, Count) or len(quantity.traits) != 1:
        return None
    (trait,) = quantity.traits
    return trait if isinstance(trait, Holds) and trait.test == "above" else None


def levels(places: Places, predicate: Predicate) -> np.ndarray:
    """(m,) what a predicate compares with its threshold, NaN where there is nothing.

    "At least two papers have a price above 3" is true where the second largest price is.
    """
    quantity, trait = predicate.quantity, _compared(predicate)
    if isinstance(quantity, Mean):
        return means(places, quantity.where, [quantity.column])[:, 0]
    assert isinstance(quantity, Count)
    assert trait is not None
    row, table = places.values(quantity.where, [trait.column])
    value = table.toarray()[row, 0] if len(row) else np.empty(0, np.float32)
    around = places.around(quantity.where)[:, places.items(quantity.where)].tocoo()
    known = ~np.isnan(value[around.col])
    place, value = around.row[known], value[around.col[known]]
    order = np.lexsort((-value, place))
    place, value = place[order], value[order]
    rank = np.arange(len(place)) - np.searchsorted(place, place)
    least = math.floor(predicate.above) + 1
    found = np.full(len(places), np.nan, np.float32)
    found[place[rank == least - 1]] = value[rank == least - 1]
    return found


def near_threshold(values: np.ndarray, value: float, share: float) -> tuple[float, float]:
    """The thresholds around one that have no more than a share of all places between them and it.

    Args:
        values: (m,) what is compared, as :func:`levels` gives it.
        value: the threshold.
        share: of the m places.
    """
    known, few = np.sort(values[~np.isnan(values)]), math.floor(share * len(values))
    if not len(known):
        return value, value
    at = int(np.searchsorted(known, np.float32(value), side="right"))
    low, high = known[max(0, at - few - 1)], known[min(len(known) - 1, at + few)]
    return min(float(low), value), max(float(high), value)


def _sorted(values: np.ndarray) -> _Levels:
    (known,) = np.nonzero(~np.isnan(values))
    order = known[np.argsort(-values[known], kind="stable")]
    return _Levels(values[order], order)


# -- where to cut -------------------------------------------------------------------------------------


def _best_cut(sought: _Levels, cost: np.ndarray) -> tuple[float, float] | None:
    """The threshold at which the places above it cost least in all, and what they cost; None where there is none."""
    total = np.cumsum(cost[sought.order])
    ends = np.flatnonzero(np.diff(sought.values)) + 1  # so many are above
    ends = ends[(ends >= _LEAST) & (ends <= len(cost) - _LEAST)]
    if not len(ends):
        return None
    best = int(ends[np.argmin(total[ends - 1])])
    return plain_number(float(sought.values[best]), float(sought.values[best - 1])), float(total[best - 1])


def plain_number(low: float, high: float) -> float:
    """A number with few digits from ``low``, which it may be, to below ``high``; both are 32-bit numbers."""
    middle = (low + high) / 2
    size = 0 if middle == 0 else math.floor(math.log10(abs(middle)))
    for digits in range(1, _DIGITS + 1):
        found = round(middle, digits - 1 - size)
        if low <= np.float32(found) < high:
            return found
    return low
