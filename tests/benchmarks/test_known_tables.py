"""Tables of known models: means over models, and what is missed by whom."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import known

    return known


def a_run(model: str, explainer: str, **figures: Any) -> dict[str, Any]:
    machine = {"cores": 2, "processor": "x86_64", "python": "3.11", "torch": "2"}
    usual = {"satisfied": 1.0, "holds": 1.0, "patterns_found": 1.0, "patterns_alone": 1.0}
    marks = {"evidence_precision": None, "decoys": 0.5}
    return {"model": model, "explainer": explainer, "machine": machine, **usual, **marks, **figures}


def test_means_and_misses_by_explainer(known: ModuleType) -> None:
    runs = [
        a_run("count", "xgnn", satisfied=0.5, holds=0.0, patterns_found=0.0),
        a_run("degree", "xgnn", evidence_precision=0.8),
        a_run("degree", "prototypes", patterns_found=0.5),
    ]
    del runs[0]["machine"]  # as lines of earlier versions
    means, missed, place = known.tables(runs)
    assert means.splitlines()[2:] == [
        "| `prototypes` | 1.00 | 0.50 | 1.00 | - | 0.50 | 1 |",
        "| `xgnn` | 0.75 | 0.50 | 1.00 | 0.80 | 0.50 | 2 |",
    ]
    assert missed.splitlines()[2:] == [
        "| `prototypes` | none | `degree` |",
        "| `xgnn` | `count` | `count` |",
    ]
    assert "2 cores" in place
    assert known.tables([]) == ["No runs yet."]


def test_terms_are_told_misses_first(known: ModuleType) -> None:
    said = {"term_precision": 1.0, "term_recall": 1.0, "decoys_named": 0.0, "terms": 2, "wrong": [], "unnamed": []}
    missed = {"term_precision": 0.5, "term_recall": 0.0, "decoys_named": 0.5, "terms": 4}
    runs = [
        a_run("count", "xgnn"),  # says nothing of it
        a_run("degree", "dignnexplainer", **said),
        a_run("identity", "dignnexplainer", **said | missed | {"wrong": ["it is old"] * 2, "unnamed": ["writes"]}),
    ]
    terms = known.tables(runs)[2]
    assert terms.splitlines()[2:] == [
        "| `identity` | `dignnexplainer` | 0.50 | 0.00 | 0.50 | 4 | it is old | writes |",
        "| `degree` | `dignnexplainer` | 1.00 | 1.00 | 0.00 | 2 | none | none |",
        "| all | `dignnexplainer` | 0.75 | 0.50 | 0.25 |  |  |  |",
    ]
    assert len(known.tables(runs[:1])) == 3
