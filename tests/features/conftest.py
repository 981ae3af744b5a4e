"""Small tables are learned here as large ones are, so that tests are fast; tests of types with few members say so.

Likewise fewer rows than elsewhere are generated to bring them to the frequencies of the data, to those of classes, and
to hold together; tests of that say so.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dignn.features.ditabddpm import absorbing_rows, class_strength, column_binding

FEWER = [(absorbing_rows, "_ROWS", 2048), (class_strength, "MADE_ROWS", 256), (column_binding, "BOUND_ROWS", 256)]
ROWS = [(module, name, getattr(module, name)) for module, name, _ in FEWER]


@pytest.fixture(scope="module", autouse=True)
def _few_are_learned() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dignn.features.generator_choice.FEW_MEMBERS", 0)
        for module, name, rows in FEWER:
            patch.setattr(module, name, rows)
        yield


@pytest.fixture
def as_many_rows_as_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, rows in ROWS:
        monkeypatch.setattr(module, name, rows)
