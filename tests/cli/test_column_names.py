"""Names of feature columns from a JSON file."""

from __future__ import annotations

from pathlib import Path

import pytest

from dignn.cli.column_names import load_names
from dignn.core.errors import DignnError


def test_names_are_lists_of_text_by_type(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    path.write_text('{"author": ["mining", "query"]}')
    assert load_names(path) == {"author": ["mining", "query"]}
    for wrong, message in (("[1]", "must hold a list of names"), ('{"a": [1]}', "must hold"), ("{", "is not JSON")):
        path.write_text(wrong)
        with pytest.raises(DignnError, match=message):
            load_names(path)
    with pytest.raises(DignnError, match="cannot be read"):
        load_names(tmp_path / "other.json")
