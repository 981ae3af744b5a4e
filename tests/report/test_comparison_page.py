"""The page of a comparison: which figures are the best of their column."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dignn.report.comparison_page import write_comparison


def a_run(name: str, c2st: float, pf: float) -> dict[str, Any]:
    column = {"paper": {"pf": pf, "mmd": {"degree": 0.1}}, "sound": {"graphs": {"c2st": c2st}}}
    costs = {"seconds": 2.0, "gib": 1.0, "scored": 100, "valid": 50}
    return {"run": f"{name}-0", "names": [name], "seed": 0, **column, **costs, "candidates": column}


def test_the_best_of_a_column_is_bold_and_no_classifier_is_worse_than_chance(tmp_path: Path) -> None:
    """Of .36, .5 and .7 the first two are as near to real graphs as can be told."""
    rows = {name: [a_run(name, c2st, pf)] for name, c2st, pf in (("a", 0.36, 0.9), ("b", 0.5, 0.8), ("c", 0.7, 0.95))}
    page = write_comparison(tmp_path / "page.html", "it", rows, {}).read_text()
    bold = re.findall(r"<b>([\d.]+)</b>", page)
    assert [value for value in bold if value in ("0.360", "0.500", "0.700")] == ["0.360", "0.500"]
    assert [value for value in bold if value in ("0.900", "0.800", "0.950")] == ["0.950"]


def test_methods_stand_beside_each_other_under_one_rule_as_well(tmp_path: Path) -> None:
    """Where their lines tell what that rule would choose; a row that does not is left out of that table."""
    chosen = {"highest": {"typed_gf": 0.123}, "representative": {"typed_gf": 0.987}}
    rows = {"new": [{**a_run("new", 0.5, 0.9), "selection": chosen}], "old": [a_run("old", 0.5, 0.8)]}
    page = write_comparison(tmp_path / "page.html", "it", rows, {}).read_text()
    own, one_rule = page.split("Under one rule for all")
    assert "0.123" not in own
    assert re.findall(r"0\.123|0\.987", one_rule) == ["0.123", "0.987"]
    assert ">old<" in own
    assert ">old<" not in one_rule
    assert "Under one rule" not in write_comparison(tmp_path / "page.html", "it", {"old": rows["old"]}, {}).read_text()
