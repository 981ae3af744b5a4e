"""Growths are made a few at a time, as they are needed: tests train for fewer steps than those made at once serve."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dignn.structure.node_growth.generator import NodeGrowth


@pytest.fixture(scope="module", autouse=True)
def _few_growths_at_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NodeGrowth._batches, "__defaults__", (100,))
        yield
