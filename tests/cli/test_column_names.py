"""Names of feature columns from a JSON file."""

from __future__ import annotations

from pathlib import Path

import pytest

from dignn.cli.column_names import Named, load_names
from dignn.core.errors import DignnError


def test_names_are_lists_of_text_by_type(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    path.write_text('{"author": ["mining", "query"]}')
    assert load_names(path) == Named({"author": ["mining", "query"]})
    for wrong, message in (("[1]", "must hold a list of names"), ('{"a": [1]}', "must hold"), ("{", "is not JSON")):
        path.write_text(wrong)
        with pytest.raises(DignnError, match=message):
            load_names(path)
    with pytest.raises(DignnError, match="cannot be read"):
        load_names(tmp_path / "other.json")


def test_kinds_stand_beside_names(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    path.write_text('{"paper": ["year", "x"], "kinds": {"paper": {"year": "count", "1": "binary"}, "user": "count"}}')
    assert load_names(path) == Named(
        {"paper": ["year", "x"]}, {"paper": {"year": "count", "1": "binary"}, "user": "count"}
    )
    path.write_text('{"kinds": ["a", "b"]}')  # a node type of that name
    assert load_names(path) == Named({"kinds": ["a", "b"]})
    for wrong in ('{"kinds": {"paper": 3}}', '{"kinds": {"paper": {"year": 3}}}', '{"kinds": {"paper": ["count"]}}'):
        path.write_text(wrong)
        with pytest.raises(DignnError, match="The kinds of .* must be texts by node type, or by column"):
            load_names(path)
