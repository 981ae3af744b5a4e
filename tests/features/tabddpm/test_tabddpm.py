"""TabDDPM on small tables whose distribution is known."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import get_args

import pytest
import torch
from scipy.stats import ks_2samp
from torch import Tensor

from dignn.core import threads
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.features.settings import FeatureSettings, TabDDPMConfig, Transform
from dignn.features.tabddpm.generator import TabDDPM
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

SMALL = TabDDPMConfig(
    width=64, batch=256, training=TrainingConfig(steps=300, learning_rate=5e-3, validate_every=100), sampler_steps=20
)
QUICK = replace(SMALL, width=16, training=TrainingConfig(steps=20, validate_every=10), sampler_steps=5)
NO_CLASS = torch.zeros(6000, 0)
UNKNOWN = torch.tensor([-3.0, 5.0, 4.0])  # the row that many nodes share


def continuous(count: int = 2000) -> tuple[Tensor, Tensor]:
    """Two classes: means -2 and 2, correlations .9 and -.9; a constant column; in class 0 a third are one row."""
    generator = Seed(0).torch()
    label = torch.arange(count) % 2
    sign = label * 2.0 - 1
    x, y = torch.randn(2, count, generator=generator)
    rows = torch.stack([x + 2 * sign, -sign * (0.9 * x + (1 - 0.81) ** 0.5 * y), torch.full_like(x, 4.0)], dim=1)
    rows[(label == 0) & (torch.rand(count, generator=generator) < 1 / 3)] = UNKNOWN
    return rows, torch.eye(2)[label]


def fitted(config: TabDDPMConfig, rows: Tensor, condition: Tensor, spec: FeatureSpec) -> TabDDPM:
    return TabDDPM(config).fit(rows, condition, spec, seed=Seed(1))


CONTINUOUS = FeatureSpec(FeatureKind.CONTINUOUS, 3)


@pytest.fixture(scope="module")
def learned() -> TabDDPM:
    return fitted(SMALL, *continuous(), CONTINUOUS)


def of_class(number: int, count: int = 3000) -> Tensor:
    return torch.eye(2)[number].expand(count, 2)


# -- continuous columns -------------------------------------------------------------------------------


def check_classes(model: TabDDPM) -> None:
    rows, condition = continuous()
    for number, correlation in ((0, 0.9), (1, -0.9)):
        made = model.sample(of_class(number), seed=Seed(2))
        real = rows[condition[:, number] == 1]
        unknown = (made == UNKNOWN).all(1)
        assert float(unknown.float().mean()) == pytest.approx((1 - number) / 3, abs=0.04)
        made, real = made[~unknown], real[(real != UNKNOWN).any(1)]
        assert max(ks_2samp(made[:, column], real[:, column]).statistic for column in (0, 1)) < 0.1
        assert float(torch.corrcoef(made[:, :2].T)[0, 1]) == pytest.approx(correlation, abs=0.1)


def test_classes_have_their_own_means_correlations_and_repeated_rows(learned: TabDDPM) -> None:
    check_classes(learned)
    assert learned.report["repeated_rows"] == 1
    assert learned.report["repeated_share"] == pytest.approx(1 / 6, abs=0.03)
    assert learned.report["training"]["steps"] == 300


def test_without_a_class_both_are_drawn(learned: TabDDPM) -> None:
    made = learned.sample(torch.zeros(3000, 2), seed=Seed(3))
    assert max(ks_2samp(made[:, column], continuous()[0][:, column]).statistic for column in (0, 1)) < 0.1


def test_a_constant_column_stays_constant_and_others_in_their_range(learned: TabDDPM) -> None:
    made = learned.sample(of_class(1), seed=Seed(4))
    rows, _ = continuous()
    assert bool((made[:, 2] == 4).all())
    assert bool(((made >= rows.amin(0)) & (made <= rows.amax(0))).all())


@pytest.mark.parametrize(
    "config",
    [
        replace(SMALL, transform="standard"),
        replace(SMALL, prediction="noise", sampler="ancestral", sampler_steps=100),
    ],
    ids=["standard", "noise"],
)
def test_other_settings_learn_it_too(config: TabDDPMConfig) -> None:
    check_classes(fitted(config, *continuous(), CONTINUOUS))


def test_without_repeated_rows_the_shared_row_is_not_hit() -> None:
    model = fitted(replace(QUICK, repeated_rows=False, transform="standard"), *continuous(), CONTINUOUS)
    made = model.sample(of_class(0), seed=Seed(2))
    assert not bool((made == UNKNOWN).all(1).any())
    assert model.report["repeated_rows"] == 0


def test_new_rows_are_not_those_of_the_table(learned: TabDDPM) -> None:
    known = {tuple(row) for row in continuous()[0].tolist()} - {tuple(UNKNOWN.tolist())}
    assert not known & {tuple(row) for row in learned.sample(of_class(1), seed=Seed(5)).tolist()}


@pytest.mark.parametrize("transform", get_args(Transform))
@pytest.mark.parametrize("repeated_rows", [True, False])
def test_a_table_of_one_row(transform: Transform, repeated_rows: bool) -> None:
    rows = UNKNOWN.repeat(50, 1)
    model = fitted(replace(QUICK, transform=transform, repeated_rows=repeated_rows), rows, NO_CLASS[:50], CONTINUOUS)
    assert torch.equal(model.sample(NO_CLASS[:9], seed=Seed(0)), UNKNOWN.repeat(9, 1))


def test_few_rows_beside_repeated_ones_are_drawn_as_they_are() -> None:
    rows = torch.zeros(60, 3)
    rows[50:] = torch.randn(10, 3, generator=Seed(0).torch())
    model = fitted(QUICK, rows, NO_CLASS[:60], CONTINUOUS)
    made = model.sample(NO_CLASS[:2000], seed=Seed(0))
    assert {tuple(row) for row in made.tolist()} == {tuple(row) for row in rows.tolist()}
    assert float((made == 0).all(1).float().mean()) == pytest.approx(5 / 6, abs=0.04)


@pytest.mark.parametrize("transform", get_args(Transform))
def test_yes_or_no_and_years_in_a_continuous_table(transform: Transform) -> None:
    generator = Seed(0).torch()
    rows = (torch.rand(400, 9, generator=generator) < 0.3).float()
    rows[:, 7] = (1960 + 60 * torch.rand(400, generator=generator)).floor()
    rows[:, 8] = torch.randn(400, generator=generator)
    spec = FeatureSpec(FeatureKind.CONTINUOUS, 9)
    model = fitted(replace(QUICK, transform=transform), rows, NO_CLASS[:400], spec)
    made = model.sample(NO_CLASS[:500], seed=Seed(0))
    assert set(made[:, :7].unique().tolist()) == {0.0, 1.0}
    assert torch.equal(made[:, 7], made[:, 7].round())
    assert not torch.equal(made[:, 8], made[:, 8].round())


# -- discrete columns ---------------------------------------------------------------------------------


PATTERNS = torch.tensor([[0, 0, 1, 5], [1, 1, 0, 5], [0, 1, 3, 5], [1, 0, 2, 5]]).float()
SHARES = torch.tensor([0.1, 0.2, 0.3, 0.4])
DISCRETE = FeatureSpec(FeatureKind.COUNT, 4, levels=(2, 2, 4, 6))


def patterns() -> Tensor:
    drawn = torch.multinomial(SHARES, 3000, replacement=True, generator=Seed(0).torch())
    return PATTERNS[drawn]


def test_multinomial_diffusion_learns_which_values_go_together() -> None:
    model = fitted(replace(SMALL, sampler_steps=50), patterns(), NO_CLASS[:3000], DISCRETE)
    made = Counter(tuple(row) for row in model.sample(NO_CLASS, seed=Seed(2)).tolist())
    found = [made[tuple(pattern)] / 6000 for pattern in PATTERNS.tolist()]
    assert sum(found) > 0.95  # independent columns would have 0.35
    assert found == pytest.approx(SHARES.tolist(), abs=0.05)


@pytest.mark.parametrize("discrete", ["multinomial", "threshold"])
def test_only_values_that_a_column_has(discrete: str) -> None:
    rows = patterns()
    rows[:, 2] = rows[:, 2] * 100  # 100, 0, 300, 200: gaps
    spec = replace(DISCRETE, levels=(2, 2, 301, 6))
    model = fitted(replace(QUICK, discrete=discrete), rows, NO_CLASS[:3000], spec)
    made = model.sample(NO_CLASS[:500], seed=Seed(0))
    for column in range(4):
        assert set(made[:, column].tolist()) <= set(rows[:, column].tolist())


def test_threshold_rounds_what_gaussian_diffusion_makes() -> None:
    model = fitted(replace(SMALL, discrete="threshold"), patterns(), NO_CLASS[:3000], DISCRETE)
    made = model.sample(NO_CLASS, seed=Seed(2))
    assert float(made[:, 0].mean()) == pytest.approx(0.6, abs=0.05)
    together = (made[:, None] == PATTERNS).all(2).any(1)
    assert float(together.float().mean()) > 0.6


def test_wide_tables_run_in_pieces() -> None:
    rows = (torch.rand(40, 4000, generator=Seed(0).torch()) < 0.02).float()
    config = replace(QUICK, batch=64, sampler_steps=3)
    model = fitted(config, rows, NO_CLASS[:40], FeatureSpec(FeatureKind.BINARY, 4000))
    made = model.sample(NO_CLASS[:300], seed=Seed(0))  # 262 rows and 38
    assert made.shape == (300, 4000)
    assert float(made.mean()) == pytest.approx(0.02, abs=0.005)


# -- bits and files -----------------------------------------------------------------------------------

CASES = {
    "continuous": (QUICK, *continuous(200), CONTINUOUS),
    "standard": (replace(QUICK, transform="standard", sampler="ancestral"), *continuous(200), CONTINUOUS),
    "one row": (QUICK, UNKNOWN.repeat(50, 1), torch.zeros(50, 2), CONTINUOUS),
    "multinomial": (QUICK, patterns()[:200], continuous(200)[1], DISCRETE),
    "threshold": (replace(QUICK, discrete="threshold"), patterns()[:200], continuous(200)[1], DISCRETE),
    "dropout": (replace(QUICK, dropout=0.2, sampler="deterministic"), *continuous(200), CONTINUOUS),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
Case = tuple[TabDDPMConfig, Tensor, Tensor, FeatureSpec]


@each_case
def test_the_same_bits_whatever_the_number_of_cores(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for cores in (1, 4):
        monkeypatch.setattr(threads, "cores", lambda cores=cores: cores)
        made.append(fitted(*case).sample(of_class(0), seed=Seed(3)))
    assert torch.equal(*made)


@each_case
def test_what_was_learned_survives_a_file(case: Case) -> None:
    model = fitted(*case)
    tensors, settings = model.state()
    again = TabDDPM(case[0]).restore({name: value.clone() for name, value in tensors.items()}, settings, case[3])
    assert torch.equal(again.sample(of_class(1, 200), seed=Seed(4)), model.sample(of_class(1, 200), seed=Seed(4)))
    assert again.report == model.report


def test_learning_leaves_the_global_generator_alone() -> None:
    before = torch.get_rng_state()
    fitted(*CASES["dropout"])
    assert torch.equal(torch.get_rng_state(), before)


def test_settings_come_from_the_configuration() -> None:
    assert TabDDPM.build(FeatureSettings(tabddpm=QUICK)).config == QUICK
