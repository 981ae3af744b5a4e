"""One budget of training for all generators, and types that have too few members to learn from."""

from __future__ import annotations

import logging
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.features.bank import FeatureBank
from dignn.features.budget import FULL_GENERATORS, LEAST_SHARE_OF_TRAINING, training_shares
from dignn.features.settings import FeatureSettings, TabDDPMConfig
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.schema import Schema
from strategies import hetero


@given(st.lists(st.integers(0, 10**9), max_size=60))
def test_many_generators_take_as_long_as_a_few(sizes: list[int]) -> None:
    shares = training_shares(sizes)
    assert len(shares) == len(sizes)
    assert all(LEAST_SHARE_OF_TRAINING <= share <= 1 for share in shares)
    assert sum(shares) <= FULL_GENERATORS + LEAST_SHARE_OF_TRAINING * len(sizes) + 1e-9
    if len(sizes) <= FULL_GENERATORS:
        assert shares == [1.0] * len(sizes)


@given(st.lists(st.integers(1, 10**9), min_size=2, max_size=40))
def test_a_larger_table_gets_no_less(sizes: list[int]) -> None:
    by_size = sorted(zip(sizes, training_shares(sizes), strict=True))
    assert all(one[1] <= other[1] + 1e-12 for one, other in pairwise(by_size))


def test_a_part_of_training() -> None:
    assert TrainingConfig(steps=700).part(0.1).steps == 70
    assert TrainingConfig(steps=3).part(0.1).steps == 1
    assert TrainingConfig(epochs=50).part(0.5).epochs == 25
    assert TrainingConfig().part(1.0) == TrainingConfig()


def test_a_type_with_few_members_is_drawn_from_them(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("dignn.features.generator_choice.FEW_MEMBERS", 100)
    service = torch.randn(60, 5, generator=Seed(0).torch())
    x = {"user": torch.randn(150, 3, generator=Seed(1).torch()), "service": service}
    edges = {("user", "uses", "service"): [(user, user % 60) for user in range(150)]}
    data = hetero({"user": 150, "service": 60}, edges, x=x, y={"user": [user % 2 for user in range(150)]})
    graph = Adjacency.build(data, Schema.from_hetero(data, "user"))
    haste = TrainingConfig(steps=5, validate_every=5)
    settings = FeatureSettings(tabddpm=TabDDPMConfig(width=8, blocks=1, training=haste))
    with caplog.at_level(logging.WARNING):
        bank = FeatureBank(graph.schema, settings).fit(graph, seed=Seed(0), workers=1)
    assert bank.report["service"]["generator"] == "bootstrap"
    assert bank.report["user"]["generator"] == "tabddpm"
    assert "The data has only 60 feature rows of 'service' to learn from; they are repeated as they are" in caplog.text
