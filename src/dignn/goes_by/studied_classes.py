"""Which classes are looked at where there are very many: those that the model gives most often.

Nobody reads a thousand scorecards, and effects of only so many terms can be tried. So of more than a hundred classes a
hundred are looked at, and all others stand together as one more class, which has a base and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dignn.goes_by.barred import Bars
from dignn.goes_by.rule_sets import Rules
from dignn.goes_by.scorecards import Scorecard, Scorecards

# Classes that are looked at, at most.
STUDIED_CLASSES = 100


@dataclass(frozen=True, eq=False)
class StudiedClasses:
    """Classes that are looked at, numbered anew; what is left of all classes is the one after them.

    Args:
        every: how many classes there are.
        chosen: (L,) those that are looked at, ascending.
        rest: (C - L,) all others, those that the model gives most often first.
    """

    every: int
    chosen: np.ndarray
    rest: np.ndarray

    @classmethod
    def of(cls, answers: np.ndarray, every: int) -> StudiedClasses:
        """All classes; of more than :data:`STUDIED_CLASSES` those that are given most often, none that never is.

        Args:
            answers: (m,) the classes that a model gives.
            every: how many classes there are.
        """
        if every <= STUDIED_CLASSES:
            return cls(every, np.arange(every), np.empty(0, dtype=int))
        times = np.bincount(answers, minlength=every)
        order = np.argsort(-times, kind="stable")
        most = min(STUDIED_CLASSES, int((times > 0).sum()))
        return cls(every, np.sort(order[:most]), order[most:])

    @property
    def number(self) -> int:
        """Classes by the new numbers."""
        return len(self.chosen) + bool(len(self.rest))

    def answers(self, answers: np.ndarray) -> np.ndarray:
        """(m,) by the new numbers."""
        place = np.full(self.every, len(self.chosen))
        place[self.chosen] = np.arange(len(self.chosen))
        return place[answers]

    def said(self, probability: np.ndarray) -> np.ndarray:
        """(m, C) -> (m, number)"""
        if not len(self.rest):
            return probability
        own = probability[:, self.chosen]
        return np.column_stack([own, np.maximum(1 - own.sum(1), 0.0)])

    def bars(self, bars: Bars | None) -> Bars | None:
        """The same bars, and all that could be said of the rest."""
        if not len(self.rest):
            return bars
        tests, only = ({}, None) if bars is None else (bars.tests, bars.only)
        new = {place: tests[old] for place, old in enumerate(self.chosen.tolist()) if old in tests}
        return Bars(
            self.number,
            {**new, len(self.chosen): lambda _: True},
            None if only is None else [*(only[old] for old in self.chosen.tolist()), ()],
        )

    def cards(self, found: Scorecards) -> Scorecards:
        """Of all classes again; those of the rest share what it scores."""
        if not len(self.rest):
            return found
        share = round(found.cards[-1].base - math.log(len(self.rest)), 2)
        several = [Scorecard(share, ())] * self.every
        for old, card in zip(self.chosen.tolist(), found.cards, strict=False):
            several[old] = card
        return Scorecards(tuple(several))

    def rules(self, found: Rules) -> Rules:
        """Of all classes again."""
        if not len(self.rest):
            return found
        several = dict(zip(self.chosen.tolist(), found.by_class, strict=False))
        otherwise = int([*self.chosen, self.rest[0]][found.otherwise])
        return Rules(tuple(several.get(place, ()) for place in range(self.every)), otherwise)
