"""A cache folder of the tests' own, and less work where a test makes a whole run only to look at something else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

# Tests that make whole runs; how well something is learned or measured is tested elsewhere.
WHOLE_RUNS = ("browser", "cli", "docs", "report", "test_dignnexplainer.py", "test_explainer.py", "test_guidance.py")
MEASURING = "test_metrics.py"  # the command that measures, among those of the command line


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Unless the caller names one: tests leave nothing in the user's home."""
    if "DIGNN_CACHE" not in os.environ:
        base = tmp_path_factory.getbasetemp()
        shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        os.environ["DIGNN_CACHE"] = str(Path(shared) / "dignn-cache")


@pytest.fixture(scope="module", autouse=True)
def _haste(request: pytest.FixtureRequest) -> Iterator[None]:
    """Classifiers, controls and calibration take most of the time of a small run."""
    where = request.path.relative_to(Path(__file__).parent)
    if where.parts[0] not in WHOLE_RUNS or where.name == MEASURING:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dignn.metrics.c2st.TREES", 2)
        patch.setattr("dignn.metrics.c2st.FOLDS", 2)
        patch.setattr("dignn.metrics.table.CONTROL_GRAPHS", 12)
        patch.setattr("dignn.features.absorbing_rows._ROWS", 100)
        yield
