"""Systematic resampling inside groups."""

from __future__ import annotations

import pytest
import torch

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.diffusion.resampling import resample
from pretend_device import on_every_device, same


def test_copies_are_unbiased_and_differ_from_their_mean_by_less_than_one() -> None:
    weight = torch.tensor([0.1, 3.0, 0.0, 0.5, 1.0, 2.0, 0.2])
    group = torch.tensor([5, 0, 5, 5, 0, 0, 5])
    expected = torch.empty(7)
    for name in (0, 5):
        inside = group == name
        expected[inside] = weight[inside] / weight[inside].sum() * inside.sum()
    generator, runs = Seed(0).torch(), 1000
    total = torch.zeros(7)
    for _ in range(runs):
        copies = torch.bincount(resample(weight.log(), group, generator), minlength=7)
        assert bool(((copies - expected).abs() < 1).all())
        total += copies
    torch.testing.assert_close(total / runs, expected, atol=0.05, rtol=0)


def test_places_keep_their_group() -> None:
    group = torch.randint(4, (50,), generator=Seed(1).torch())
    weight = torch.randn(50, generator=Seed(2).torch()) * 3
    assert torch.equal(group[resample(weight, group, Seed(3).torch())], group)


@pytest.mark.parametrize("value", [0.0, -1e30, -torch.inf])
def test_equal_weights_change_nothing(value: float) -> None:
    group = torch.tensor([1, 0, 1, 1, 0])
    for seed in range(20):
        assert resample(torch.full((5,), value), group, Seed(seed).torch()).tolist() == [0, 1, 2, 3, 4]


def test_one_winner_takes_the_whole_group() -> None:
    weight = torch.tensor([0.0, 500.0, 0.0, -torch.inf, 1.0])
    assert resample(weight, torch.tensor([0, 0, 0, 1, 1]), Seed(0).torch()).tolist() == [1, 1, 1, 4, 4]


def test_large_groups_stay_apart() -> None:
    """Rounding of long sums leads neither into other groups nor to particles without weight."""
    group = torch.arange(3000) // 1000
    weight = torch.rand(3000, generator=Seed(4).torch()).log()
    weight[::1000] = weight[999::1000] = -torch.inf
    for seed in range(50):
        chosen = resample(weight, group, Seed(seed).torch())
        assert torch.equal(group[chosen], group)
        assert bool(weight[chosen].isfinite().all())


def test_same_generator_same_choice() -> None:
    weight, group = torch.randn(40, generator=Seed(5).torch()), torch.zeros(40, dtype=torch.long)
    one, again, other = (resample(weight, group, Seed(seed).torch()) for seed in (0, 0, 1))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_nothing_to_resample() -> None:
    nothing = torch.zeros(0)
    assert resample(nothing, nothing.long(), Seed(0).torch()).shape == (0,)


def test_bad_weights_are_refused() -> None:
    group = torch.zeros(2, dtype=torch.long)
    for value in (torch.inf, torch.nan):
        with pytest.raises(DignnError, match="infinite or not a number"):
            resample(torch.tensor([0.0, value]), group, Seed(0).torch())
    with pytest.raises(DignnError, match="one weight and one group"):
        resample(torch.zeros(3), group, Seed(0).torch())


@on_every_device
def test_particles_of_a_device_are_resampled_there(device: str) -> None:
    group = torch.randint(4, (50,), generator=Seed(1).torch())
    weight = torch.randn(50, generator=Seed(2).torch()) * 3
    found = resample(weight.to(device), group.to(device), Seed(3).torch())
    assert found.device.type == torch.device(device).type
    assert same(resample(weight, group, Seed(3).torch()), found.cpu(), device)
