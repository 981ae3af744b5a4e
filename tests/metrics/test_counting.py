"""Shares and their intervals."""

from __future__ import annotations

import pytest

from dignn.metrics.counting import interval, mean, share


def test_the_interval_of_a_share() -> None:
    assert interval(0.5, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert interval(1.0, 1000) == pytest.approx((0.9962, 1.0), abs=1e-4)
    assert interval(0.0, 3)[0] == 0.0
    assert interval(0.3, 10)[1] - interval(0.3, 10)[0] > interval(0.3, 1000)[1] - interval(0.3, 1000)[0]


def test_nothing_has_no_mean() -> None:
    assert (mean([]), mean([None]), mean([None, 2.0, 4.0])) == (None, None, 3.0)
    assert (share([]), share([True, False])) == (None, 0.5)
