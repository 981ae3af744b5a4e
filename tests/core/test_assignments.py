"""Words of the form TYPE=VALUE."""

from __future__ import annotations

import pytest

from dignn.core.assignments import parse_assignments
from dignn.core.errors import DignnError


def test_values_by_type() -> None:
    assert parse_assignments(["user=count", " item = 3 ", "a=b=c"], "") == {"user": "count", "item": "3", "a=b": "c"}
    assert parse_assignments([], "") == {}


@pytest.mark.parametrize("text", ["user", "=3", "user=", " = ", ""])
def test_what_says_nothing_is_named(text: str) -> None:
    with pytest.raises(DignnError, match=f"'{text}' does not say how much; write TYPE=NUMBER"):
        parse_assignments([text], "how much; write TYPE=NUMBER")


def test_a_type_stands_once() -> None:
    with pytest.raises(DignnError, match="'a' stands twice, with 1 and with 2; say it once"):
        parse_assignments(["a=1", "a = 2"], "how much")
