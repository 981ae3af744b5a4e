"""Small tables are learned here as large ones are, so that tests are fast; tests of types with few members say so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _few_are_learned() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dignn.features.generator_choice.FEW_MEMBERS", 0)
        yield
