"""Rivals of scorecards and rules: found on some graphs, tested on others, told as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from dignn.core.seeds import Seed
from dignn.explainers.registry import presets_of
from dignn.goes_by.agreement import balanced
from dignn.goes_by.finding import find
from dignn.goes_by.places import Places
from dignn.zoo.known.registry import KNOWN_MODELS
from goes_by.answered import answered, of_margin

ROOT = Path(__file__).parents[2]


def two_papers(words: np.ndarray, carries: np.ndarray) -> np.ndarray:
    """At least two papers with "a"."""
    return of_margin(np.where(carries.sum(1) >= 2, 6.0, -6.0))


def test_what_is_told_of_rivals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.fidelity_rivals import beside
    from benchmarks.fidelity_tables import RIVALS

    study, test = answered(two_papers, 300), answered(two_papers, 300, seed=1)
    found = find(*study, Seed(0))
    told = json.loads(json.dumps(beside(found, study, test, Seed(0))))
    assert list(told) == list(RIVALS)
    said = test[1].predicted.numpy()
    rules = balanced(said, found.rules.predicted(Places.of(*test)), 2)
    for name, rival in told.items():
        value = rival["agreement"]["value"]
        assert rival["agreement"]["interval"][0] <= value <= rival["agreement"]["interval"][1]
        assert rival["rules_ahead"]["value"] == pytest.approx(rules - value)
        assert rival["cpu_seconds"] >= 0
        assert ("words" in rival) == (not name.startswith("tree"))
    # Trees know "at least two"; expressions have no numbers.
    assert told["tree"]["agreement"]["value"] == told["tree_8"]["agreement"]["value"] == 1.0
    assert 2 <= told["tree_8"]["size"] <= 8
    assert told["features_1"]["words"]["class 1"] == ["author ⊓ ∃writes.“a”"]
    assert 0.7 < told["features_1"]["agreement"]["value"] < 0.9
    assert told["features_1"]["rules_ahead"]["interval"][0] > 0
    assert told["types_1"]["size"] == sum(len(own) for own in told["types_1"]["words"].values())
    assert told["types_1"]["agreement"]["value"] < told["features_1"]["agreement"]["value"]


def test_a_run_of_a_known_model_is_opened_with_its_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.fidelity import opened

    settings = presets_of("prototypes")["smoke"]
    noted = {"dataset": "known-degree", "explainer": "prototypes", "preset": "smoke", "seed": 3}
    (tmp_path / "config.json").write_text(json.dumps({**noted, "config": asdict(settings)}))
    content, config, explainer = opened(tmp_path)
    assert (content["dataset"], content["seed"], config) == ("known-degree", 3, settings)
    explainer.real.sample()
    some = explainer.real.train[:20]
    scores = explainer.adapter.score(some)
    known = KNOWN_MODELS["degree"]
    holds = [known.satisfied(some[[g]], v) for g, v in zip(scores.graph.tolist(), scores.node.tolist(), strict=True)]
    assert scores.predicted.tolist() == [int(each) for each in holds]
    assert len(set(holds)) == 2
