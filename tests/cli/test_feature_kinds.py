"""Kinds of features on the command line."""

from __future__ import annotations

import pytest

from dignn.cli.feature_kinds import joined_kinds, parse_kinds
from dignn.core.errors import DignnError


def test_kinds_by_type() -> None:
    assert parse_kinds(["user=categorical", "item = count", "a=b=binary"]) == {
        "user": "categorical",
        "item": "count",
        "a=b": "binary",
    }
    assert parse_kinds([]) == {}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["user"], "'user' does not say of which kind; write TYPE=KIND"),
        (["=count"], "does not say of which kind"),
        (["user="], "does not say of which kind"),
        (["user=count", "user=binary"], "'user' stands twice, with count and with binary; say it once"),
        (["user=count", "user:age=binary"], "'user' is said of all its columns and of single ones"),
        (["user:age=binary", "user=count"], "'user' is said of all its columns and of single ones"),
        (["user:=count"], "'user:' names no column; write TYPE:COLUMN=KIND"),
        ([":age=count"], "':age' names no column"),
    ],
)
def test_what_says_nothing_is_named(texts: list[str], message: str) -> None:
    with pytest.raises(DignnError, match=message):
        parse_kinds(texts)


def test_kinds_by_column() -> None:
    assert parse_kinds(["paper:year=date:days:1970-01-01", "paper:3=count", "a:b:c=one-hot:x", "user=count"]) == {
        "paper": {"year": "date:days:1970-01-01", "3": "count"},
        "a": {"b:c": "one-hot:x"},
        "user": "count",
    }


def test_the_command_line_goes_before_the_file() -> None:
    file = {"paper": {"year": "count", "x": "binary"}, "user": "count", "item": "binary"}
    line = parse_kinds(["paper:year=continuous", "user:age=count", "item=count"])
    assert joined_kinds(file, line) == {
        "paper": {"year": "continuous", "x": "binary"},
        "user": {"age": "count"},
        "item": "count",
    }
