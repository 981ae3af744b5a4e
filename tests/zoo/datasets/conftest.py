"""Where the real data sets are: tests that need them skip on a machine without. What takes seconds is read once."""

from __future__ import annotations

import os
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load

_DATA = os.environ.get("DIGNN_DATA")  # before any test changes it


@pytest.fixture(scope="session")
def dignn_data() -> Path:
    """The folder with the raw files of DBLP, IMDB, MUTAG and BA-3Motif."""
    if not _DATA:
        pytest.skip("needs the raw files of the real data sets; set DIGNN_DATA to the folder that has them")
    return Path(_DATA)


@pytest.fixture(scope="session")
def dblp(dignn_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Not to be changed."""
    return quietly_loaded("dblp", dignn_data, tmp_path_factory.mktemp("dblp"))


@pytest.fixture(scope="session")
def imdb(dignn_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Not to be changed."""
    return quietly_loaded("imdb", dignn_data, tmp_path_factory.mktemp("imdb"))


@pytest.fixture(scope="session")
def others(dignn_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Dataset]:
    """MUTAG and BA-3Motif; not to be changed."""
    names = ("mutag", "ba-3motif")
    return {name: quietly_loaded(name, dignn_data, tmp_path_factory.mktemp(name)) for name in names}


def quietly_loaded(name: str, data: Path, cache: Path) -> Dataset:
    """A data set, of which loading writes nothing beside the raw files and says nothing."""
    before, said = sorted(data.rglob("*")), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(said):
        patch.setenv("DIGNN_CACHE", str(cache))
        found = load(name)
    assert sorted(data.rglob("*")) == before
    assert said.getvalue() == ""
    return found
