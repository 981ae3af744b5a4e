"""Samplers with a perfect denoiser must give back the data's distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.diffusion.categorical import CategoricalNoise, State
from dignn.diffusion.samplers import flow_step, reverse
from dignn.diffusion.schedule import cosine_signal, time_grid
from dignn.diffusion.settings import Sampler

rules = pytest.mark.parametrize("rule", ["posterior", "flow"])
MANY = 4_000


class Perfect:
    """Exact Bayes denoiser of a joint distribution over variables "v" (B, n) with K values each."""

    def __init__(self, joint: np.ndarray) -> None:
        self.joint = torch.from_numpy(joint / joint.sum()).float()  # (K, ..., K)
        self.count, self.values = self.joint.dim(), self.joint.size(0)
        self.noise = {"v": CategoricalNoise(self._marginals(self.joint[None])[0])}
        self.signals: list[float] = []

    def __call__(self, state: State, signal: float) -> State:
        self.signals.append(signal)
        kept = torch.eye(self.values)[:, None, :]
        likelihood = signal * kept + (1 - signal) * self.noise["v"].marginal  # (clean, n, noisy)
        weight = self.joint.expand(len(state["v"]), *self.joint.shape)
        for axis in range(self.count):
            seen = likelihood[:, axis, :][:, state["v"][:, axis]].T  # (B, clean)
            weight = weight * seen.reshape(-1, *(self.values if other == axis else 1 for other in range(self.count)))
        weight = weight / weight.flatten(1).sum(1).reshape(-1, *[1] * self.count)
        return {"v": self._marginals(weight)}

    def _marginals(self, weight: Tensor) -> Tensor:
        """(B, K, ..., K) -> (B, n, K)"""
        return torch.stack(
            [weight.movedim(axis + 1, 1).flatten(2).sum(2) if self.count > 1 else weight for axis in range(self.count)],
            1,
        )

    def sample(self, grid: Tensor, seed: int = 0, **options: Any) -> Tensor:
        generator = Seed(seed).torch()
        start = self.noise["v"].prior((MANY, self.count), generator)
        return reverse(self.noise, {"v": start}, self, grid, generator=generator, **options)["v"]

    def pvalue(self, sampled: Tensor) -> float:
        """Chi-square of sampled joint values."""
        cell = torch.zeros(len(sampled), dtype=torch.long)
        for axis in range(self.count):
            cell = cell * self.values + sampled[:, axis]
        counts = np.bincount(cell, minlength=self.joint.numel())
        expected = self.joint.double().flatten().numpy()
        if counts[expected == 0].any():
            return 0.0
        some = expected > 0
        return float(chisquare(counts[some], expected[some] / expected.sum() * len(sampled)).pvalue)


ONE = np.array([0.6, 0.25, 0.0, 0.15])
TWO = np.array([[0.25, 0.05, 0.02], [0.03, 0.2, 0.07], [0.26, 0.02, 0.1]])
THREE = np.array([[[0.3, 0.05], [0.02, 0.13]], [[0.1, 0.05], [0.2, 0.15]]])


# -- distribution -------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", [[1.0, 0.0], [1.0, 0.7, 0.0], [1.0, 0.9, 0.2, 0.05, 0.0]])
def test_jumps_of_the_posterior_are_exact_for_one_variable(grid: list[float]) -> None:
    perfect = Perfect(ONE)
    assert perfect.pvalue(perfect.sample(torch.tensor(grid))) > 1e-3


@pytest.mark.parametrize("grid", [[1.0, 0.0], [1.0, 0.7, 0.0], [1.0, 0.9, 0.2, 0.05, 0.0]])
def test_jumps_of_the_flow_are_exact_for_one_variable_with_two_values(grid: list[float]) -> None:
    perfect = Perfect(np.array([0.85, 0.15]))
    assert perfect.pvalue(perfect.sample(torch.tensor(grid), rule="flow")) > 1e-3


@rules
@pytest.mark.parametrize("shape", ["uniform", "quadratic"])
@pytest.mark.parametrize("joint", [ONE, TWO, THREE], ids=["one", "two", "three"])
def test_small_steps_give_the_joint_distribution(joint: np.ndarray, shape: Any, rule: Sampler) -> None:
    perfect = Perfect(joint)
    assert perfect.pvalue(perfect.sample(time_grid(100, shape), rule=rule)) > 1e-3


def test_the_test_of_distributions_can_fail() -> None:
    """One step draws all variables from their marginals, as if they were independent."""
    perfect = Perfect(TWO)
    assert perfect.pvalue(perfect.sample(time_grid(1))) < 1e-6


@rules
def test_a_grid_may_start_in_the_middle(rule: Sampler) -> None:
    """Data that are made noisy again and denoised remain data."""
    perfect, generator = Perfect(TWO), Seed(3).torch()
    flat = torch.multinomial(perfect.joint.flatten(), MANY, replacement=True, generator=generator)
    clean = torch.stack([flat // 3, flat % 3], 1)
    grid = time_grid(100)[50:]
    noisy = perfect.noise["v"].corrupt(clean, cosine_signal(grid[0]), generator)
    found = reverse(perfect.noise, {"v": noisy}, perfect, grid, generator=generator, rule=rule)["v"]
    assert perfect.pvalue(found) > 1e-3
    assert float((found == clean).float().mean()) > float((perfect.sample(time_grid(5)) == clean).float().mean()) + 0.1


# -- the flow's step ----------------------------------------------------------------------------------


@pytest.mark.parametrize("marginal", [[0.5, 0.3, 0.2], [0.0, 0.7, 0.2, 0.1], [0.9, 0.1]])
def test_a_short_step_has_the_flow_matching_rate(marginal: list[float]) -> None:
    """Against R(x -> j | x0) = relu(dp(j) - dp(x)) / (Z p(x)), written out."""
    m, size, low, short = np.array(marginal), len(marginal), 0.4, 1e-6
    noise = CategoricalNoise(torch.tensor(marginal, dtype=torch.float64))
    belief = np.random.default_rng(0).dirichlet(np.ones(size))
    for x in range(size):
        expected = np.zeros(size)
        for x0 in range(size):
            p, change = low * np.eye(size)[x0] + (1 - low) * m, np.eye(size)[x0] - m
            if p[x] > 0:
                rate = np.maximum(change - change[x], 0) * (p > 0) / ((p > 0).sum() * p[x])
                expected += belief[x0] * rate
        found = flow_step(
            noise,
            torch.tensor([x]),
            torch.from_numpy(belief)[None],
            torch.tensor(low, dtype=torch.float64),
            torch.tensor(low + short, dtype=torch.float64),
        )[0].numpy()
        assert found.sum() == pytest.approx(1)
        found[x] = 0
        np.testing.assert_allclose(found / short, expected, rtol=1e-3, atol=1e-6)


def test_steps_of_the_flow_are_distributions() -> None:
    noise = CategoricalNoise(torch.tensor([0.0, 0.7, 0.2999, 1e-4]))
    belief = torch.rand(64, 4, generator=Seed(0).torch()).pow(9)
    belief /= belief.sum(1, keepdim=True)
    for low, high in ((0.0, 1.0), (0.0, 1e-3), (0.3, 0.9), (0.999, 1.0)):
        found = flow_step(noise, torch.arange(64) % 4, belief, torch.tensor(low), torch.tensor(high))
        assert bool((found >= 0).all())
        torch.testing.assert_close(found.sum(1), torch.ones(64))


# -- the loop -----------------------------------------------------------------------------------------


@rules
def test_every_step_sees_what_the_step_before_made(rule: Sampler) -> None:
    perfect = Perfect(TWO)
    seen: list[tuple[Tensor, float]] = []

    def hook(state: State, signal: float, predicted: State) -> State:
        assert predicted["v"].shape == (MANY, 2, 3)
        changed = {"v": state["v"].flip(0)}
        seen.append((changed["v"], signal))
        return changed

    class Watched(Perfect):
        def __call__(self, state: State, signal: float) -> State:
            if seen:
                assert torch.equal(state["v"], seen[-1][0])
                assert signal == seen[-1][1]
            return super().__call__(state, signal)

    watched = Watched(TWO)
    assert perfect.pvalue(watched.sample(time_grid(60), rule=rule, each_step=hook)) > 1e-3
    assert watched.signals == cosine_signal(time_grid(60))[:-1].tolist()
    assert len(seen) == 59


@rules
def test_the_last_step_can_be_replaced(rule: Sampler) -> None:
    perfect = Perfect(TWO)
    given: list[Tensor] = []

    def last(predicted: State) -> State:
        given.append(predicted["v"])
        return {"v": predicted["v"].argmax(-1)}

    found = perfect.sample(time_grid(5), rule=rule, last=last)
    assert torch.equal(found, given[0].argmax(-1))
    assert len(given) == 1


@rules
def test_a_grid_that_ends_early_leaves_noise(rule: Sampler) -> None:
    """Halfway down, the values have the forward distribution of data at that signal."""
    perfect = Perfect(ONE)
    found = perfect.sample(time_grid(100)[:61], rule=rule)
    assert perfect.pvalue(found) > 1e-3  # one variable: its marginal does not change with the signal
    assert perfect.signals[-1] < 1


@rules
def test_same_generator_same_bits(rule: Sampler) -> None:
    one, again, other = (Perfect(TWO).sample(time_grid(8), seed, rule=rule) for seed in (0, 0, 1))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_the_state_that_was_given_is_not_touched() -> None:
    perfect = Perfect(TWO)
    state = {"v": torch.zeros(10, 2, dtype=torch.long)}
    reverse(perfect.noise, state, perfect, time_grid(3), generator=Seed(0).torch())
    assert set(state) == {"v"}
    assert not bool(state["v"].any())


def test_times_must_descend() -> None:
    perfect, state = Perfect(TWO), {"v": torch.zeros(2, 2, dtype=torch.long)}
    with pytest.raises(DignnError, match="descending"):
        reverse(perfect.noise, state, perfect, time_grid(2).flip(0), generator=Seed(0).torch())
