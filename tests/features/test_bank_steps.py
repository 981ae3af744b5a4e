"""How long the generators of a bank learn: the explainer asks before it starts processes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dignn.diffusion.settings import TrainingConfig
from dignn.features.bank import FeatureBank
from dignn.features.settings import DiTabDDPMConfig, FeatureSettings, TabDDPMConfig
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Layout
from strategies import plain_schema

# Every generator takes another number of steps, so that the number tells which one was meant.
CONFIG = FeatureSettings(
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
    assert FeatureBank(schema, replace(CONFIG, **settings)).learning_steps == steps


def test_types_without_features_have_nothing_to_learn() -> None:
    schema = plain_schema(target="node", layout=Layout.HETERO, features=(FeatureSpec(width=1, constant=(1.0,)),))
    assert FeatureBank(schema).learning_steps == 0


def test_epochs_count_at_least_once() -> None:
    schema = plain_schema(target="node", layout=Layout.HETERO, features=(FeatureSpec(FeatureKind.BINARY, 3),))
    training = TrainingConfig(steps=4000, epochs=5)
    assert FeatureBank(schema, FeatureSettings(ditabddpm=DiTabDDPMConfig(training=training))).learning_steps == 5
