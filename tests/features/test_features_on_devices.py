"""Every feature generator learns and samples on a device as it does on the CPU, and keeps nothing there."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS, Config
from dignn.features.bank import FeatureBank
from dignn.features.base import FeatureGenerator
from dignn.features.given import Fixed
from dignn.features.mlp import Dropout
from dignn.features.registry import FEATURE_GENERATORS
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.feature_inference import infer_features
from dignn.graphs.feature_spec import FeatureKind
from dignn.sampling.forest_fire import forest_fire
from dignn.zoo.datasets.registry import load
from pretend_device import PRETEND, needs_pretend_device, on_every_device, same

SMOKE, HASTE = PRESETS["smoke"], TrainingConfig(steps=2, validate_every=2)
ROWS, WIDTH, CLASSES = 60, 5, 2
CONDITION = torch.eye(CLASSES)[torch.arange(ROWS) % CLASSES]


def words(**settings: object) -> Config:
    own = replace(SMOKE.ditabddpm, training=HASTE, marginal_training=HASTE, sampler_steps=3, **settings)
    return replace(SMOKE, ditabddpm=own)


def table(**settings: object) -> Config:
    own = replace(SMOKE.tabddpm, training=HASTE, sampler_steps=3, **settings)
    return replace(SMOKE, features="tabddpm", tabddpm=own)


CASES = {
    "absorbing": (words(noise="absorbing", dropout=0.2), FeatureKind.BINARY),
    "absorbing values": (words(noise="absorbing"), FeatureKind.CONTINUOUS),
    "marginal": (words(noise="marginal", dropout=0.2), FeatureKind.COUNT),
    "marginal, paper": (words(noise="marginal", denoiser="paper", dropout=0.2), FeatureKind.CATEGORICAL),
    "multinomial": (table(dropout=0.2), FeatureKind.COUNT),
    "rounded": (table(discrete="threshold"), FeatureKind.COUNT),
    "flow": (table(), FeatureKind.CONTINUOUS),
    "ancestral": (table(sampler="ancestral", transform="standard", prediction="noise"), FeatureKind.CONTINUOUS),
    "deterministic": (table(sampler="deterministic"), FeatureKind.CONTINUOUS),
    "bootstrap": (replace(SMOKE, features="bootstrap"), FeatureKind.BINARY),
    "independent": (replace(SMOKE, features="independent"), FeatureKind.BINARY),
}


@pytest.fixture(autouse=True)
def _haste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.features.ditabddpm.absorbing_rows._ROWS", 50)


def rows_of(kind: FeatureKind) -> Tensor:
    """Rows of a kind; most numbers are zero, as in word tables."""
    generator = Seed(0).child(kind.value).torch()
    there = torch.rand(ROWS, WIDTH, generator=generator) < 0.4
    if kind is FeatureKind.CONTINUOUS:
        return torch.randn(ROWS, WIDTH, generator=generator) * there
    most = 2 if kind is FeatureKind.BINARY else 4
    return torch.randint(1, most, (ROWS, WIDTH), generator=generator).float() * there


def new(config: Config, device: str) -> FeatureGenerator:
    generator = FEATURE_GENERATORS[config.features].build(config)
    generator.device = device
    return generator


@on_every_device
@pytest.mark.parametrize("name", CASES)
def test_learning_and_sampling_give_the_cpus_numbers(name: str, device: str) -> None:
    config, kind = CASES[name]
    rows = rows_of(kind)
    spec = infer_features(rows, "type", kind=kind)
    here, there = (new(config, place).fit(rows, CONDITION, spec, seed=Seed(0)) for place in ("cpu", device))
    expected, learned = here.state(), there.state()
    for part in expected[0]:
        assert same(expected[0][part], learned[0][part], device), part
    # What was learned here is taken up and sampled from there.
    other = new(config, device).restore(*expected, spec)
    assert same(here.sample(CONDITION, seed=Seed(1)), other.sample(CONDITION, seed=Seed(1)), device)
    for values in other.state()[0].values():
        assert values.device.type == "cpu"


@on_every_device
@pytest.mark.parametrize("name", ["flow", "ancestral", "rounded", "multinomial", "absorbing", "marginal"])
def test_fixed_columns_give_the_cpus_numbers(name: str, device: str) -> None:
    config, kind = CASES[name]
    rows = rows_of(kind)
    spec = infer_features(rows, "type", kind=kind)
    learned = new(config, "cpu").fit(rows, CONDITION, spec, seed=Seed(0))
    fixed = Fixed.columns(rows[:, :2], torch.tensor([0, 1]), WIDTH)
    there = new(config, device).restore(*learned.state(), spec)
    found = [each.sample(CONDITION, fixed=fixed, seed=Seed(1)) for each in (learned, there)]
    assert same(*found, device)


@needs_pretend_device
def test_a_bank_gives_its_device_to_its_generators() -> None:
    dataset = load("planted")
    data = Adjacency.build(dataset.data, dataset.schema)
    graphs = forest_fire(data, (6, 7), 4, seed=Seed(0))
    settings = words()
    banks = [FeatureBank(dataset.schema, settings, device=place) for place in ("cpu", PRETEND)]
    filled = [bank.fit(data, seed=Seed(0)).fill(graphs, seed=Seed(1)) for bank in banks]
    assert {generator.device for generator in banks[1].parts.values()} == {PRETEND}
    for name, expected in filled[0].tables.items():
        assert same(expected, filled[1].tables[name], PRETEND)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_dropout_is_that_of_torch(share: float) -> None:
    values = torch.rand(7, 5, generator=torch.Generator().manual_seed(0))
    for training in (True, False):
        with Seed(0).torch_globally():
            expected = nn.Dropout(share).train(training)(values)
        with Seed(0).torch_globally():
            assert torch.equal(Dropout(share).train(training)(values), expected)
