"""Models are asked about fewer real graphs than elsewhere, of the smallest and of the largest size among them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _few_graphs_are_compared() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dignn.sampling.division.COMPARED_GRAPHS", 8)
        yield
