"""The Gaussian process against numerical integration, and samplers against data whose denoiser is known exactly."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
import torch
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.diffusion import gaussian
from dignn.diffusion.schedule import cosine_signal, time_grid
from dignn.diffusion.settings import GaussianSampler

SIGNALS = [(0.0, 0.2), (0.0, 1.0), (0.3, 0.31), (0.1, 0.9), (0.5, 1.0), (0.98, 0.999)]
RULES: tuple[GaussianSampler, ...] = get_args(GaussianSampler)
each_rule = pytest.mark.parametrize("rule", RULES)

# Data with a known answer: two correlated columns.
MEAN = torch.tensor([0.7, -0.4], dtype=torch.float64)
COVARIANCE = torch.tensor([[1.0, 0.6], [0.6, 0.5]], dtype=torch.float64)


def number(value: float) -> Tensor:
    return torch.tensor(value, dtype=torch.float64)


def gain(signal: float) -> Tensor:
    """E[x0 | x_a] = MEAN + gain (x_a - sqrt(a) MEAN) for normal data."""
    noisy = signal * COVARIANCE + (1 - signal) * torch.eye(2, dtype=torch.float64)
    return signal**0.5 * COVARIANCE @ torch.linalg.inv(noisy)


def exact(noisy: Tensor, signal: float) -> Tensor:
    return MEAN + (noisy - signal**0.5 * MEAN) @ gain(signal).T


def walk(
    predict: Callable[[Tensor, float], Tensor], steps: int, rule: GaussianSampler, count: int = 40_000, width: int = 2
) -> Tensor:
    start = torch.randn(count, width, generator=Seed(0).torch(), dtype=torch.float64)
    return gaussian.reverse(start, predict, time_grid(steps).double(), generator=Seed(1).torch(), rule=rule)


# -- forward ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signal", [0.0, 0.36, 1.0])
def test_noisy_values_have_the_moments_of_the_process(signal: float) -> None:
    noisy, noise = gaussian.corrupt(torch.full((200_000,), 3.0).double(), number(signal), Seed(0).torch())
    assert float(noisy.mean()) == pytest.approx(3 * signal**0.5, abs=0.01)
    assert float(noisy.var()) == pytest.approx(1 - signal, abs=0.01)
    torch.testing.assert_close(noisy, signal**0.5 * 3 + (1 - signal) ** 0.5 * noise)


def test_two_steps_of_noise_are_one() -> None:
    generator = Seed(1).torch()
    clean = torch.full((200_000,), 2.0)
    once, _ = gaussian.corrupt(clean, torch.tensor(0.8), generator)
    twice, _ = gaussian.corrupt(once, torch.tensor(0.5), generator)
    assert float(twice.mean()) == pytest.approx(2 * 0.4**0.5, abs=0.01)
    assert float(twice.var()) == pytest.approx(0.6, abs=0.01)


# -- predictions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("prediction", ["velocity", "noise"])
@pytest.mark.parametrize("signal", [0.0, 0.001, 0.5, 1.0])
def test_a_right_prediction_gives_the_clean_value(prediction: str, signal: float) -> None:
    clean = torch.randn(50, 3, generator=Seed(2).torch(), dtype=torch.float64)
    noisy, noise = gaussian.corrupt(clean, number(signal), Seed(3).torch())
    wanted = gaussian.target(prediction, clean, noise, number(signal))  # type: ignore[arg-type]
    found = gaussian.clean_of(prediction, wanted, noisy, number(signal))  # type: ignore[arg-type]
    if prediction == "noise" and signal == 0:  # the noise is all there is: nothing is known, but nothing breaks either
        assert bool(found.isfinite().all())
    else:
        torch.testing.assert_close(found, clean)


def test_the_velocity_is_the_derivative_by_the_angle() -> None:
    clean, noise = torch.randn(2, 40, generator=Seed(4).torch(), dtype=torch.float64)
    for turn in (0.2, 0.8, 1.4):
        path = [np.cos(u) * clean + np.sin(u) * noise for u in (turn - 1e-6, turn + 1e-6)]
        found = gaussian.target("velocity", clean, noise, number(np.cos(turn) ** 2))
        torch.testing.assert_close(found, (path[1] - path[0]) / 2e-6, atol=1e-7, rtol=1e-7)
        assert float(gaussian.angle(number(np.cos(turn) ** 2))) == pytest.approx(turn)


# -- posterior ----------------------------------------------------------------------------------------


def density(x: np.ndarray, mean: np.ndarray | float, variance: float) -> np.ndarray:
    return np.exp(-((x - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


@pytest.mark.parametrize(("signal", "earlier"), SIGNALS)
@pytest.mark.parametrize("clean", [-1.3, 0.4])
@pytest.mark.parametrize("noisy", [-0.5, 1.1])
def test_the_posterior_is_bayes_rule_on_a_grid(signal: float, earlier: float, clean: float, noisy: float) -> None:
    mean, variance = gaussian.posterior(number(noisy), number(clean), number(signal), number(earlier))
    if earlier == 1:
        assert float(mean) == pytest.approx(clean)
        assert float(variance) == 0
        return
    x = np.linspace(-9, 9, 400_001)
    ratio = signal / earlier
    weight = density(x, earlier**0.5 * clean, 1 - earlier) * density(noisy, ratio**0.5 * x, 1 - ratio)
    weight /= weight.sum()
    expected = (weight * x).sum()
    assert float(mean) == pytest.approx(expected, abs=1e-6)
    assert float(variance) == pytest.approx((weight * (x - expected) ** 2).sum(), rel=1e-4)


def test_strides_lead_where_single_steps_lead() -> None:
    """q(x_s | x_t, x0) by way of a signal between is q(x_s | x_t, x0) at once."""
    noisy, clean, low, middle, high = map(number, (0.3, -1.2, 0.2, 0.45, 0.7))
    first, spread = gaussian.posterior(noisy, clean, low, middle)
    by_way, rest = gaussian.posterior(first, clean, middle, high)
    slope = gaussian.posterior(first + 1, clean, middle, high)[0] - by_way
    mean, variance = gaussian.posterior(noisy, clean, low, high)
    torch.testing.assert_close(by_way, mean)
    torch.testing.assert_close(rest + slope.square() * spread, variance)


def test_the_deterministic_step_keeps_clean_value_and_noise() -> None:
    clean, noise = torch.randn(2, 30, generator=Seed(5).torch(), dtype=torch.float64)
    for signal, earlier in SIGNALS:
        noisy = signal**0.5 * clean + (1 - signal) ** 0.5 * noise
        found = gaussian.deterministic_step(noisy, clean, number(signal), number(earlier))
        torch.testing.assert_close(found, earlier**0.5 * clean + (1 - earlier) ** 0.5 * noise)


# -- samplers -----------------------------------------------------------------------------------------


@each_rule
def test_the_exact_denoiser_of_normal_data_gives_their_mean_and_covariance(rule: GaussianSampler) -> None:
    made = walk(exact, 15 if rule == "flow" else 250, rule)
    torch.testing.assert_close(made.mean(0), MEAN, atol=0.02, rtol=0)
    torch.testing.assert_close(torch.cov(made.T), COVARIANCE, atol=0.02, rtol=0)


@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("rule", ["ancestral", "deterministic"])
def test_strided_chains_have_the_moments_that_matrices_give(rule: GaussianSampler, steps: int) -> None:
    """Every step is linear in x_t, so mean and covariance of the chain follow from two-by-two matrices."""
    mean, covariance = np.zeros(2), np.eye(2)
    signals = cosine_signal(time_grid(steps).double()).tolist()
    for t, s in pairwise(signals):
        known = gain(t).numpy()
        if rule == "ancestral":
            on_clean = s**0.5 * (1 - t / s) / (1 - t)
            on_noisy = (t / s) ** 0.5 * (1 - s) / (1 - t)
            extra = (1 - s) * (1 - t / s) / (1 - t)
        else:
            on_noisy = ((1 - s) / (1 - t)) ** 0.5
            on_clean, extra = s**0.5 - t**0.5 * on_noisy, 0.0
        slope = on_clean * known + on_noisy * np.eye(2)
        shift = on_clean * (MEAN.numpy() - known @ MEAN.numpy() * t**0.5)
        mean, covariance = slope @ mean + shift, slope @ covariance @ slope.T + extra * np.eye(2)
    made = walk(exact, steps, rule)
    np.testing.assert_allclose(made.mean(0), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(made.T), covariance, atol=0.02)


def test_the_flow_is_second_order() -> None:
    """Half the step, a quarter of the error; a step of first order would halve it. The exact map is known."""
    turn, root = torch.linalg.eigh(COVARIANCE)
    start = torch.randn(200, 2, generator=Seed(6).torch(), dtype=torch.float64)
    expected = MEAN + start @ root @ turn.sqrt().diag() @ root.T  # from N(0, 1) to the data along the flow
    errors = []
    for steps in (20, 40, 80):
        made = gaussian.reverse(start, exact, time_grid(steps).double(), generator=Seed(0).torch(), rule="flow")
        errors.append(float((made - expected).abs().mean()))
    assert errors[0] / errors[1] == pytest.approx(4, abs=1)
    assert errors[1] / errors[2] == pytest.approx(4, abs=1)


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_the_flow_leaves_standard_normal_data_as_they_are(steps: int) -> None:
    start = torch.randn(100, 2, generator=Seed(7).torch(), dtype=torch.float64)
    made = gaussian.reverse(
        start, lambda x, a: a**0.5 * x, time_grid(steps).double(), generator=Seed(0).torch(), rule="flow"
    )
    torch.testing.assert_close(made, start)


@each_rule
def test_two_point_masses_come_back(rule: GaussianSampler) -> None:
    def two_points(noisy: Tensor, signal: float) -> Tensor:  # E[x0 | x_a] of -1 and 1 with probabilities .3 and .7
        return torch.tanh(noisy * signal**0.5 / (1 - signal) + 0.5 * np.log(0.7 / 0.3))

    made = walk(two_points, 100, rule, count=20_000, width=1)
    assert float(((made.abs() - 1).abs() < 0.05).double().mean()) > 0.98
    assert float((made > 0).double().mean()) == pytest.approx(0.7, abs=0.02)


@each_rule
def test_predictions_stay_within_bounds(rule: GaussianSampler) -> None:
    seen: list[Tensor] = []

    def wild(noisy: Tensor, signal: float) -> Tensor:
        seen.append(noisy)
        return 1000 * torch.ones_like(noisy)

    bounds = torch.tensor([-1.0, -2.0]), torch.tensor([1.0, 3.0])
    made = gaussian.reverse(
        torch.zeros(5, 2), wild, time_grid(200), generator=Seed(0).torch(), rule=rule, bounds=bounds
    )
    torch.testing.assert_close(made, torch.tensor([1.0, 3.0]).expand(5, 2), atol=0.05, rtol=0)
    assert max(float(values.abs().max()) for values in seen) < 10


def test_same_generator_same_bits() -> None:
    made = [
        gaussian.reverse(
            torch.zeros(9, 2),
            lambda x, a: x,
            time_grid(4),
            generator=Seed(seed).torch(),
            rule="ancestral",
        )
        for seed in (0, 0, 1)
    ]
    assert torch.equal(made[0], made[1])
    assert not torch.equal(made[0], made[2])


@pytest.mark.parametrize("grid", [[1.0], [0.0, 1.0], [1.0, 1.0]])
def test_bad_grids(grid: list[float]) -> None:
    with pytest.raises(DignnError, match="descending times"):
        gaussian.reverse(torch.zeros(2), lambda x, a: x, torch.tensor(grid), generator=Seed(0).torch())
