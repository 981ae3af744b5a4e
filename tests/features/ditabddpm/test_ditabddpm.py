"""DiTabDDPM on small tables whose distribution is known: which columns go together, in which class."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from dignn.core import threads
from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.features.ditabddpm.generator import DiTabDDPM
from dignn.features.settings import DiTabDDPMConfig, FeatureSettings
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

SMALL = DiTabDDPMConfig(
    width=64,
    emphasis=0.0,
    sampler_steps=40,
    training=TrainingConfig(steps=300, learning_rate=5e-3, validate_every=100),
    marginal_training=TrainingConfig(steps=300, learning_rate=5e-3, validate_every=100),
)
HASTE = TrainingConfig(steps=10, validate_every=5)
QUICK = replace(SMALL, width=16, sampler_steps=4, training=HASTE, marginal_training=HASTE)
METHODS = {
    "absorbing": replace(SMALL, noise="absorbing"),
    "marginal": replace(SMALL, noise="marginal"),
    "paper": replace(SMALL, noise="marginal", denoiser="paper"),
}
each_method = pytest.mark.parametrize(
    "config",
    [
        pytest.param(config, id=name, marks=pytest.mark.slow if name == "paper" else ())
        for name, config in METHODS.items()
    ],
)
MADE = 2000


def binary(width: int) -> FeatureSpec:
    return FeatureSpec(FeatureKind.BINARY, width)


def bits(count: int, width: int, share: float = 0.5) -> Tensor:
    return (torch.rand(count, width, generator=Seed(0).child(width).torch()) < share).float()


def share_of(said: Tensor) -> float:
    return float(said.float().mean())


# -- columns that go together -------------------------------------------------------------------------


@each_method
def test_columns_that_go_together_and_one_that_is_the_parity_of_two_others(config: DiTabDDPMConfig) -> None:
    """Here b = a and e = c xor d: of 32 rows of five bits, 8 exist."""
    a, c, d = bits(2000, 3).unbind(1)
    rows = torch.stack([a, a, c, d, (c != d).float()], dim=1)
    model = DiTabDDPM(config).fit(rows, torch.zeros(2000, 0), binary(5), seed=Seed(1))
    made = model.sample(torch.zeros(MADE, 0), seed=Seed(2))
    a, b, c, d, e = made.unbind(1)
    assert share_of(a == b) > 0.95  # of independent columns: .5
    assert share_of((c != d).float() == e) > 0.8
    for column in range(5):
        assert share_of(made[:, column] == 1) == pytest.approx(0.5, abs=0.06)
    assert share_of(a == c) == pytest.approx(0.5, abs=0.06)  # what is independent stays so
    assert share_of(a == e) == pytest.approx(0.5, abs=0.06)


@each_method
def test_classes_have_their_own_frequencies_and_pairs(config: DiTabDDPMConfig) -> None:
    """In class 0 two rare columns are equal, in class 1 two frequent ones are opposite."""
    label = torch.arange(2000) % 2
    first, second = bits(2000, 2, 0.2).unbind(1)
    rows = torch.where(
        (label == 0)[:, None], torch.stack([first, first, second], 1), torch.stack([1 - first, first, 1 - second], 1)
    )
    model = DiTabDDPM(config).fit(rows, torch.eye(2)[label], binary(3), seed=Seed(1))
    for number, (expected, equal) in enumerate((([0.2, 0.2, 0.2], 1.0), ([0.8, 0.2, 0.8], 0.0))):
        made = model.sample(torch.eye(2)[[number] * MADE], seed=Seed(2))
        assert made.mean(0).tolist() == pytest.approx(expected, abs=0.06)
        assert share_of(made[:, 0] == made[:, 1]) == pytest.approx(equal, abs=0.08)
    nobody = model.sample(torch.zeros(MADE, 2), seed=Seed(2))
    assert nobody.mean(0).tolist() == pytest.approx([0.5, 0.2, 0.5], abs=0.1)
    assert model.report["noise"] == config.noise
    assert model.report["training"]["steps"] == config.training.steps


@pytest.mark.parametrize("denoiser", ["fast", "paper"])
def test_categories_of_different_numbers_of_values(denoiser: str) -> None:
    """The second column is the first one's remainder by two, the third the sum of both."""
    config = METHODS["paper" if denoiser == "paper" else "marginal"]
    first = torch.randint(5, (2000,), generator=Seed(0).torch()).float()
    rows = torch.stack([first, first % 2, first + first % 2], dim=1)
    spec = FeatureSpec(FeatureKind.CATEGORICAL, 3, levels=(5, 2, 6))
    model = DiTabDDPM(config).fit(rows, torch.zeros(2000, 0), spec, seed=Seed(1))
    made = model.sample(torch.zeros(MADE, 0), seed=Seed(2))
    known = {tuple(row) for row in rows.tolist()}
    assert sum(tuple(row) in known for row in made.tolist()) / MADE > 0.8  # of independent columns: .17
    for value in range(5):
        assert share_of(made[:, 0] == value) == pytest.approx(0.2, abs=0.06)


def test_counts_of_sparse_words_keep_their_values() -> None:
    """Word 0 occurs three times wherever it occurs, word 1 once or twice, and only with word 0."""
    there = bits(1500, 6, 0.3)
    there[:, 1] = there[:, 0]
    rows = there * torch.tensor([3.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    rows[::10, 1] *= 2
    spec = FeatureSpec(FeatureKind.COUNT, 6, levels=(4, 3, 2, 2, 2, 2))
    model = DiTabDDPM(replace(SMALL, noise="absorbing")).fit(rows, torch.zeros(1500, 0), spec, seed=Seed(1))
    made = model.sample(torch.zeros(MADE, 0), seed=Seed(2))
    assert set(made[:, 0].tolist()) == {0, 3}
    assert set(made[:, 1].tolist()) == {0, 1, 2}
    assert share_of((made[:, 0] > 0) == (made[:, 1] > 0)) > 0.95
    many = model.sample(torch.zeros(4 * MADE, 0), seed=Seed(3))  # 600 entries would differ by .03 now and then
    twice, real = (share_of(some[some[:, 1] > 0, 1] == 2) for some in (many, rows))
    assert twice == pytest.approx(real, abs=0.03)
    assert made.count_nonzero(0).tolist() == pytest.approx([0.3 * MADE] * 6, abs=0.05 * MADE)


# -- which noise --------------------------------------------------------------------------------------

SPARSE, DENSE = bits(40, 6, 0.2), bits(40, 6, 0.8)
OFTEN = SPARSE * 2


@pytest.mark.parametrize(
    ("rows", "kind", "noise", "expected"),
    [
        (SPARSE, FeatureKind.BINARY, "auto", "absorbing"),
        (DENSE, FeatureKind.BINARY, "auto", "marginal"),
        (SPARSE, FeatureKind.COUNT, "auto", "absorbing"),
        (OFTEN, FeatureKind.COUNT, "auto", "marginal"),  # numbers rather than sets
        (SPARSE, FeatureKind.CATEGORICAL, "auto", "marginal"),
        (SPARSE, FeatureKind.CATEGORICAL, "absorbing", "marginal"),
        (SPARSE * 0.5, FeatureKind.CONTINUOUS, "auto", "absorbing"),
        (SPARSE * 0.5, FeatureKind.CONTINUOUS, "marginal", "absorbing"),
        (SPARSE, FeatureKind.BINARY, "marginal", "marginal"),
        (DENSE, FeatureKind.BINARY, "absorbing", "absorbing"),
        (DENSE.repeat(1, 200), FeatureKind.BINARY, "auto", "absorbing"),  # 1,200 columns
    ],
)
def test_the_noise_suits_the_table(rows: Tensor, kind: FeatureKind, noise: str, expected: str) -> None:
    levels = (3,) * rows.size(1) if kind in (FeatureKind.COUNT, FeatureKind.CATEGORICAL) else None
    spec = FeatureSpec(kind, rows.size(1), levels=levels)
    model = DiTabDDPM(replace(QUICK, noise=noise)).fit(rows, torch.zeros(40, 0), spec, seed=Seed(0))
    assert model.report["noise"] == expected


def test_dense_continuous_features_are_refused() -> None:
    rows = torch.randn(40, 3, generator=Seed(0).torch())
    with pytest.raises(DignnError, match="100% of these continuous features are not zero.*choose 'tabddpm'"):
        DiTabDDPM(QUICK).fit(rows, torch.zeros(40, 0), FeatureSpec(FeatureKind.CONTINUOUS, 3), seed=Seed(0))


def test_settings_come_from_the_configuration() -> None:
    assert DiTabDDPM.build(FeatureSettings(ditabddpm=QUICK)).config == QUICK


# -- bits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "config",
    [
        replace(QUICK, noise="absorbing"),
        replace(QUICK, noise="marginal"),
        replace(QUICK, noise="marginal", denoiser="paper", dropout=0.2),
    ],
    ids=METHODS.keys(),
)
def test_the_same_bits_whatever_the_number_of_cores(config: DiTabDDPMConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for cores in (1, 4):
        monkeypatch.setattr(threads, "cores", lambda cores=cores: cores)
        model = DiTabDDPM(config).fit(SPARSE, torch.zeros(40, 2), binary(6), seed=Seed(0))
        made.append(model.sample(torch.zeros(2500, 2), seed=Seed(3)))
    assert torch.equal(*made)


def test_pieces_of_rows_do_not_repeat_each_other() -> None:
    model = DiTabDDPM(replace(QUICK, noise="absorbing")).fit(SPARSE, torch.zeros(40, 0), binary(6), seed=Seed(0))
    made = model.sample(torch.zeros(2048, 0), seed=Seed(3))
    assert not torch.equal(made[:1024], made[1024:])


def test_rows_without_an_entry_come_as_often_as_they_should_whatever_is_known_of_rows() -> None:
    """Most rows of a table with few columns are empty, and what is known of a row tells how likely that is."""
    generator = Seed(0).torch()
    known = torch.randn(2000, 1, generator=generator)
    empty = torch.rand(2000, 1, generator=generator) < torch.where(known > 0, 0.95, 0.7)
    rows = (torch.rand(2000, 4, generator=generator) < 0.4).float().masked_fill(empty, 0.0)
    label = torch.eye(2)[torch.arange(2000) % 2]
    made = DiTabDDPM(replace(SMALL, noise="absorbing", width=32))
    made.fit(rows, label, FeatureSpec(FeatureKind.BINARY, 4), context=known, seed=Seed(0))
    found = made.sample(label, context=known, seed=Seed(1))
    for some in (known[:, 0] > 0, known[:, 0] <= 0):
        share, wanted = (float((~each[some].bool().any(1)).float().mean()) for each in (found, rows))
        assert share == pytest.approx(wanted, abs=0.06)
