"""Tables of comparisons: a table for each data set, means with spreads, the paper's figures beside ours."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def comparison(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import comparison

    return comparison


def a_run(dataset: str, name: str, seed: int = 0, pf: float = 0.5) -> dict[str, Any]:
    column = {"paper": {"pf": pf, "gf": 0.25}, "sound": {}}
    machine = {"cores": 2, "processor": "x86_64", "python": "3.11", "torch": "2"}
    costs = {"seconds": 12.5, "gib": 1.0, "scored": 2000}
    about = {"dataset": dataset, "preset": "fast", "budget": 1536, "names": [name], "seed": seed}
    return {**about, "candidates": column, "machine": machine, **costs}


def test_a_table_for_each_data_set_in_the_papers_order(comparison: ModuleType) -> None:
    runs = [
        a_run("planted", "xgnn"),
        a_run("mutag", "xgnn"),
        a_run("mutag", "xgnn", 1, 0.75),
        a_run("mutag", "random-tree"),
    ]
    first, mutag, second, planted, place = comparison.tables(runs)
    assert (first, second) == ("### MUTAG", "### planted")
    assert "2 cores (x86_64)" in place
    head, _, *rows = mutag.splitlines()
    assert head == "| explainer | PF | GF | seconds | GiB | scored | seeds | paper: PF, GF, s |"
    assert rows == [
        "| `random-tree` | 0.500 | 0.250 | 12.5 | 1.00 | 2,000 | 1 | - |",
        "| `xgnn` | 0.625 ± 0.177 | 0.250 ± 0.000 | 12.5 ± 0.0 | 1.00 ± 0.00 | 2,000 ± 0 | 2 | 0.952, 0.367, 27 |",
    ]
    assert "paper" not in planted  # the paper does not have it


def test_methods_stand_beside_each_other_under_one_rule_where_lines_tell(comparison: ModuleType) -> None:
    chosen = {"highest": {"typed_gf": 0.25}, "representative": {"typed_gf": 0.75}}
    runs = [{**a_run("mutag", "xgnn"), "selection": chosen}, a_run("mutag", "random-tree")]
    *_, table, _ = comparison.tables(runs)
    head, _, *rows = table.splitlines()
    assert head == "| under one rule | typed GF, highest | typed GF, representative | seeds |"
    assert rows == ["| `xgnn` | 0.250 | 0.750 | 1 |"]


def test_what_the_paper_says_of_dignnexplainer_is_what_explanations_are_held_against(comparison: ModuleType) -> None:
    table = comparison.tables([a_run("dblp", "dignnexplainer")])[1]
    assert table.endswith("| 1 | 0.999, 0.882, 5,875 |")


def test_the_papers_figures_stand_beside_the_rows_about_the_same_kind_of_model(comparison: ModuleType) -> None:
    """Its rivals explain a GCN of the converted graph; where there is one kind of node nothing is converted."""
    names = ["xgnn", "xgnn-homogeneous", "dignnexplainer", "dignnexplainer-gcn", "graphvae-homogeneous"]
    imdb, mutag = (comparison.tables([a_run(of, name) for name in names])[1] for of in ("imdb", "mutag"))

    def told(table: str) -> dict[str, str]:
        cells = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
        return {line[0].strip("`"): line[-1] for line in cells if line[-1] != "-"}

    assert told(imdb) == {
        "xgnn-homogeneous": "0.268, 0.627, 363",
        "dignnexplainer": "0.974, 0.913, 4,702",
        "dignnexplainer-gcn": "0.41, 0.85",
    }
    assert told(mutag) == {
        "xgnn": "0.952, 0.367, 27",
        "dignnexplainer": "1.0, 0.425, 6,910",
        "dignnexplainer-gcn": "1.0, 0.425",
    }


def test_without_runs_the_page_says_so(comparison: ModuleType) -> None:
    assert comparison.tables([]) == ["No runs yet."]


def test_runs_with_other_settings_are_not_of_the_tables(comparison: ModuleType) -> None:
    instead = ({"preset": "smoke"}, {"columns": {"by": "variance"}}, {"form": "paper"})
    others = [a_run("mutag", "xgnn") | other for other in instead]
    assert comparison.tables(others) == ["No runs yet."]


def test_what_was_recorded_is_not_made_again(comparison: ModuleType, tmp_path: Path) -> None:
    """A folder that is new, as on another machine, gets recorded lines of its budget; what it has stays."""
    lines, own = tmp_path / "it" / "comparison.jsonl", a_run("mutag", "xgnn") | {"run": "xgnn-0", "seconds": 1.0}
    recorded = [own | {"seconds": 2.0}, a_run("mutag", "xgnn", 1) | {"run": "xgnn-1"}]
    recorded.append(a_run("mutag", "xgnn", 2) | {"run": "xgnn-2", "budget": 0})
    comparison.restore(lines, [own])
    comparison.restore(lines, recorded)
    found = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [(run["run"], run["seconds"]) for run in found] == [("xgnn-0", 1.0), ("xgnn-1", 12.5)]
