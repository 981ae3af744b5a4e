"""Tables whose columns are of several kinds: all of them together, with what is missing, and words beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.features.given import Fixed
from dignn.features.settings import DiTabDDPMConfig, FeatureSettings, TabDDPMConfig, Transform
from dignn.features.tabddpm import sparse_block
from dignn.features.tabddpm.decomposition import Decomposition, Unit
from dignn.features.tabddpm.generator import TabDDPM
from dignn.features.tabddpm.scaling import SCALINGS, Quantile
from dignn.features.table import Table
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec

ROWS, CLASSES, DAY = 900, 2, 86_400.0
TRAINING = TrainingConfig(steps=300, learning_rate=5e-3, validate_every=100)
CONFIG = FeatureSettings(
    tabddpm=TabDDPMConfig(width=64, training=TRAINING),
    ditabddpm=DiTabDDPMConfig(width=32, training=replace(TRAINING, learning_rate=3e-3)),
)
HASTY = replace(CONFIG, tabddpm=replace(CONFIG.tabddpm, training=TrainingConfig(steps=5, validate_every=5)))
COLUMNS = (
    Column(ColumnKind.BINARY),
    Column(ColumnKind.CONTINUOUS),  # heavy tails; large where the binary column is 1
    Column(ColumnKind.CONTINUOUS, missing=True),  # missing by class; zero in four of ten rows
    *[Column(ColumnKind.ONE_HOT, group=0)] * 3,
    Column(ColumnKind.COUNT, levels=500),
    Column(ColumnKind.DATE, unit="seconds", epoch="2000-01-01"),  # whole days
    Column(ColumnKind.IDENTITY),
    Column(ColumnKind.CONSTANT, constant=4.0),
)
SPEC = FeatureSpec(FeatureKind.MIXED, len(COLUMNS), columns=COLUMNS)
LABEL = torch.arange(ROWS) % CLASSES


@cache
def rows() -> Tensor:
    generator = Seed(0).torch()
    cause = torch.randn(ROWS, generator=generator)

    def uniform() -> Tensor:
        return torch.rand(ROWS, generator=generator)

    yes = (cause + 0.3 * torch.randn(ROWS, generator=generator) > 0).float()
    heavy = (3 * yes + torch.randn(ROWS, generator=generator)).exp()
    some = torch.where(uniform() < 0.4, 0.0, cause.abs() + 0.1)
    some[uniform() < torch.tensor([0.1, 0.5])[LABEL]] = torch.nan
    group = torch.eye(3)[torch.where(cause > 0.5, 2, (cause > -0.5).long())]
    count = torch.poisson((4 + 0.5 * cause).exp(), generator=generator)
    day = (1000 + 100 * cause).round() * DAY
    parts = [yes[:, None], heavy[:, None], some[:, None], group, count[:, None], day[:, None]]
    return torch.cat([*parts, torch.arange(ROWS)[:, None] + 7.0, torch.full((ROWS, 1), 4.0)], dim=1)


@cache
def made(count: int = 3000) -> tuple[Tensor, Tensor]:
    """Generated rows, and the class of each."""
    label = torch.arange(count) % CLASSES
    return fitted().sample(torch.eye(CLASSES)[label], seed=Seed(1)), label


@cache
def fitted(config: FeatureSettings = CONFIG) -> TabDDPM:
    return TabDDPM.build(config).fit(rows(), torch.eye(CLASSES)[LABEL], SPEC, seed=Seed(0))


def share(values: Tensor) -> float:
    return float(values.float().mean())


# -- what comes out -----------------------------------------------------------------------------------


def test_every_column_holds_what_its_kind_says() -> None:
    found, _ = made()
    assert set(found[:, 0].tolist()) == {0.0, 1.0}
    assert bool((found[:, 3:6].sum(1) == 1).all())
    assert set(found[:, 3:6].unique().tolist()) == {0.0, 1.0}
    assert bool((found[:, 6] == found[:, 6].round()).all())
    assert bool((found[:, 7] % DAY == 0).all())
    assert set(found[:, 8].tolist()) <= set(rows()[:, 8].tolist())
    assert bool((found[:, 9] == 4).all())
    for column in (1, 2, 6, 7):
        real, new = (table[:, column][~table[:, column].isnan()] for table in (rows(), found))
        assert real.min() <= new.min()
        assert new.max() <= real.max()


def test_values_are_missing_as_often_as_in_the_class() -> None:
    found, label = made()
    for one, often in ((0, 0.1), (1, 0.5)):
        assert share(found[label == one, 2].isnan()) == pytest.approx(often, abs=0.05)
    assert not bool(found[:, [0, 1, 3, 4, 5, 6, 7, 8, 9]].isnan().any())


def test_zeros_of_a_continuous_column_stay_zeros() -> None:
    found, _ = made()
    known = found[~found[:, 2].isnan(), 2]
    assert share(known == 0) == pytest.approx(0.4, abs=0.06)
    assert float(known[known != 0].min()) >= 0.1 - 1e-4


def test_columns_depend_on_each_other_across_kinds() -> None:
    found, _ = made()
    for table in (rows(), found):
        yes = table[:, 0] == 1
        assert float(table[yes, 1].median() / table[~yes, 1].median()) > 8
        assert share(table[yes, 5]) > share(table[~yes, 5]) + 0.35
        rank = torch.stack([table[:, 6], table[:, 7]]).argsort(1).argsort(1).double()
        assert float(torch.corrcoef(rank)[0, 1]) > 0.7


def test_heavy_tails_come_out_as_heavy() -> None:
    points = torch.tensor([0.05, 0.5, 0.95, 0.99])
    real, new = (table[:, 1].log().quantile(points) for table in (rows(), made()[0]))
    assert torch.allclose(real, new, atol=0.5)


def test_fixed_columns_are_kept_and_others_follow() -> None:
    values = torch.zeros(600, SPEC.width)
    values[:300, 0], values[300:, 2] = 1.0, torch.nan
    mask = torch.zeros(600, SPEC.width, dtype=torch.bool)
    mask[:, [0, 2]] = True
    found = fitted().sample(torch.zeros(600, CLASSES), fixed=Fixed(values, mask), seed=Seed(3))
    assert torch.equal(found[:, 0], values[:, 0])
    assert bool(found[300:, 2].isnan().all())
    assert bool((found[:300, 2] == 0).all())
    assert float(found[:300, 1].median() / found[300:, 1].median()) > 5


def test_what_was_learned_survives_a_file() -> None:
    generator = fitted(HASTY)
    tensors, settings = generator.state()
    assert all(bool(tensor.isfinite().all()) for tensor in tensors.values())  # what files take
    again = TabDDPM.build(HASTY).restore(tensors, json.loads(json.dumps(settings)), SPEC)
    asked = torch.eye(CLASSES)[torch.arange(50) % CLASSES]
    one, other = (each.sample(asked, seed=Seed(5)) for each in (generator, again))
    assert torch.equal(one.nan_to_num(-1.0), other.nan_to_num(-1.0))


# -- words beside other columns -----------------------------------------------------------------------


def test_many_sparse_columns_are_learned_given_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_block, "LEAST_BLOCK", 20)
    generator = Seed(7).torch()
    price = torch.randn(ROWS, 1, generator=generator)
    words = torch.rand(ROWS, 40, generator=generator) < torch.where(torch.arange(40) < 20, 0.15, 0.02)
    words = torch.where(price > 0, words, words.flip(1)).float()  # the first half where the price is high
    columns = (Column(ColumnKind.CONTINUOUS), *[Column(ColumnKind.BINARY)] * 40)
    spec = FeatureSpec(FeatureKind.MIXED, 41, columns=columns)
    table = torch.cat([price, words], dim=1)
    model = TabDDPM.build(CONFIG).fit(table, torch.zeros(ROWS, 0), spec, seed=Seed(0))
    assert model.report["sparse"]["noise"] == "absorbing"
    found = model.sample(torch.zeros(1500, 0), seed=Seed(1))
    for high in (True, False):
        real, new = (some[(some[:, 0] > 0) == high, 1:21].mean() for some in (table, found))
        assert float(new) == pytest.approx(float(real), abs=0.03)
    tensors, settings = model.state()
    again = TabDDPM.build(CONFIG).restore(tensors, json.loads(json.dumps(settings)), spec)
    assert torch.equal(again.sample(torch.zeros(9, 0), seed=Seed(2)), model.sample(torch.zeros(9, 0), seed=Seed(2)))


def test_a_fixed_number_beyond_those_of_the_data_counts_as_the_last_of_them() -> None:
    generator = Seed(0).torch()
    number = torch.randn(400, 1, generator=generator)
    table = torch.cat([number, number + 0.2 * torch.randn(400, 1, generator=generator)], dim=1)
    spec = FeatureSpec(FeatureKind.MIXED, 2, columns=(Column(ColumnKind.CONTINUOUS),) * 2)
    model = TabDDPM.build(HASTY).fit(table, torch.zeros(400, 0), spec, seed=Seed(0))

    def made(given: float) -> Tensor:
        fixed = Fixed.columns(torch.full((40, 1), given), torch.tensor([0]), 2)
        return model.sample(torch.zeros(40, 0), fixed=fixed, seed=Seed(1))[:, 1]

    assert torch.equal(made(1e3), made(float(number.max())))
    assert not torch.equal(made(1e3), made(0.0))


# -- codes and values ---------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", SCALINGS)
def test_rows_come_back_from_codes_and_values(transform: Transform) -> None:
    table = Table.of(rows(), torch.eye(CLASSES)[LABEL], SPEC)
    parts = Decomposition.of(table, SCALINGS[transform])
    code, values = parts.encode(table.rows, Seed(0).torch())
    assert {type(scaling) for scaling in parts.scaling} == {SCALINGS[transform]}
    back = parts.decode(code, values)
    assert torch.equal(back.isnan(), table.rows.isnan())
    exact = [0, 2, 3, 4, 5, 7, 9]
    close = torch.isclose(back.nan_to_num(), table.rows.nan_to_num(), rtol=0.05, atol=0.05)
    assert share(close[:, exact]) > 0.99
    kept = parts.state()
    again = Decomposition.restored(kept)
    assert torch.equal(again.decode(code, values).nan_to_num(), back.nan_to_num())


def test_numbers_that_repeat_are_levels() -> None:
    number = torch.cat([torch.zeros(50), torch.full((30,), 9.0), torch.linspace(1, 8, 120)])[:, None]
    spec = FeatureSpec(FeatureKind.MIXED, 1, columns=(Column(ColumnKind.CONTINUOUS),))
    (unit,) = Decomposition.of(Table.of(number, torch.zeros(200, 0), spec), Quantile).units
    assert unit.levels[:, 0].tolist() == [0.0, 9.0]
    assert unit.other
    assert unit.encode(torch.tensor([[0.0], [9.0], [4.2], [77.0]])).tolist() == [0, 1, 2, 2]


def test_a_value_that_no_row_has_is_the_nearest_level() -> None:
    unit = Unit(torch.tensor([0]), torch.tensor([[0.0], [3.0], [torch.nan]]))
    assert unit.encode(torch.tensor([[0.4], [2.0], [torch.nan]])).tolist() == [0, 1, 2]


def test_one_hot_rows_get_the_code_of_the_nearest_level() -> None:
    levels = torch.eye(6)[[5, 3, 1, 0]]  # in the order of distinct rows; no row has the third or fifth value
    unit = Unit(torch.arange(6), levels)
    asked = torch.cat([torch.eye(6), torch.zeros(1, 6), torch.tensor([[0.0, 0.9, 0, 0, 0, 0.1]])])
    assert torch.equal(unit.encode(asked), torch.cdist(asked, levels, p=1).min(1).indices)
    lost = Unit(torch.arange(6), torch.cat([levels, torch.full((1, 6), torch.nan)]))
    assert lost.encode(torch.cat([asked[:1], torch.full((1, 6), torch.nan)])).tolist() == [3, 4]
