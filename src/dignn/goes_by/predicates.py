"""Predicates: what is true of a place or not, in a form that people can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dignn.goes_by.places import Places
from dignn.goes_by.quantities import Quantity, amounts

# Quantities that are looked at together: bounds memory.
_AT_ONCE = 1024


@dataclass(frozen=True)
class Predicate:
    """A quantity lies above a number.

    Args:
        quantity: of the place.
        above: the number; 1.5 stands for "at least two".
        holds: False for the negation.
    """

    quantity: Quantity
    above: float = 0.5
    holds: bool = True

    @property
    def absent(self) -> Predicate:
        """Its negation."""
        return replace(self, holds=not self.holds)


def truth(places: Places, predicates: Sequence[Predicate]) -> np.ndarray:
    """(m, p) bool: which predicates are true of which places. What was asked once is remembered."""
    known = places.known
    new = dict.fromkeys(one for each in predicates if (one := replace(each, holds=True)) not in known)
    quantities: dict[Quantity, list[Predicate]] = {}
    for predicate in new:
        quantities.setdefault(predicate.quantity, []).append(predicate)
    every = list(quantities)
    for begin in range(0, len(every), _AT_ONCE):
        some = every[begin : begin + _AT_ONCE]
        for quantity, amount in zip(some, amounts(places, some).T, strict=True):
            for predicate in quantities[quantity]:
                known[predicate] = amount > np.float32(predicate.above)
    found = np.empty((len(predicates), len(places)), dtype=bool)
    for number, predicate in enumerate(predicates):
        true = known[replace(predicate, holds=True)]
        found[number] = true if predicate.holds else ~true
    return found.T
