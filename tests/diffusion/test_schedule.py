"""The schedule and the grid of times."""

from __future__ import annotations

import math

import pytest
import torch

from dignn.diffusion.schedule import cosine_signal, time_grid


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_signal_falls_from_exactly_one_to_exactly_zero(dtype: torch.dtype) -> None:
    signal = cosine_signal(torch.linspace(0, 1, 1001, dtype=dtype))
    assert signal.dtype == dtype
    assert signal[0] == 1
    assert signal[-1] == 0
    assert bool((signal.diff() < 0).all())


def test_the_signal_is_the_cosine_of_the_literature() -> None:
    for time in (0.01, 0.3, 0.5, 0.99):
        expected = math.cos((time + 0.02) / 1.02 * math.pi / 2) ** 2 / math.cos(0.02 / 1.02 * math.pi / 2) ** 2
        assert float(cosine_signal(torch.tensor(time, dtype=torch.float64), offset=0.02)) == pytest.approx(
            expected, rel=1e-6
        )


@pytest.mark.parametrize("shape", ["uniform", "quadratic"])
@pytest.mark.parametrize("steps", [1, 3, 500])
def test_grids_descend_from_one_to_zero(steps: int, shape: str) -> None:
    grid = time_grid(steps, shape)
    assert grid.shape == (steps + 1,)
    assert grid[0] == 1
    assert grid[-1] == 0
    assert bool((grid.diff() < 0).all())


def test_steps_of_the_uniform_grid_are_equal_and_of_the_quadratic_one_shrink() -> None:
    torch.testing.assert_close(time_grid(10), torch.linspace(1, 0, 11))
    steps = -time_grid(10, "quadratic").diff()
    assert bool((steps.diff() < 0).all())
