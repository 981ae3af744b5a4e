"""The API reference names what there is."""

from __future__ import annotations

import re

import dignn
from docs.blocks import ROOT

API = ROOT / "docs" / "api"


def test_the_table_of_public_names_is_what_the_package_gives() -> None:
    table = [line for line in (API / "index.md").read_text().splitlines() if line.startswith("| [`")]
    told = {name for line in table for name in re.findall(r"`(\w+)`", line)}
    assert told == set(dignn.__all__)
    for name in told:
        assert getattr(getattr(dignn, name), "__name__", name) == name  # presets are no class


def test_public_names_are_described_under_the_name_that_is_imported() -> None:
    described = set(re.findall(r"(?m)^::: dignn\.(\w+)$", "".join(page.read_text() for page in API.glob("*.md"))))
    assert set(dignn.__all__) - {"DignnError"} <= described  # errors are described as a module
