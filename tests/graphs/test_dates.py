"""Values of dates as calendar dates."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dignn.core.errors import SchemaError
from dignn.graphs.dates import calendar, check_epoch
from strategies import PROPERTY


@PROPERTY
@given(st.dates(date(1600, 1, 1), date(2400, 1, 1)), st.integers(-200_000, 200_000))
def test_days_are_those_of_the_calendar(epoch: date, days: int) -> None:
    assert calendar(days, "days", epoch.isoformat()) == (epoch + timedelta(days=days)).isoformat()


@pytest.mark.parametrize(
    ("value", "unit", "epoch", "text"),
    [
        (2015, "years", "0000-01-01", "2015"),
        (45, "years", "1970-01-01", "2015"),
        (45.5, "years", "1970-01-01", "2015-07-02"),
        (1_425_168_000, "seconds", "1970-01-01", "2015-03-01 00:00"),
        (90, "minutes", "2000-12-31", "2000-12-31 01:30"),
        (-1, "hours", "1970-01-01", "1969-12-31 23:00"),
        (735_657, "days", "0001-01-01", "2015-03-01"),
        (1.5, "days", "1970-01-01", "1970-01-02"),
        (1e12, "days", "1970-01-01", "1e+12 days from 1970-01-01"),
        (float("inf"), "days", "1970-01-01", "inf days from 1970-01-01"),
    ],
)
def test_values_in_words(value: float, unit: str, epoch: str, text: str) -> None:
    assert calendar(value, unit, epoch) == text


@pytest.mark.parametrize("epoch", ["yesterday", "1970", "1970-13-01", "0000-02-30", ""])
def test_what_is_no_date_is_refused(epoch: str) -> None:
    with pytest.raises(SchemaError, match="write it as YYYY-MM-DD"):
        check_epoch(epoch)


def test_the_year_0_is_a_leap_year_before_the_year_1() -> None:
    check_epoch("0000-02-29")
    assert calendar(366, "days", "0000-01-01") == "0001-01-01"
