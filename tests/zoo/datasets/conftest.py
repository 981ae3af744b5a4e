"""Where the real data sets are: tests that need them skip on a machine without."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_DATA = os.environ.get("DIGNN_DATA")  # before any test changes it


@pytest.fixture
def dignn_data() -> Path:
    """The folder with the raw files of DBLP, IMDB, MUTAG and BA-3Motif."""
    if not _DATA:
        pytest.skip("needs the raw files of the real data sets; set DIGNN_DATA to the folder that has them")
    return Path(_DATA)
