"""Values of sparse rows: what is exact about them is found, and what rows have in common is learned."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.features.ditabddpm.generator import DiTabDDPM
from dignn.features.ditabddpm.value_codes import WHOLE_MULTIPLES, ValueCodes
from dignn.features.settings import DiTabDDPMConfig
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

ROWS, COLUMNS = 600, 60


@pytest.fixture(autouse=True)
def _haste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.features.ditabddpm.absorbing_rows._ROWS", 200)


CONFIG = DiTabDDPMConfig(width=32, training=TrainingConfig(steps=200, learning_rate=3e-3, validate_every=50))


def counts(seed: int = 0) -> Tensor:
    """Words of texts of several lengths; most occur once.  (n, d)"""
    generator = Seed(seed).child("counts").torch()
    rate = 0.1 * torch.rand(1, COLUMNS, generator=generator) * torch.randint(1, 6, (ROWS, 1), generator=generator)
    rows = torch.poisson(rate, generator=generator)
    rows[rows.sum(1) == 0, 0] = 1.0
    return rows


def weights() -> Tensor:
    """What a rare word counts more than a frequent one.  (d,)"""
    return 1 + torch.rand(COLUMNS, generator=Seed(3).torch()) * 4


@pytest.mark.parametrize(
    ("table", "factors"),
    [
        (counts() / counts().sum(1, keepdim=True), False),
        (counts() / torch.randint(1, 9, (ROWS, 1), generator=Seed(4).torch()), False),
        (counts() * weights() / (counts() * weights()).norm(dim=1, keepdim=True), True),
    ],
    ids=["shares", "means", "weighed"],
)
def test_multiples_scales_and_factors_are_found(table: Tensor, factors: bool) -> None:
    codes = ValueCodes.of(table)
    assert not codes.ranks
    found = codes.encode(table, Seed(0).torch())
    whole = found.code < WHOLE_MULTIPLES
    assert float(whole.float().mean()) > 0.97
    back = codes.decode(found.column, found.code, found.scale[found.row], Seed(0).torch())
    assert torch.allclose(back[whole], table[found.row, found.column][whole], rtol=1e-3)
    if factors:
        ratio = codes.factor - weights().double().log()
        used = (table != 0).sum(0) > 20
        assert float((ratio[used] - ratio[used].median()).abs().median()) < 1e-3


def test_values_without_such_a_form_are_ranked_in_their_column() -> None:
    table = torch.randn(ROWS, COLUMNS, generator=Seed(0).torch()) * (counts() > 0)
    codes = ValueCodes.of(table)
    assert codes.ranks
    found = codes.encode(table, Seed(0).torch())
    back = codes.decode(found.column, found.code, found.scale[found.row], Seed(1).torch())
    real = table[found.row, found.column]
    assert float(torch.corrcoef(torch.stack([real, back]))[0, 1]) > 0.98
    assert set(back.tolist()) <= set(real.tolist())


def learned(table: Tensor, kind: FeatureKind, **options: object) -> Tensor:
    """As many rows as there are, generated."""
    spec = FeatureSpec(kind, COLUMNS, **options)
    model = DiTabDDPM(CONFIG).fit(table, torch.zeros(ROWS, 0), spec, seed=Seed(0))
    tensors, settings = model.state()
    made = model.sample(torch.zeros(ROWS, 0), seed=Seed(1))
    again = DiTabDDPM(CONFIG).restore(tensors, settings, spec)
    few = torch.zeros(9, 0)
    assert torch.equal(again.sample(few, seed=Seed(2)), model.sample(few, seed=Seed(2)))
    return made


def test_means_of_several_rows_have_the_scale_of_their_size() -> None:
    """Rows that are sums of many others have many entries and large values; a mean divides them by their number."""
    number = torch.randint(1, 7, (ROWS,), generator=Seed(5).torch())
    chance = torch.linspace(0.02, 0.3, COLUMNS).repeat(ROWS, 1)
    summed = torch.stack([torch.bernoulli(chance, generator=Seed(place).torch()) for place in range(6)])
    rows = (summed * (torch.arange(6)[:, None] < number)[..., None]).sum(0) / number[:, None]
    rows[rows.sum(1) == 0, 0] = 1.0
    made = learned(rows, FeatureKind.CONTINUOUS)
    size, least = (
        [(table != 0).sum(1).float().log(), table.masked_fill(table == 0, torch.inf).amin(1).log()]
        for table in (rows, made)
    )
    real, new = (float(torch.corrcoef(torch.stack(pair))[0, 1]) for pair in (size, least))
    assert real < -0.7
    assert new == pytest.approx(real, abs=0.15)
    assert float(made.sum(1).mean()) == pytest.approx(float(rows.sum(1).mean()), rel=0.1)


def test_shares_sum_to_one_exactly_as_in_the_data() -> None:
    rows = counts() / counts().sum(1, keepdim=True)
    made = learned(rows, FeatureKind.CONTINUOUS)
    assert torch.allclose(made.sum(1), torch.ones(ROWS), atol=1e-6)
    least = made.masked_fill(made == 0, torch.inf).amin(1, keepdim=True)
    multiple = made / least
    assert float(((multiple - multiple.round()).abs() < 1e-2).float().mean()) > 0.97


def test_rows_with_many_entries_take_few_steps_and_get_all_of_them() -> None:
    """More entries than steps: several are revealed at a time."""
    rows = (torch.rand(300, 260, generator=Seed(0).torch()) < 0.5).float()
    spec = FeatureSpec(FeatureKind.BINARY, 260)
    hasty = replace(CONFIG, noise="absorbing", training=TrainingConfig(steps=20, validate_every=10))
    model = DiTabDDPM(hasty).fit(rows, torch.zeros(300, 0), spec, seed=Seed(0))
    number = model.sample(torch.zeros(300, 0), seed=Seed(1)).sum(1)
    assert float(number.mean()) == pytest.approx(float(rows.sum(1).mean()), rel=0.02)
    assert float(number.min()) >= float(rows.sum(1).min())


def test_values_that_are_large_together_are_drawn_together() -> None:
    """Each row has a half of its columns large and the other small; which half no column tells."""
    generator = Seed(5).torch()
    number, columns = 800, 12
    first = torch.rand(number, 1, generator=generator) < 0.5
    large = torch.where(torch.arange(columns) < columns // 2, first, ~first)
    rows = torch.where(large, 4.0, 1.0) * (torch.rand(number, columns, generator=generator) < 0.45)
    rows[:, 0] += rows.sum(1) == 0
    spec = FeatureSpec(FeatureKind.COUNT, columns, levels=(5,) * columns)
    config = replace(CONFIG, noise="absorbing", training=replace(CONFIG.training, steps=300))
    made = (
        DiTabDDPM(config)
        .fit(rows, torch.ones(number, 1), spec, seed=Seed(0))
        .sample(torch.ones(number, 1), seed=Seed(1))
    )

    def together(some: Tensor) -> float:
        """How often two entries of one half are both large or both small."""
        halves = some.reshape(len(some), 2, -1)
        large, small = ((halves == value).float().sum(2) for value in (4, 1))
        pairs = large + small
        same = (large * (large - 1) + small * (small - 1)).sum()
        return float(same / (pairs * (pairs - 1)).sum())

    assert together(rows) == 1
    assert together(made) > 0.8  # .5 if values were drawn apart from each other
