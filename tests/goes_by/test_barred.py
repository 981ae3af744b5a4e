"""What may not be used for a class, asked one by one and all together."""

from __future__ import annotations

import numpy as np
import pytest

from dignn.goes_by.barred import Bars
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around

FIRST, SECOND, THIRD = EVERY = [Predicate(Count(Around("author"), (Holds(column),))) for column in range(3)]


@pytest.mark.parametrize(
    ("bars", "expected"),
    [
        (Bars(3), [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
        (Bars(3, {1: lambda one: one == SECOND}), [[0, 0, 0], [0, 1, 0], [0, 0, 0]]),
        (Bars(3, only=[[FIRST], [], EVERY]), [[0, 1, 1], [1, 1, 1], [0, 0, 0]]),
        (Bars(3, {2: lambda one: one == FIRST}, [[FIRST], [], EVERY]), [[0, 1, 1], [1, 1, 1], [1, 0, 0]]),
        (Bars(2, {1: lambda one: one == SECOND}), [[0, 1, 0], [0, 1, 0]]),  # two classes have one scorecard
        (Bars(2, only=[[FIRST, SECOND], [SECOND, THIRD]]), [[1, 0, 1], [1, 0, 1]]),
    ],
)
def test_what_is_barred(bars: Bars, expected: list[list[int]]) -> None:
    marks = bars.marks(EVERY)
    assert np.array_equal(marks, np.array(expected, dtype=bool))
    assert [[bars(place, one) for one in EVERY] for place in range(bars.classes)] == marks.tolist()


def test_classes_without_bars_cost_nothing() -> None:
    """Of very many classes few have bars, and asking each about all predicates would take minutes."""
    asked = []
    marks = Bars(1000, {7: lambda one: asked.append(one) or one == THIRD}).marks(EVERY)
    assert asked == EVERY
    assert np.argwhere(marks).tolist() == [[7, 2]]
