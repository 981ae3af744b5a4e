"""Scalings of continuous columns: there and back, point masses, weights, the data's range."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import kstest
from torch import Tensor

from dignn.features.scaling import SCALINGS, Quantile, Scaling, Standard
from dignn.runtime.seeds import Seed


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
    torch.testing.assert_close(weighted, repeated, atol=0.05 if kind is Quantile else 1e-5, rtol=0.01)


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
