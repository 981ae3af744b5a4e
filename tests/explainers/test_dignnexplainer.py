"""Refinement of few graphs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.explainer import DiGNNExplainer
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.zoo.datasets.registry import load
from tiny_models import TinyHetero

pytestmark = pytest.mark.usefixtures("haste")


def fitted(share: float) -> DiGNNExplainer:
    """With 24 candidates, of which this share is refined."""
    planted, smoke = load("planted"), PRESETS["smoke"]
    growth = replace(smoke.node_growth, training=TrainingConfig(steps=5))
    config = replace(smoke, sizes=(8,), subgraphs_per_size=10, candidates=24, features="independent", refined=share)
    model, config = TinyHetero(planted.schema), replace(config, node_growth=growth)
    return DiGNNExplainer(model, planted.data, schema=planted.schema, config=config, seed=0).fit()


@pytest.fixture(scope="module")
def plain(haste: None) -> DiGNNExplainer:
    return fitted(0.0)


@pytest.mark.parametrize("enough", [False, True])
def test_a_small_share_of_the_candidates_is_refined_all_the_same(
    enough: bool, plain: DiGNNExplainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One graph of 24 for four classes; or none, where every class has enough already."""
    if enough:
        monkeypatch.setattr("dignn.explainers.methods.dignnexplainer.refinement.REACHED", 0)
    made = fitted(0.04)
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
