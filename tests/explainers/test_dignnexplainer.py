"""Refinement of few graphs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from dignn.explainers.methods.dignnexplainer.explainer import DiGNNExplainer
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.zoo.datasets.registry import load
from tiny_models import TinyHetero


@pytest.mark.parametrize("enough", [False, True])
def test_a_small_share_of_the_candidates_is_refined_all_the_same(enough: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One graph of 24 for four classes; or none, where every class has enough already."""
    if enough:
        monkeypatch.setattr("dignn.explainers.methods.dignnexplainer.refinement.REACHED", 0)
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
