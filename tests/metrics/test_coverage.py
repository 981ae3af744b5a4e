"""Coverage: shares by slow loops, more explanations cover more, and Wilson's interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from dignn.metrics.measures.coverage import TOP_NUMBERS, coverage
from dignn.selection.members import NEAR, Members
from strategies import PROPERTY


def members(embedding: np.ndarray, apart: np.ndarray | None = None) -> Members:
    values = np.linspace(0, 1, len(embedding))
    return Members(0, values, values, embedding, values if apart is None else np.sort(apart))


@PROPERTY
@given(st.integers(1, 30), st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_shares_by_slow_loops(count: int, explanations: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shown, points = rng.normal(size=(explanations, 2)) * 2, rng.normal(size=(count, 2)) * 2
    known = members(rng.normal(size=(25, 2)), rng.random(25))
    found = coverage([shown], [known], [members(points)])["by_class"][0]
    radius = np.quantile(known.apart, NEAR)
    for number in TOP_NUMBERS:
        hits = [any(math.dist(point, one) <= radius for one in shown[:number]) for point in points]
        assert found[str(number)]["share"] == pytest.approx(sum(hits) / count)
        interval = binomtest(sum(hits), count).proportion_ci(0.95, method="wilson")
        # 1.96 instead of 1.95996...
        assert found[str(number)]["interval"] == pytest.approx([interval.low, interval.high], abs=1e-4)


@PROPERTY
@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_it_rises_with_the_number_of_explanations(explanations: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shown = [rng.normal(size=(explanations, 3)) for _ in range(2)]
    known, new = ([members(rng.normal(size=(40, 3)), rng.random(40)) for _ in range(2)] for _ in range(2))
    mean = coverage(shown, known, new)["mean"]
    values = [mean[str(number)] for number in sorted(TOP_NUMBERS)]
    assert values == sorted(values)
    assert all(0 <= value <= 1 for value in values)


def test_explanations_that_are_the_members_cover_all_and_far_ones_none() -> None:
    points = np.random.default_rng(0).normal(size=(10, 2)) * 100
    known = members(points, np.full(10, 0.01))
    shown = coverage([points, points + 1e6], [known] * 2, [known] * 2)
    assert [values["10"]["share"] for values in shown["by_class"]] == [1.0, 0.0]
    assert [values["1"]["share"] for values in shown["by_class"]] == [0.1, 0.0]
    assert shown["mean"] == {"10": 0.5, "1": 0.05, "3": pytest.approx(0.15), "50": 0.5}
    for values in shown["by_class"]:
        for number in TOP_NUMBERS:
            low, high = values[str(number)]["interval"]
            assert 0 <= low <= values[str(number)]["share"] <= high <= 1


def test_the_known_members_say_what_is_near() -> None:
    points = np.arange(10.0)[:, None]
    wide, narrow = (members(points, np.full(10, radius)) for radius in (2.0, 0.5))
    found = coverage([points[:1]] * 2, [wide, narrow], [members(points)] * 2)
    assert [values["1"]["share"] for values in found["by_class"]] == [0.3, 0.1]


def test_classes_about_which_nothing_can_be_said() -> None:
    points = np.zeros((5, 2))
    some, none = members(points, np.ones(5)), members(points[:0])
    found = coverage([points[:0], points, points, points], [some, none, some, some], [some, some, none, some])
    assert found["by_class"][:3] == [None, None, None]
    assert found["by_class"][3]["10"]["share"] == found["mean"]["10"] == 1.0
    nothing = coverage([points[:0]], [some], [some])
    assert nothing == {"mean": dict.fromkeys(map(str, TOP_NUMBERS)), "by_class": [None]}
