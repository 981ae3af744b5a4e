"""Tables of fidelity: a row for each run, the last of a data set and seed, in the order of goals; who wins where."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import fidelity_tables

    return fidelity_tables


def figure(value: float) -> dict[str, Any]:
    return {"value": value, "interval": [value - 0.1, value + 0.1]}


def told(value: float) -> dict[str, Any]:
    rule = {"precision": figure(0.9), "recall": None, "holds": 3}
    return {
        "found_on": 100,
        "cpu_seconds": 1.25,
        "places": 50,
        "things": 7,
        "terms": 12,
        "scorecard": figure(value),
        "auc": figure(0.9),
        "frontier": {str(terms): figure(terms / 100) for terms in (3, 6, 12, 25, 50)},
        "rules": figure(0.5),
        "by_rule": [[rule, {**rule, "precision": figure(0.7)}], []],
        "majority": 0.25,
    }


def a_run(dataset: str, value: float, noise: dict[str, Any] | None) -> dict[str, Any]:
    machine = {"cores": 2, "processor": "x86_64", "python": "3.11", "torch": "2"}
    parts = {"generated": told(value), "floor": told(0.8), "column_noise": noise, "tree": {"agreement": figure(0.6)}}
    return {"dataset": dataset, "seed": 0, "graphs": 900, "machine": machine, "commit": "abc", **parts}


def test_rows(benchmark: ModuleType) -> None:
    runs = [a_run("imdb", 0.5, None), a_run("planted", 0.1, None), a_run("planted", 0.96, told(0.3))]
    first, frontier, rules, where = benchmark.tables(runs)
    planted, imdb = first.splitlines()[2:]
    assert planted.startswith(
        "| planted | 0 | 900 | 0.95 | 0.960 (0.860 to 1.060) | 12 | 0.900 | 0.500 (0.400 to 0.600) |"
    )
    assert planted.endswith("| 0.800 | 0.500 | 0.300 | 0.600 | 0.250 | 1.2 |")
    assert imdb.endswith("| 0.800 | 0.500 | - | 0.600 | 0.250 | 1.2 |")
    assert frontier.splitlines()[2] == "| planted | 0 | 900 | 100 | 0.030 | 0.060 | 0.120 | 0.250 | 0.500 | 50 | 7 |"
    del runs[0]["generated"]["things"]
    assert benchmark.tables(runs)[1].splitlines()[3].endswith("| 50 | - |")
    assert rules.splitlines()[3] == "| imdb | 0 | 900 | 2 | 0.800 (0.700 to 0.900) | - |"
    assert "By the code of abc." in where


def test_without_runs(benchmark: ModuleType) -> None:
    assert benchmark.tables([]) == benchmark.rival_tables([]) == ["No runs yet."]
    old = a_run("imdb", 0.5, None)
    assert benchmark.rival_tables([old]) == ["No runs yet."]


# -- beside others ------------------------------------------------------------------------------------


def against(benchmark: ModuleType, dataset: str, seed: int, value: float, **rivals: float) -> dict[str, Any]:
    """A run whose scorecards agree so far, rules by .5, and rivals as they are given or by .3."""

    def rival(agreement: float) -> dict[str, Any]:
        own = {"scorecard_ahead": figure(value - agreement), "rules_ahead": figure(0.5 - agreement)}
        return {"agreement": figure(agreement), "cpu_seconds": 10 * agreement, **own}

    run = {**a_run(dataset, value, None), "seed": seed, "drawing_cpu_seconds": 0.0}
    del run["tree"]
    return {**run, "others": {name: rival(rivals.get(name, 0.3)) for name in benchmark.RIVALS}}


def test_older_lines_have_their_tree_and_newer_ones_too(benchmark: ModuleType) -> None:
    old, new = a_run("imdb", 0.5, None), against(benchmark, "imdb", 1, 0.5, tree=0.7)
    rows = benchmark.tables([old, new])[0].splitlines()[2:]
    assert [row.split(" | ")[11] for row in rows] == ["0.600", "0.700"]
    assert benchmark.in_short(new).endswith(
        "| tree 0.700 | " + " | ".join(f"{n} 0.300" for n in list(benchmark.RIVALS)[1:])
    )


def test_beside_others(benchmark: ModuleType) -> None:
    runs = [
        against(benchmark, "imdb", 0, 0.5, tree=0.45),
        against(benchmark, "planted", 0, 0.8, tree=0.5, features_3=0.95),
        against(benchmark, "planted", 1, 0.9, tree=0.6, features_3=0.95),
        against(benchmark, "planted", 1, 0.9, tree=0.7, features_3=0.99),
        against(benchmark, "known-exclusive", 0, 0.4, types_3=0.55),
        against(benchmark, "known-degree", 0, 0.4, types_3=0.65),
    ]
    real, wins, known, known_wins, cost, where = benchmark.rival_tables(runs)
    head, _, planted, imdb, means = (line.split(" | ") for line in real.splitlines())
    assert head[:4] == ["| data set", "scorecard", "rules", "tree"]
    assert planted[1] == "0.850 (0.750 to 0.950)"
    assert planted[3] == "0.600 (0.500 to 0.700)"  # of the last run of each seed
    assert planted[-1] == "**0.970 (0.870 to 1.070)** |"
    assert imdb[1:4] == ["**0.500 (0.400 to 0.600)**", "**0.500 (0.400 to 0.600)**", "0.450 (0.350 to 0.550)"]
    assert means[:2] == ["| mean of rows", "**0.675 (0.575 to 0.775)**"]
    assert wins.splitlines()[0] == (
        "- Scorecards are ahead of a tree on 1 data set (planted); level with a tree on 1 data set (imdb)."
    )
    assert wins.splitlines()[3].startswith(
        "- Scorecards are ahead of three class expressions with types and features on"
    )
    assert "behind three class expressions with types and features on 1 data set (planted)." in wins.splitlines()[3 + 4]
    assert [row.split(" | ")[0] for row in known.splitlines()[2:]] == ["| degree", "| exclusive", "| mean of rows"]
    assert known.splitlines()[2].split(" | ")[7] == "**0.650**"
    assert "behind three class expressions with types on 2 known models (degree and exclusive)" in known_wins
    assert "scorecards and rules together 1.2 (1.2 to 1.2), a tree 4.5 (3.0 to 7.0)" in cost
    assert "By the code of abc." in where
