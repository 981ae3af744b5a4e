"""A whole run whose model, data and generators are on a device gives the explanations of a run on the CPU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from dignn import DignnError, DiGNNExplainer, Explanations
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from pretend_device import PRETEND, needs_pretend_device, on_every_device, same
from tiny_models import TinyHetero

pytestmark = pytest.mark.usefixtures("haste")
SMOKE, HASTE = PRESETS["smoke"], TrainingConfig(steps=2, validate_every=2)
SMALL = replace(
    SMOKE,
    sizes=(6,),
    subgraphs_per_size=20,
    candidates=8,
    top_k=1,
    refinement_rounds=1,
    node_growth=replace(SMOKE.node_growth, training=HASTE),
    ditabddpm=replace(SMOKE.ditabddpm, training=HASTE, marginal_training=HASTE, sampler_steps=2),
    tabddpm=replace(SMOKE.tabddpm, training=HASTE, sampler_steps=2),
)


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


@on_every_device
def test_the_explanations_of_the_cpu(planted: Dataset, device: str) -> None:
    found: list[Explanations] = []
    for place in ("cpu", device):
        model, data = TinyHetero(planted.schema).to(place), planted.data.clone().to(place)
        explainer = DiGNNExplainer(model, data, schema=planted.schema, config=SMALL, fresh=data, device=place)
        found.append(explainer.fit().explain())
        assert data["author"].x.device.type == torch.device(place).type  # the user's data stays where it is
    here, there = found
    assert list(here) == list(there)
    pairs = [(one, other) for name in here for one, other in zip(here[name], there[name], strict=True)]
    assert pairs
    for one, other in pairs:
        if device == PRETEND:
            assert (one.probability, one.candidate, one.evidence) == (
                other.probability,
                other.candidate,
                other.evidence,
            )
            assert same(one.graph.edge, other.graph.edge, device)
        assert other.graph.edge.device.type == "cpu"


@needs_pretend_device
def test_a_model_elsewhere_is_the_same_model(planted: Dataset) -> None:
    def identity(place: str) -> dict[str, Any]:
        model = TinyHetero(planted.schema).to(place)
        return DiGNNExplainer(model, planted.data.clone().to(place), schema=planted.schema, config=SMALL).check().about

    assert identity("cpu") == identity(PRETEND)


@pytest.mark.parametrize(
    ("device", "told"), [("gpu", "device is 'gpu'; give 'auto'"), (3, "device is 3"), ("cuda:99", "There is no device")]
)
def test_a_wrong_device_is_refused_at_once(planted: Dataset, device: Any, told: str) -> None:
    with pytest.raises(DignnError, match=told):
        DiGNNExplainer(TinyHetero(planted.schema), planted.data, schema=planted.schema, config=SMALL, device=device)
