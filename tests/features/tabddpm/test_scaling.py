"""Scalings of continuous columns: there and back, point masses, weights, the data's range."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
import torch
from scipy.stats import kstest
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.features.settings import TabDDPMConfig, Transform
from dignn.features.tabddpm.generator import TabDDPM
from dignn.features.tabddpm.scaling import SCALINGS, ByShape, Quantile, Scaling, Standard
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec


def rows(count: int = 3000) -> Tensor:
    """Normal, log-normal, uniform far from 0, and 70 % zeros."""
    generator = Seed(0).torch()
    table = torch.randn(count, 4, generator=generator)
    table[:, 1] = table[:, 1].exp()
    table[:, 2] = 1e4 + torch.rand(count, generator=generator)
    table[:, 3] = table[:, 3].abs() * (torch.rand(count, generator=generator) < 0.3)
    return table


ONES = torch.ones(3000)
each_kind = pytest.mark.parametrize("kind", SCALINGS.values(), ids=SCALINGS.keys())


@each_kind
def test_there_and_back(kind: type[Scaling]) -> None:
    table = rows()
    scaling = kind.of(table, ONES)
    back = scaling.decode(scaling.encode(table, Seed(1).torch()))
    ordered = torch.linspace(0.01, 0.99, 99)
    # Beyond the last of 1000 quantiles, ranks of single rows are not kept.
    torch.testing.assert_close(back.quantile(ordered, 0), table.quantile(ordered, 0), atol=2e-3, rtol=1e-4)
    inner = ((table > table.quantile(0.002, 0)) & (table < table.quantile(0.998, 0))) | (table == 0)
    torch.testing.assert_close(back[inner], table[inner], atol=1e-3, rtol=1e-3)


@each_kind
def test_results_stay_within_the_range_of_the_data(kind: type[Scaling]) -> None:
    table = rows()
    made = kind.of(table, ONES).decode(torch.linspace(-50, 50, 1001)[:, None].expand(-1, 4))
    assert bool(((made >= table.amin(0)) & (made <= table.amax(0))).all())
    torch.testing.assert_close(made[[0, -1]], torch.stack([table.amin(0), table.amax(0)]))
    assert bool((made.diff(dim=0) >= 0).all())


def test_standard_columns_have_mean_0_and_deviation_1() -> None:
    found = Standard.of(rows(), ONES).encode(rows(), Seed(0).torch()).double()
    np.testing.assert_allclose(found.mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(found.std(0), 1, atol=1e-3)


def test_quantile_columns_are_normal_also_with_point_masses() -> None:
    found = Quantile.of(rows(), ONES).encode(rows(), Seed(0).torch())
    for column in range(4):
        assert kstest(found[:, column].numpy(), "norm").statistic < 0.02


def test_a_point_mass_keeps_its_size_and_its_value() -> None:
    table = rows()
    made = Quantile.of(table, ONES).decode(torch.randn(100_000, 4, generator=Seed(2).torch()))
    assert float((made[:, 3] == 0).float().mean()) == pytest.approx(float((table[:, 3] == 0).float().mean()), abs=0.01)


@each_kind
def test_weights_count_as_repetition(kind: type[Scaling]) -> None:
    table = rows(400)
    weight = torch.arange(400) % 3 + 1
    values = torch.linspace(-2, 2, 41)[:, None].expand(-1, 4)
    weighted = kind.of(table, weight).decode(values)
    repeated = kind.of(table.repeat_interleave(weight, 0), torch.ones(int(weight.sum()))).decode(values)
    torch.testing.assert_close(weighted, repeated, atol=1e-5 if kind is Standard else 0.05, rtol=0.01)


@each_kind
def test_two_values_and_two_rows_are_enough(kind: type[Scaling]) -> None:
    table = torch.tensor([[0.0], [1.0]])
    scaling = kind.of(table, torch.ones(2))
    found = scaling.encode(table, Seed(0).torch())
    assert bool(found.isfinite().all())
    assert float(found[0]) < float(found[1])
    made = scaling.decode(torch.linspace(-4, 4, 9)[:, None])
    assert (float(made[0]), float(made[-1])) == pytest.approx((0, 1), abs=0.01)


def test_values_that_were_not_measured_are_between_their_neighbours() -> None:
    scaling = Quantile.of(torch.tensor([[0.0], [1.0], [2.0], [4.0]]), torch.ones(4))
    found = scaling.encode(torch.tensor([[-9.0], [0.5], [1.5], [3.0], [99.0]]), Seed(0).torch())[:, 0]
    assert bool((found.diff() > 0).all())
    assert bool(found.isfinite().all())


# -- point masses and whole numbers -------------------------------------------------------------------


def mixed(count: int = 3000) -> Tensor:
    """Yes or no at .5, .1 and .004; 0 or 100; .25, .5 or 2.5; years; large whole numbers; 70 % zeros; normal."""
    generator = Seed(5).torch()
    chance = torch.rand(count, 8, generator=generator)
    noise = torch.randn(count, generator=generator)
    return torch.stack(
        [
            (chance[:, 0] < 0.5).float(),
            (chance[:, 1] < 0.1).float(),
            (chance[:, 2] < 0.004).float(),
            100.0 * (chance[:, 3] < 0.3),
            torch.tensor([0.25, 0.5, 2.5])[(3 * chance[:, 4]).long()],
            (1960 + 60 * chance[:, 5].sqrt()).floor(),
            (1e5 * chance[:, 6]).floor(),
            (1 + chance[:, 7]) * (chance[:, 7] < 0.3),
            noise,
        ],
        dim=1,
    )


WHOLE = [0, 1, 2, 3, 5, 6]


def drawn(kind: type[Scaling], table: Tensor) -> Tensor:
    """What a perfect diffusion model of independent columns would make."""
    found = kind.of(table, torch.ones(len(table)))
    return found.decode(torch.randn(20_000, table.size(1), generator=Seed(6).torch()))


@each_kind
@pytest.mark.parametrize("count", [40, 333, 3000])
def test_whole_numbers_stay_whole(kind: type[Scaling], count: int) -> None:
    table = mixed(count)
    varying = [column for column in WHOLE if bool((table[:, column] != table[0, column]).any())]
    made = drawn(kind, table[:, varying])
    assert torch.equal(made, made.round())
    for column, place in enumerate(varying):
        if place < 3:
            assert set(made[:, column].tolist()) <= {0.0, 1.0}


@each_kind
def test_other_columns_are_not_rounded(kind: type[Scaling]) -> None:
    made = drawn(kind, mixed()[:, [4, 8]])
    assert bool((made != made.round()).any(0).all())


@pytest.mark.parametrize("count", [100, 333, 3000])
def test_nothing_lies_between_point_masses(count: int) -> None:
    table = mixed(count)
    made = drawn(Quantile, table)
    for column in (0, 1, 3, 4):
        values, number = table[:, column].unique(return_counts=True)
        assert set(made[:, column].tolist()) <= set(values.tolist())
        share = (made[:, column, None] == values).float().mean(0)
        # A knot's width, and three deviations of what is drawn.
        torch.testing.assert_close(share, number / count, atol=1 / min(count, 1000) + 0.011, rtol=0)
    positive = made[:, 7][made[:, 7] > 0]
    assert float(positive.min()) >= 1  # nothing between 0 and the smallest of the others
    assert len(positive.unique()) > min(count, 1000)  # which are not snapped to what exists


def test_equal_rows_of_few_nodes_are_no_point_masses() -> None:
    """A table holds a node's row once for each class around it; new values still lie between two such rows."""
    table = torch.randn(200, 1, generator=Seed(0).torch())
    made = drawn(Quantile, table.repeat(4, 1))
    assert float(torch.isin(made, table).float().mean()) < 0.8
    one = Quantile.of(table, 1 + 99.0 * (torch.arange(200) == 7))  # a heavy row
    assert not bool(one.point.any())


@each_kind
def test_whole_numbers_can_be_left_as_they_fall(kind: type[Scaling]) -> None:
    table = mixed()[:, [6]]
    values = torch.linspace(-1, 1, 101)[:, None]
    found = [kind.of(table, ONES, whole=whole).decode(values) for whole in (True, False)]
    assert torch.equal(found[0], found[1].round())
    assert not torch.equal(*found)


def shapes(count: int = 2000) -> dict[str, tuple[Tensor, bool]]:
    """Columns by name, and whether nothing in them is sharp."""
    generator = Seed(7).torch()
    normal, uniform = torch.randn(count, generator=generator), torch.rand(count, generator=generator)
    return {
        "normal": (normal, True),
        "two clusters": (torch.where(uniform < 0.5, normal, normal + 9), True),
        "far away": (1e4 + normal, True),
        "long tails": ((2 * normal).exp(), False),
        "uniform": (uniform, False),
        "exponential": (-uniform.log(), False),
        "exponential, and one far below": (torch.cat([-uniform[1:].log(), torch.tensor([-0.2])]), False),
        "uniform, and one at each side": (torch.cat([uniform[2:], torch.tensor([-0.1, 1.1])]), False),
        "a gap with sharp sides": ((1 - uniform.log()) * normal.sign(), False),
        "steps": ((40 * normal).round() / 2 + 0.25, False),
        "whole numbers": ((3 * normal).round(), False),
        "a value that repeats": (normal.clamp_min(0.0), False),
    }


@pytest.mark.parametrize("name", shapes())
def test_a_column_in_which_nothing_is_sharp_keeps_its_shape(name: str) -> None:
    column, plain = shapes()[name]
    table = torch.stack([column, shapes()["normal"][0]], dim=1)  # beside a plain one, which does not change it
    found = ByShape.of(table, torch.ones(len(table)))
    assert found.plain.tolist() == [plain, True]
    alone = SCALINGS["standard" if plain else "quantile"].of(table, torch.ones(len(table)))
    assert torch.equal(found.encode(table, Seed(0).torch())[:, 0], alone.encode(table, Seed(0).torch())[:, 0])
    values = torch.linspace(-3, 3, 61)[:, None].expand(-1, 2)
    assert torch.equal(found.decode(values)[:, 0], alone.decode(values)[:, 0])


def test_an_edge_stays_sharp() -> None:
    """Nothing piles up at the least value of a column that begins all at once, as it would if it kept its shape."""
    column = shapes()["exponential"][0][:, None]
    assert float((drawn(ByShape, column) == column.min()).float().mean()) < 0.01
    assert float((drawn(Standard, column) == column.min()).float().mean()) > 0.1


@pytest.mark.parametrize("transform", SCALINGS)
def test_whoever_says_a_scaling_gets_it_and_it_comes_back(transform: Transform) -> None:
    table = torch.stack([column for column, _ in shapes(200).values()], dim=1)
    spec = FeatureSpec(FeatureKind.CONTINUOUS, table.size(1))
    config = TabDDPMConfig(transform=transform, width=8, blocks=1, sampler_steps=2, training=TrainingConfig(steps=1))
    model = TabDDPM(config).fit(table, torch.zeros(200, 0), spec, seed=Seed(0))
    kept = {name.rpartition(".")[2] for name in model.state()[0] if ".scaling." in name}
    assert kept == {name.name for name in fields(SCALINGS[transform])}
    restored = TabDDPM(config).restore(*model.state(), spec)
    one, two = (each.sample(torch.zeros(5, 0), seed=Seed(1)) for each in (model, restored))
    assert torch.equal(one, two)
