"""Who decides where several conjunctions of several classes hold: the most precise one.

Rules and class expressions both end here, so that they differ in what a conjunction can say and in nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    kept = [list(own) for own in several]
    otherwise, most = _agreement(kept, answers, weight)
    every = [(place, one) for place, own in enumerate(kept) for one in own]
    for place, one in sorted(every, key=lambda each: each[1].precision):
        before = kept[place]
        kept[place] = [other for other in before if other is not one]
        left, right = _agreement(kept, answers, weight)
        if right >= most - _NEEDED:
            otherwise, most = left, max(most, right)
        else:
            kept[place] = before
    return kept, otherwise, most


def _agreement(
    several: Sequence[Sequence[Decider[_What]]], answers: np.ndarray, weight: np.ndarray
) -> tuple[int, float]:
    """The class that is given best where none holds, and the weight of the answers that are given then."""
    held = [
        np.stack([one.holds for one in own], axis=1) if own else np.zeros((len(answers), 0), dtype=bool)
        for own in several
    ]
    covered = np.any([here.any(1) for here in held], axis=0)
    left = int(np.bincount(answers, weight * ~covered, minlength=len(several)).argmax())
    given = decided(held, [[one.precision for one in own] for own in several], left)
    return left, float((weight * (given == answers)).sum())
