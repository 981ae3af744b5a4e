"""When features are learned in processes of their own, and refinement of few graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from dignn.config import PRESETS, Config, DiTabDDPMConfig, TabDDPMConfig, TrainingConfig
from dignn.data import load
from dignn.dignnexplainer import DiGNNExplainer, feature_steps
from dignn.schema import FeatureKind, FeatureSpec, Layout
from strategies import plain_schema
from tiny_models import TinyHetero

# Every generator takes another number of steps, so that the number tells which one was meant.
CONFIG = Config(
    ditabddpm=DiTabDDPMConfig(training=TrainingConfig(steps=11), marginal_training=TrainingConfig(steps=22)),
    tabddpm=TabDDPMConfig(training=TrainingConfig(steps=7)),
)


@pytest.mark.parametrize(
    ("kind", "settings", "steps"),
    [
        ("binary", {}, 11),
        ("binary", {"ditabddpm": replace(CONFIG.ditabddpm, noise="marginal")}, 22),
        ("binary", {"features": "tabddpm"}, 7),
        ("binary", {"features": "bootstrap"}, 0),
        ("binary", {"features": "independent"}, 0),
        ("continuous", {}, 11),  # rows that are sparse go to ditabddpm, others to tabddpm
        ("continuous", {"continuous": "tabddpm"}, 7),
        ("continuous", {"features": "tabddpm"}, 7),
        ("identity", {}, 0),
    ],
)
def test_steps_are_those_of_the_generators_that_are_used(kind: str, settings: dict[str, Any], steps: int) -> None:
    spec = FeatureSpec(FeatureKind(kind), 3)
    schema = plain_schema(target="node", layout=Layout.HETERO, features=(spec,))
    assert feature_steps(schema, replace(CONFIG, **settings)) == steps


def test_types_without_features_have_nothing_to_learn() -> None:
    schema = plain_schema(target="node", layout=Layout.HETERO, features=(FeatureSpec(width=1, constant=(1.0,)),))
    assert feature_steps(schema, PRESETS["fast"]) == 0


def test_epochs_count_at_least_once() -> None:
    schema = plain_schema(target="node", layout=Layout.HETERO, features=(FeatureSpec(FeatureKind.BINARY, 3),))
    training = TrainingConfig(steps=4000, epochs=5)
    assert feature_steps(schema, replace(CONFIG, ditabddpm=DiTabDDPMConfig(training=training))) == 5


@pytest.mark.parametrize("enough", [False, True])
def test_a_small_share_of_the_candidates_is_refined_all_the_same(enough: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One graph of 24 for four classes; or none, where every class has enough already."""
    if enough:
        monkeypatch.setattr("dignn.refinement.REACHED", 0)
    planted = load("planted")
    config = replace(PRESETS["smoke"], sizes=(8,), subgraphs_per_size=10, candidates=24, features="independent")
    model = TinyHetero(planted.schema)
    made, plain = (
        DiGNNExplainer(model, planted.data, schema=planted.schema, config=replace(config, refined=share), seed=0).fit()
        for share in (0.04, 0.0)
    )
    told = made.findings()["refinement"]
    assert told.get("graphs", 0) == (0 if enough else 4)
    assert made._candidates is not None
    assert plain._candidates is not None
    assert made._candidates.node_type.tolist() == plain._candidates.node_type.tolist()
    same = [
        all(torch.equal(one.features(name), other.features(name)) for name in one.tables)
        for one, other in ((made._candidates[n], plain._candidates[n]) for n in range(24))
    ]
    assert same.count(False) <= told.get("graphs", 0)
