"""A cache folder of the tests' own, unless the caller names one: tests leave nothing in the user's home."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    if "DIGNN_CACHE" not in os.environ:
        base = tmp_path_factory.getbasetemp()
        shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        os.environ["DIGNN_CACHE"] = str(Path(shared) / "dignn-cache")
