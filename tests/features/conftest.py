"""Small tables are learned here as large ones are, so that tests are fast; tests of types with few members say so.

Likewise generated rows are brought to the frequencies of the data by fewer rows than elsewhere; tests of that say so.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dignn.features.ditabddpm import absorbing_rows

ROWS = absorbing_rows._ROWS


@pytest.fixture(scope="module", autouse=True)
def _few_are_learned() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dignn.features.generator_choice.FEW_MEMBERS", 0)
        patch.setattr(absorbing_rows, "_ROWS", 2048)
        yield


@pytest.fixture
def as_many_rows_as_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(absorbing_rows, "_ROWS", ROWS)
