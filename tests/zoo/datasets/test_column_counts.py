"""How many columns are wanted, read from words."""

from __future__ import annotations

import pytest

from dignn.core.errors import DignnError
from dignn.zoo.datasets.column_counts import parse_columns


def test_columns_are_parsed() -> None:
    assert parse_columns(["author=50", " paper = 4 "]) == {"author": 50, "paper": 4}
    assert parse_columns(["movie=10", "director=movie"]) == {"movie": 10, "director": "movie"}
    assert parse_columns(["a=b=3"]) == {"a=b": 3}
    assert parse_columns([]) == {}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["author"], "'author' does not say how many columns; write TYPE=NUMBER"),
        (["author="], "'author=' does not say how many columns"),
        (["=5"], "'=5' does not say how many columns"),
        (["author=0"], "'author' cannot have 0 columns; give a whole number of at least 1"),
        (["author=-3"], "'author' cannot have -3 columns"),
        (["author=2.5"], r"'author' cannot have 2\.5 columns"),
        (["author=5", "author=6"], "'author' stands twice, with 5 and with 6; say it once"),
    ],
)
def test_what_cannot_be_parsed(texts: list[str], message: str) -> None:
    with pytest.raises(DignnError, match=message):
        parse_columns(texts)
