"""Kinds of features on the command line."""

from __future__ import annotations

import pytest

from dignn.cli.feature_kinds import parse_kinds
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
    ],
)
def test_what_says_nothing_is_named(texts: list[str], message: str) -> None:
    with pytest.raises(DignnError, match=message):
        parse_kinds(texts)
