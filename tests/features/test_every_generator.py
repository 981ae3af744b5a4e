"""What every feature generator must do; a new one is tested by registering it."""

from __future__ import annotations

import pytest
import torch

from dignn.errors import DignnError
from dignn.features import FEATURE_GENERATORS
from dignn.inference import infer_features
from dignn.runtime.progress import silent
from dignn.runtime.seeds import Seed
from dignn.schema import FeatureKind

CLASSES = 3


def table(kind: FeatureKind) -> torch.Tensor:
    """60 rows of six columns of a kind."""
    generator = torch.Generator().manual_seed(0)
    if kind is FeatureKind.IDENTITY:
        return torch.eye(6).repeat(10, 1)
    if kind is FeatureKind.CONTINUOUS:
        return torch.randn(60, 6, generator=generator)
    top = {FeatureKind.BINARY: 2, FeatureKind.COUNT: 5, FeatureKind.CATEGORICAL: 4}[kind]
    return torch.randint(top, (60, 6), generator=generator).float()


KINDS = [kind for kind in FeatureKind if kind is not FeatureKind.NONE]
pytestmark = [pytest.mark.parametrize("name", FEATURE_GENERATORS), pytest.mark.parametrize("kind", KINDS)]


def sample(name: str, kind: FeatureKind, condition: torch.Tensor, seed: int = 0) -> torch.Tensor:
    rows = table(kind)
    known = torch.eye(CLASSES)[torch.arange(len(rows)) % CLASSES]
    spec = infer_features(rows, "type", kind=kind)
    generator = FEATURE_GENERATORS[name]().fit(rows, known, spec, seed=Seed(0).child("fit"), tick=silent)
    return generator.sample(condition, seed=Seed(seed).child("sample"), tick=silent)


MIXED = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 0.0]]).repeat(20, 1)


def test_one_finite_row_for_each_condition(name: str, kind: FeatureKind) -> None:
    made = sample(name, kind, MIXED)
    assert made.shape == (60, 6)
    assert bool(torch.isfinite(made).all())


def test_rows_stay_of_their_kind(name: str, kind: FeatureKind) -> None:
    made, real = sample(name, kind, MIXED), table(kind)
    if kind is FeatureKind.IDENTITY:
        assert bool((made.sum(1) == 1).all())
    if kind.discrete:
        assert set(made.unique().tolist()) <= set(real.unique().tolist())


def test_same_seed_same_bits_other_seed_other_rows(name: str, kind: FeatureKind) -> None:
    one, again, other = (sample(name, kind, MIXED, seed) for seed in (0, 0, 1))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_no_conditions_give_no_rows(name: str, kind: FeatureKind) -> None:
    assert sample(name, kind, torch.empty(0, CLASSES)).shape == (0, 6)


def test_sampling_before_fitting_says_so(name: str, kind: FeatureKind) -> None:
    with pytest.raises(DignnError, match="call fit first"):
        FEATURE_GENERATORS[name]().sample(MIXED, seed=Seed(0), tick=silent)


def test_nothing_to_learn_from_says_so(name: str, kind: FeatureKind) -> None:
    spec = infer_features(table(kind), "type", kind=kind)
    with pytest.raises(DignnError, match="no feature rows to learn from"):
        FEATURE_GENERATORS[name]().fit(torch.empty(0, 6), torch.empty(0, CLASSES), spec, seed=Seed(0), tick=silent)
