"""Tables of fidelity: a row for each run, the last of a data set and seed, in the order of the goals."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import fidelity

    return fidelity


def figure(value: float) -> dict[str, Any]:
    return {"value": value, "interval": [value - 0.1, value + 0.1]}


def told(value: float) -> dict[str, Any]:
    rule = {"precision": figure(0.9), "recall": None, "holds": 3}
    return {
        "found_on": 100,
        "cpu_seconds": 1.25,
        "places": 50,
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
    assert frontier.splitlines()[2] == "| planted | 0 | 900 | 100 | 0.030 | 0.060 | 0.120 | 0.250 | 0.500 | 50 |"
    assert rules.splitlines()[3] == "| imdb | 0 | 900 | 2 | 0.800 (0.700 to 0.900) | - |"
    assert "By the code of abc." in where


def test_without_runs(benchmark: ModuleType) -> None:
    assert benchmark.tables([]) == ["No runs yet."]
