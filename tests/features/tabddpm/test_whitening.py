"""Main directions with deviation 1, what of them is learned, and rows of one length."""

from __future__ import annotations

import pytest
import torch

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.features.settings import TabDDPMConfig
from dignn.features.tabddpm.generator import TabDDPM
from dignn.features.tabddpm.whitening import LEARNED_DIRECTIONS, Whitening, common_length
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

ROWS, COLUMNS = 500, 70
VALUES = torch.randn(ROWS, COLUMNS, generator=Seed(0).torch()) @ torch.randn(
    COLUMNS, COLUMNS, generator=Seed(1).torch()
)
WEIGHT = torch.rand(ROWS, generator=Seed(2).torch()) + 0.5


def whitening() -> Whitening:
    return Whitening.of(VALUES, WEIGHT, Seed(3).torch())


def test_directions_are_uncorrelated_with_deviation_one_and_come_back() -> None:
    found = whitening().encode(VALUES)
    share = WEIGHT / WEIGHT.sum()
    assert torch.allclose((found * share[:, None]).T @ found, torch.eye(COLUMNS), atol=1e-2)
    assert torch.allclose(whitening().decode(found), VALUES, atol=1e-2)


def test_directions_that_are_not_learned_come_from_near_rows() -> None:
    made = whitening()
    assert made.learned == LEARNED_DIRECTIONS < COLUMNS
    learned = made.encode(VALUES)[:7, :LEARNED_DIRECTIONS]
    whole = made.complete(learned, Seed(4).torch())
    assert torch.equal(whole[:, :LEARNED_DIRECTIONS], learned)
    real = {tuple(row) for row in made.real[:, LEARNED_DIRECTIONS:].tolist()}
    assert {tuple(row) for row in whole[:, LEARNED_DIRECTIONS:].tolist()} <= real


def test_known_columns_change_the_others_as_in_a_normal_distribution() -> None:
    made = whitening()
    mask = torch.zeros(ROWS, COLUMNS, dtype=torch.bool)
    mask[:, :3] = True
    noise = torch.randn(ROWS, COLUMNS, generator=Seed(5).torch())
    found = made.decode(made.known(VALUES, mask)(noise))
    assert torch.allclose(found[mask], VALUES[mask], atol=2e-2)
    centred = (VALUES - made.mean).double()
    covariance = (centred * (WEIGHT / WEIGHT.sum())[:, None]).T @ centred
    slope = torch.linalg.solve(covariance[:3, :3], covariance[:3, 3:])
    prior = made.decode(noise).double()
    expected = prior[:, 3:] + (VALUES[:, :3].double() - prior[:, :3]) @ slope
    assert torch.allclose(found[:, 3:].double(), expected, atol=0.1)


@pytest.mark.parametrize("length", [1.0, 5.0])
def test_rows_of_one_length_stay_so(length: float) -> None:
    rows = VALUES / VALUES.norm(dim=1, keepdim=True) * length
    assert common_length(rows) == pytest.approx(length, rel=1e-5)
    assert common_length(VALUES) == 0
    config = TabDDPMConfig(width=16, training=TrainingConfig(steps=20, validate_every=10))
    spec = FeatureSpec(FeatureKind.CONTINUOUS, COLUMNS)
    model = TabDDPM(config).fit(rows, torch.zeros(ROWS, 0), spec, seed=Seed(0))
    made = model.sample(torch.zeros(50, 0), seed=Seed(1))
    assert torch.allclose(made.norm(dim=1), torch.full((50,), length), rtol=1e-5)
