"""What all tests have: a cache folder of their own, a logger as at first, and less work where whole runs are seen."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: looking for garbage among them again and again took a tenth of the time."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Unless the caller names one: tests leave nothing in the user's home."""
    if "DIGNN_CACHE" not in os.environ:
        base = tmp_path_factory.getbasetemp()
        shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        os.environ["DIGNN_CACHE"] = str(Path(shared) / "dignn-cache")


@pytest.fixture(autouse=True)
def _no_command_has_run() -> Iterator[None]:
    """Commands set the library's logger up for their process; every test finds it as whoever imports the library."""
    yield
    logger = logging.getLogger("dignn")
    logger.handlers.clear()
    logger.setLevel(logging.NOTSET)


@pytest.fixture(scope="module")
def haste() -> Iterator[None]:
    """For files that make whole runs to look at something else: ``pytestmark = pytest.mark.usefixtures("haste")``."""
    from small_runs import less_work  # here, because it loads torch, which not every test needs

    with less_work():
        yield


@pytest.fixture
def all_compared(haste: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of what haste shortens: on how many real graphs a model's answers are compared."""
    monkeypatch.setattr("dignn.sampling.division.COMPARED_GRAPHS", 32)
