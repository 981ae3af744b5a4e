"""Who decides where several conjunctions of several classes hold: the most precise one.

Rules and class expressions both end here, so that they differ in what a conjunction can say and in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

# Agreement, summed over classes, that one must bring to stay.
_NEEDED = 0.005
_What = TypeVar("_What")


@dataclass(frozen=True, eq=False)
class Decider(Generic[_What]):
    """One that speaks for a class where it holds.

    Args:
        what: a rule, or an expression.
        precision: how likely its class is there, all classes being equally frequent.
        holds: (m,) bool, where.
    """

    what: _What
    precision: float
    holds: np.ndarray

    @classmethod
    def of(cls, what: _What, holds: np.ndarray, own: np.ndarray, weight: np.ndarray) -> Decider[_What]:
        """With the precision that it has.  own: (m,) bool, places of the class; weight: (m,) of places"""
        return cls(what, float((weight * own)[holds].sum() / max(weight[holds].sum(), 1e-12)), holds)


def decided(held: Sequence[np.ndarray], precision: Sequence[Sequence[float]], otherwise: int) -> np.ndarray:
    """(m,) the class of the most precise one that holds.

    Args:
        held: for each class (m, r) bool, where each of its r holds.
        precision: for each class, of its r.
        otherwise: the class where none holds.
    """
    parts = [(here * np.array(own, dtype=float)).max(1, initial=0.0) for here, own in zip(held, precision, strict=True)]
    worth = np.stack(parts, axis=1)
    return np.where(worth.any(1), worth.argmax(1), otherwise)


def needed(
    several: Sequence[Sequence[Decider[_What]]], answers: np.ndarray, weight: np.ndarray
) -> tuple[list[list[Decider[_What]]], int, float]:
    """Those that agreement needs, of each class, the class where none holds, and agreement. The least precise go first.

    Args:
        several: for each class, those that speak for it.
        answers: (m,) the classes that a model gives.
        weight: (m,) of places, the same for every class; agreement is the weight of the answers that are given.
    """
    kept, standing = [list(own) for own in several], _Standing(several, answers, weight)
    otherwise, most = standing.agreement()
    every = [(place, one) for place, own in enumerate(kept) for one in own]
    for place, one in sorted(every, key=lambda each: each[1].precision):
        before = kept[place]
        kept[place] = [other for other in before if other is not one]
        undo = standing.without(place, one, kept[place])
        left, right = standing.agreement()
        if right >= most - _NEEDED:
            otherwise, most = left, max(most, right)
        else:
            kept[place] = before
            undo()
    return kept, otherwise, most


class _Standing:
    """What is decided everywhere, kept so that one that goes changes only the places where it holds.

    Arguments are those of :func:`needed`.
    """

    def __init__(self, several: Sequence[Sequence[Decider[_What]]], answers: np.ndarray, weight: np.ndarray) -> None:
        count = len(answers)
        self._answers, self._weight, self._classes = answers, weight, len(several)
        self._times = np.zeros(count, dtype=int)
        self._worth = np.zeros((count, len(several)))
        for place, own in enumerate(several):
            for one in own:
                self._times += one.holds
            self._worth[:, place] = _worth(own, np.arange(count))
        self._given = self._best(np.arange(count))

    def _best(self, rows: np.ndarray) -> np.ndarray:
        """(r,) the class of the most precise one that holds; -1 where none does."""
        worth = self._worth[rows]
        return np.where(worth.any(1), worth.argmax(1), -1)

    def without(self, place: int, one: Decider[_What], others: Sequence[Decider[_What]]) -> Callable[[], None]:
        """Takes one of a class away, of which ``others`` stay; gives what takes this back."""
        (rows,) = np.nonzero(one.holds)
        worth, given = self._worth[rows, place], self._given[rows]
        self._times[rows] -= 1
        self._worth[rows, place] = _worth(others, rows)
        self._given[rows] = self._best(rows)

        def undo() -> None:
            self._times[rows] += 1
            self._worth[rows, place], self._given[rows] = worth, given

        return undo

    def agreement(self) -> tuple[int, float]:
        """The class that is given best where none holds, and the weight of the answers that are given then."""
        uncovered = self._weight * (self._times == 0)
        left = int(np.bincount(self._answers, uncovered, minlength=self._classes).argmax())
        given = np.where(self._given < 0, left, self._given)
        return left, float((self._weight * (given == self._answers)).sum())


def _worth(own: Sequence[Decider[_What]], rows: np.ndarray) -> np.ndarray:
    """(r,) the precision of the most precise one of a class that holds."""
    return np.max([one.precision * one.holds[rows] for one in own], axis=0, initial=0.0) if own else np.zeros(len(rows))
