"""The page on own models: every row of what works names a test that there is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_row_names_a_test() -> None:
    page = (ROOT / "docs" / "own-model.md").read_text(encoding="utf-8")
    rows = [line for line in page[page.index("## What works") :].splitlines() if line.startswith("| ")][1:]
    files = list((ROOT / "tests").rglob("test_*.py"))
    known = {path.stem for path in files}
    known.update(name for path in files for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE))
    assert len(rows) > 15
    for row in rows:
        works, named = row.strip("| ").split(" | ")[-2:] if row.count("`test_") else (row, "")
        assert named.strip("` ") in known or "| no |" in row, f"{works}: {named}"
