"""Bars: what may not be used for a class, since it turned out not to matter or was never tried."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dignn.goes_by.predicates import Predicate


@dataclass(frozen=True, eq=False)
class Bars:
    """Predicates that may not be used for a class; of two classes, whose scorecards are one, for either.

    Args:
        classes: how many there are.
        tests: of classes that have bars, whether a predicate is barred.
        only: for each class, the only predicates that may be used at all; by default all may.
    """

    classes: int
    tests: Mapping[int, Callable[[Predicate], bool]] = field(default_factory=dict)
    only: Sequence[Collection[Predicate]] | None = None

    def __call__(self, place: int, predicate: Predicate) -> bool:
        """Whether a predicate may not be used for a class."""
        return any(self._bars(each, predicate) for each in (range(2) if self.classes == 2 else (place,)))

    def _bars(self, place: int, predicate: Predicate) -> bool:
        if self.only is not None and predicate not in self.only[place]:
            return True
        return place in self.tests and self.tests[place](predicate)

    def marks(self, predicates: Sequence[Predicate]) -> np.ndarray:
        """(C, p) the same of many. Only classes that have bars are looked at one predicate after the other."""
        found = np.zeros((self.classes, len(predicates)), dtype=bool)
        if self.only is not None:
            number = {predicate: column for column, predicate in enumerate(predicates)}
            for line, own in zip(found, self.only, strict=True):
                line[:] = True
                line[[number[each] for each in own if each in number]] = False
        for place, test in self.tests.items():
            found[place] |= np.fromiter(map(test, predicates), dtype=bool, count=len(predicates))
        return np.broadcast_to(found.any(0), found.shape) if self.classes == 2 else found
