"""The tables and the page in ``docs`` are what the committed lines of runs give: ``make results-page`` writes them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dignn.cli.recorded_runs import recorded_runs
from dignn.cli.reproduced_runs import RUN_LINES
from dignn.reproduce.filled import filled
from dignn.reproduce.registry import TABLES
from dignn.reproduce.results_page import results_page
from dignn.reproduce.runs import Finished
from dignn.reproduce.table_files import read_tables

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"


@pytest.fixture(scope="module")
def committed() -> Finished:
    """Runs of the files that the Makefile names, in its order, then those of the folder itself."""
    found = re.search(r"^RECORDED := \$\(patsubst %,(.*?)%(.*?),(.*)\)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert found is not None
    before, after, names = found.groups()
    own = RESULTS / RUN_LINES
    return Finished(
        recorded_runs([*(ROOT / f"{before}{name}{after}" for name in names.split()), *([own] if own.is_file() else [])])
    )


@pytest.mark.parametrize("name", [one.name for one in TABLES.values() if not one.by_name_only])
def test_tables_follow_from_the_lines(name: str, committed: Finished) -> None:
    there = read_tables(RESULTS)[name]
    assert json.loads(json.dumps(filled(TABLES[name], committed, there["preset"]))) == there, "run `make results-page`"


def test_the_page_follows_from_the_tables() -> None:
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert page == results_page(read_tables(RESULTS)), "run `make results-page`"
