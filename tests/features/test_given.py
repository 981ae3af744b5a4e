"""What is known of rows before they are drawn: a context that they depend on, and columns that are fixed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
import torch
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS, Config
from dignn.features.base import FeatureGenerator
from dignn.features.given import MOST_CONTEXT, ContextScale, Fixed, Given
from dignn.features.main_directions import main_directions
from dignn.features.registry import FEATURE_GENERATORS
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

ROWS = 800
_TRAINED = TrainingConfig(steps=250, learning_rate=3e-3, validate_every=50)
_SMOKE = PRESETS["smoke"]
CONFIG = replace(
    _SMOKE,
    ditabddpm=replace(_SMOKE.ditabddpm, training=_TRAINED, marginal_training=_TRAINED, emphasis=0.0),
    tabddpm=replace(_SMOKE.tabddpm, training=_TRAINED),
)
MARGINAL = replace(CONFIG, ditabddpm=replace(CONFIG.ditabddpm, noise="marginal"))
ABSORBING = replace(CONFIG, ditabddpm=replace(CONFIG.ditabddpm, noise="absorbing"))
LEARNERS = {
    "gaussian": ("tabddpm", CONFIG, FeatureKind.CONTINUOUS),
    "multinomial": ("tabddpm", CONFIG, FeatureKind.BINARY),
    "marginal": ("ditabddpm", MARGINAL, FeatureKind.BINARY),
    "absorbing": ("ditabddpm", ABSORBING, FeatureKind.BINARY),
    "bootstrap": ("bootstrap", CONFIG, FeatureKind.BINARY),
}
each = pytest.mark.parametrize("method", LEARNERS)


def cause(count: int, seed: int) -> Tensor:
    """A number for each row, from which its columns follow.  (n, 1)"""
    return torch.randn(count, 1, generator=Seed(seed).child("cause").torch())


def rows_of(cause: Tensor, kind: FeatureKind, seed: int = 0) -> Tensor:
    """Four columns: three that follow the cause, the third one the other way, and one that does not.  (n, 4)"""
    noise = torch.randn(len(cause), 4, generator=Seed(seed).child("rows").torch())
    rows = cause * torch.tensor([1.0, 1.0, -1.0, 0.0]) + 0.4 * noise
    return rows if kind is FeatureKind.CONTINUOUS else (rows > 0.3).float()


@cache
def fitted(method: str, context: bool) -> FeatureGenerator:
    name, config, kind = LEARNERS[method]
    return new(name, config).fit(
        rows_of(cause(ROWS, 0), kind),
        torch.zeros(ROWS, 0),
        FeatureSpec(kind, 4),
        context=cause(ROWS, 0) * 7 + 100 if context else None,
        seed=Seed(0),
    )


def new(name: str, config: Config = CONFIG) -> FeatureGenerator:
    return FEATURE_GENERATORS[name].build(config)


def correlation(one: Tensor, other: Tensor) -> float:
    return float(torch.corrcoef(torch.stack([one, other]))[0, 1])


# -- context ------------------------------------------------------------------------------------------


@each
def test_columns_follow_the_context_as_in_the_data(method: str) -> None:
    kind = LEARNERS[method][2]
    asked = cause(600, 1)
    made = fitted(method, True).sample(torch.zeros(600, 0), context=asked * 7 + 100, seed=Seed(1))
    real = rows_of(asked, kind, seed=1)
    for column in range(4):
        found, wanted = (correlation(asked[:, 0], rows[:, column]) for rows in (made, real))
        assert found == pytest.approx(wanted, abs=0.15), column


@each
def test_what_was_learned_with_a_context_survives_a_file(method: str) -> None:
    generator = fitted(method, True)
    tensors, settings = generator.state()
    name, config, _ = LEARNERS[method]
    again = new(name, config).restore(tensors, settings, generator.spec)
    asked = {"context": cause(50, 2) * 7 + 100, "seed": Seed(3)}
    condition = torch.zeros(50, 0)
    assert torch.equal(again.sample(condition, **asked), generator.sample(condition, **asked))


def test_a_context_of_no_columns_changes_nothing() -> None:
    rows = rows_of(cause(ROWS, 0), FeatureKind.CONTINUOUS)
    spec = FeatureSpec(FeatureKind.CONTINUOUS, 4)
    haste = replace(CONFIG, tabddpm=replace(CONFIG.tabddpm, training=TrainingConfig(steps=5, validate_every=5)))
    one, other = (
        new("tabddpm", haste)
        .fit(rows, torch.zeros(ROWS, 0), spec, context=context, seed=Seed(0))
        .sample(torch.zeros(9, 0), seed=Seed(1))
        for context in (None, torch.zeros(ROWS, 0))
    )
    assert torch.equal(one, other)


def test_a_wide_context_enters_by_its_main_directions() -> None:
    number = torch.randn(300, 3, generator=Seed(0).torch())
    wide = number @ torch.randn(3, 1500, generator=Seed(1).torch()) + 5.0
    scale = ContextScale.of(wide, torch.ones(300), Seed(2).torch())
    found = scale.encode(wide)
    assert found.shape == (300, scale.width)
    assert scale.width <= MOST_CONTEXT
    centred = number - number.mean(0)
    read = found[:, :3] @ torch.linalg.lstsq(found[:, :3], centred).solution
    assert torch.allclose(read, centred, atol=1e-2)  # the three numbers can be read off the first three directions
    assert bool((found.abs() < 20).all())


def test_what_is_missing_in_a_context_counts_as_the_mean_of_what_is_there() -> None:
    context = torch.tensor([[1e9, 1.0], [torch.nan, 1.0], [3e9, 0.0], [torch.nan, 0.0]])
    scale = ContextScale.of(context, torch.tensor([1.0, 5.0, 3.0, 1.0]), Seed(0).torch())
    assert float(scale.mean[0]) == pytest.approx(2.5e9)
    found = scale.encode(context)
    assert found[[1, 3], 0].tolist() == [0.0, 0.0]
    assert bool(found.isfinite().all())
    nothing = torch.full((3, 1), torch.nan)
    assert not bool(ContextScale.of(nothing, torch.ones(3), Seed(0).torch()).encode(nothing).any())


def test_constant_columns_of_a_context_count_for_nothing() -> None:
    context = torch.cat([torch.full((50, 1), 3.0), torch.arange(50.0)[:, None]], dim=1)
    found = ContextScale.of(context, torch.ones(50), Seed(0).torch()).encode(context)
    assert bool((found[:, 0] == 0).all())
    assert float(found[:, 1].std(unbiased=False)) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(("number", "width"), [(400, 20), (400, 1100), (1100, 1100)])
def test_main_directions_are_orthonormal_and_hold_most_variance(number: int, width: int) -> None:
    rows = torch.randn(number, width, generator=Seed(0).torch()) * torch.linspace(3, 0.1, width)
    rows = rows - rows.mean(0)
    found = main_directions(rows, 5, Seed(1).torch())
    assert torch.allclose(found.T @ found, torch.eye(5), atol=1e-4)
    best = torch.linalg.svdvals(rows)[:5].square().sum()
    assert float((rows @ found).square().sum()) > 0.9 * float(best)


# -- fixed columns ------------------------------------------------------------------------------------


@each
def test_fixed_columns_come_out_as_given_and_others_follow(method: str) -> None:
    kind = LEARNERS[method][2]
    real = rows_of(cause(600, 4), kind, seed=4)
    fixed = Fixed.columns(real[:, [0, 3]], torch.tensor([0, 3]), 4)
    made = fitted(method, False).sample(torch.zeros(600, 0), fixed=fixed, seed=Seed(1))
    assert torch.equal(made[:, [0, 3]], real[:, [0, 3]])
    for column in (1, 2):
        found, wanted = (correlation(rows[:, 0], rows[:, column]) for rows in (made, real))
        assert found == pytest.approx(wanted, abs=0.3), column
        assert float(made[:, column].mean()) == pytest.approx(float(real[:, column].mean()), abs=0.15)


@each
def test_other_columns_may_be_fixed_in_each_row(method: str) -> None:
    kind = LEARNERS[method][2]
    real = rows_of(cause(40, 4), kind, seed=4)
    mask = torch.rand(real.shape, generator=Seed(9).torch()) < 0.5
    made = fitted(method, False).sample(torch.zeros(40, 0), fixed=Fixed(real, mask), seed=Seed(1))
    assert torch.equal(made[mask], real[mask])
    whole = Fixed(real, torch.ones_like(mask))
    assert torch.equal(fitted(method, False).sample(torch.zeros(40, 0), fixed=whole, seed=Seed(1)), real)


# -- bad input ----------------------------------------------------------------------------------------


def test_what_does_not_fit_is_refused() -> None:
    known, plain = fitted("bootstrap", True), fitted("bootstrap", False)
    with pytest.raises(DignnError, match="learned with a context of 1 columns and is given none"):
        known.sample(torch.zeros(5, 0), seed=Seed(0))
    with pytest.raises(DignnError, match="learned with a context of 0 columns and is given one of 2"):
        plain.sample(torch.zeros(5, 0), context=torch.zeros(5, 2), seed=Seed(0))
    with pytest.raises(DignnError, match="5 rows need a context"):
        known.sample(torch.zeros(5, 0), context=torch.zeros(4, 1), seed=Seed(0))
    with pytest.raises(DignnError, match="context of rows holds infinite values"):
        known.sample(torch.zeros(5, 0), context=torch.full((5, 1), torch.inf), seed=Seed(0))
    with pytest.raises(DignnError, match=r"Fixed columns of shape \(5, 3\) do not fit 5 rows of 4 columns"):
        plain.sample(torch.zeros(5, 0), fixed=Fixed(torch.zeros(5, 3), torch.ones(5, 3) > 0), seed=Seed(0))
    with pytest.raises(DignnError, match="need a mask of the same shape"):
        Fixed(torch.zeros(5, 3), torch.ones(5, 3))


def test_parts_of_what_is_given() -> None:
    given = Given(torch.arange(6.0)[:, None], Fixed(torch.eye(6), torch.eye(6) > 0))
    part = given[torch.tensor([4, 2])].only(torch.tensor([2, 4]))
    assert part.context is not None
    assert part.fixed is not None
    assert part.context[:, 0].tolist() == [4.0, 2.0]
    assert part.fixed.values.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert Given()[torch.tensor([0])].nothing
    assert not given.nothing
