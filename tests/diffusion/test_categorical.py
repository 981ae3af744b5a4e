"""The categorical process against explicit transition matrices and Bayes' rule."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.diffusion.categorical import CategoricalNoise, draw

MARGINALS = {
    "two values": [0.9, 0.1],
    "uniform": [0.25, 0.25, 0.25, 0.25],
    "many values": list(np.random.default_rng(0).dirichlet(np.ones(18))),
    "zero first": [0.0, 0.3, 0.7],
    "zero last": [0.2, 0.5, 0.3, 0.0],
    "one value": [1.0],
}
each_marginal = pytest.mark.parametrize("marginal", MARGINALS.values(), ids=MARGINALS.keys())
SIGNALS = [(0.0, 0.2), (0.0, 1.0), (0.3, 0.31), (0.1, 0.9), (0.5, 1.0), (0.999, 1.0), (0.0, 1e-4)]


def noise_of(marginal: list[float]) -> CategoricalNoise:
    return CategoricalNoise(torch.tensor(marginal, dtype=torch.float64))


def number(value: float) -> Tensor:
    return torch.tensor(value, dtype=torch.float64)


def matrix(marginal: list[float], signal: float) -> np.ndarray:
    """Transition matrix, from rows to columns."""
    size = len(marginal)
    return signal * np.eye(size) + (1 - signal) * np.ones((size, 1)) @ np.asarray(marginal)[None]


def bayes(marginal: list[float], noisy: int, clean: np.ndarray, signal: float, earlier: float) -> np.ndarray | None:
    """Sum over x0 of p(x0) q(x_s | x_t, x0) by enumeration; None where x_t cannot occur at all."""
    to_earlier, onward = matrix(marginal, earlier), matrix(marginal, signal / earlier)
    total, weight = np.zeros(len(marginal)), 0.0
    for x0, probability in enumerate(clean):
        joint = to_earlier[x0] * onward[:, noisy]  # q(x_s | x0) q(x_t | x_s)
        if joint.sum() > 0:
            total += probability * joint / joint.sum()
            weight += probability
    return total / weight if weight else None


# -- forward ------------------------------------------------------------------------------------------


@each_marginal
@pytest.mark.parametrize("signal", [0.0, 0.6, 1.0])
def test_noisy_values_have_the_forward_probabilities(marginal: list[float], signal: float) -> None:
    noise = noise_of(marginal)
    clean = noise.values - 1
    noisy = noise.corrupt(torch.full((20_000,), clean), number(signal), Seed(0).torch())
    expected = matrix(marginal, signal)[clean]
    counts = np.bincount(noisy, minlength=noise.values)
    assert (counts[expected == 0] == 0).all()
    some = expected > 0
    assert some.sum() == 1 or chisquare(counts[some], expected[some] / expected[some].sum() * 20_000).pvalue > 1e-4


def test_signals_and_marginals_broadcast() -> None:
    """Graph b has its own signal, column c its own marginal."""
    noise = CategoricalNoise(torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]))
    clean = torch.tensor([[2, 0]]).expand(4000, 2)
    signal = (torch.arange(4000) % 2).float()[:, None]
    noisy = noise.corrupt(clean, signal, Seed(1).torch())
    assert torch.equal(noisy[1::2], clean[1::2])
    assert bool((noisy[::2, 0] == 0).all())
    assert set(noisy[::2, 1].tolist()) == {1, 2}
    posterior = noise.posterior(noisy[::2], torch.full((2000, 2, 3), 1 / 3), signal[::2], signal[1::2])
    torch.testing.assert_close(posterior, torch.full((2000, 2, 3), 1 / 3))


def test_two_steps_of_noise_are_one() -> None:
    noise, generator = noise_of([0.6, 0.3, 0.1]), Seed(2).torch()
    clean = torch.zeros(30_000, dtype=torch.long)
    twice = noise.corrupt(noise.corrupt(clean, number(0.8), generator), number(0.5), generator)
    expected = matrix([0.6, 0.3, 0.1], 0.4)[0] * 30_000
    assert chisquare(np.bincount(twice, minlength=3), expected).pvalue > 1e-4


# -- posterior ----------------------------------------------------------------------------------------


@each_marginal
@pytest.mark.parametrize(("signal", "earlier"), SIGNALS)
def test_the_posterior_is_bayes_rule(marginal: list[float], signal: float, earlier: float) -> None:
    noise, rng = noise_of(marginal), np.random.default_rng(3)
    size = noise.values
    beliefs = [*np.eye(size), np.full(size, 1 / size), *rng.dirichlet(np.ones(size), 3)]
    cases = list(product(range(size), beliefs))
    found = noise.posterior(
        torch.tensor([noisy for noisy, _ in cases]),
        torch.from_numpy(np.stack([belief for _, belief in cases])),
        number(signal),
        number(earlier),
    ).numpy()
    np.testing.assert_allclose(found.sum(1), 1)
    for row, (noisy, belief) in zip(found, cases, strict=True):
        expected = bayes(marginal, noisy, belief, signal, earlier)
        if expected is not None:
            np.testing.assert_allclose(row, expected, atol=1e-9)


def test_without_signal_an_impossible_value_is_ignored() -> None:
    noise = noise_of([0.0, 0.4, 0.6])
    belief = torch.tensor([[0.5, 0.5, 0.0]], dtype=torch.float64)
    found = noise.posterior(torch.tensor([0]), belief, number(0.0), number(0.25))
    torch.testing.assert_close(found, 0.25 * belief + 0.75 * noise.marginal)


def test_a_value_that_only_its_own_clean_value_explains_is_kept() -> None:
    noise = noise_of([0.0, 0.4, 0.6])
    belief = torch.tensor([[0.0, 0.7, 0.3]], dtype=torch.float64)  # contradicts what is seen
    found = noise.posterior(torch.tensor([0]), belief, number(0.5), number(1.0))
    assert found.tolist() == [[1.0, 0.0, 0.0]]


@each_marginal
def test_strides_lead_where_single_steps_lead(marginal: list[float]) -> None:
    """q(x_s | x_t, x0) by way of a signal between is q(x_s | x_t, x0) at once."""
    noise = noise_of(marginal)
    size = noise.values
    low, middle, high = number(0.2), number(0.45), number(0.7)
    every = torch.arange(size)
    for x0 in range(size):
        sure = torch.eye(size, dtype=torch.float64)[x0].expand(size, size)
        at_once = noise.posterior(every, sure, low, high)
        by_way = noise.posterior(every, sure, low, middle) @ noise.posterior(every, sure, middle, high)
        seen = torch.from_numpy(matrix(marginal, float(low))[x0] > 0)
        torch.testing.assert_close(at_once[seen], by_way[seen])


@each_marginal
def test_single_precision_has_no_holes(marginal: list[float]) -> None:
    noise = CategoricalNoise(torch.tensor(marginal).float())
    size = noise.values
    ladder = torch.tensor([0.0, 1e-30, 1e-7, 0.3, 1 - 1e-7, 1.0])
    for low, high in product(ladder, ladder):
        if low < high:
            for belief in torch.eye(size):
                found = noise.posterior(torch.arange(size), belief.expand(size, size), low, high)
                assert bool(((found >= 0) & (found <= 1 + 1e-5)).all())
                torch.testing.assert_close(found.sum(1), torch.ones(size))


# -- drawing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 40])
def test_draws_have_their_probabilities_and_zeros_are_never_drawn(size: int) -> None:
    weight = torch.from_numpy(np.random.default_rng(4).gamma(1.0, size=(2, size))).float()
    weight[:, [0, 2, size - 1]] = 0
    weight[:, 1] = 5
    drawn = draw(weight, Seed(5).torch(), (100_000, 2))
    for column in range(2):
        counts = np.bincount(drawn[:, column], minlength=size)
        assert counts[[0, 2, size - 1]].tolist() == [0, 0, 0]
        expected = (weight[column] / weight[column].sum()).double().numpy()
        some = expected > 0
        assert some.sum() == 1 or chisquare(counts[some], expected[some] / expected.sum() * 100_000).pvalue > 1e-4


def test_draws_without_shape_are_one_for_each_row() -> None:
    assert draw(torch.eye(5)[None].expand(3, 5, 5), Seed(0).torch()).tolist() == [[0, 1, 2, 3, 4]] * 3


@pytest.mark.parametrize("size", [2, 40])
@pytest.mark.parametrize("value", [0.0, float("nan")])
def test_nothing_to_draw_from(size: int, value: float) -> None:
    with pytest.raises(DignnError, match="all 0 or not numbers"):
        draw(torch.full((3, size), value), Seed(0).torch())


def test_same_generator_same_bits() -> None:
    noise = noise_of([0.6, 0.3, 0.1])
    clean = noise.prior((50, 4), Seed(6).torch())
    assert torch.equal(clean, noise.prior((50, 4), Seed(6).torch()))
    one, again, other = (noise.corrupt(clean, number(0.4), Seed(seed).torch()) for seed in (7, 7, 8))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


# -- learning -----------------------------------------------------------------------------------------


def test_loss_is_the_mean_cross_entropy() -> None:
    logits = torch.randn(3, 4, 5, generator=Seed(0).torch())
    clean = torch.randint(5, (3, 4), generator=Seed(1).torch())
    each = torch.tensor([[-logits[i, j].log_softmax(0)[clean[i, j]] for j in range(4)] for i in range(3)])
    torch.testing.assert_close(CategoricalNoise.loss(logits, clean), each.mean())


# -- refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("marginal", "problem"),
    [
        (torch.tensor([1, 0]), "float tensor"),
        (torch.tensor(1.0), "float tensor"),
        (torch.tensor([0.5, 0.6]), "sum to 1"),
        (torch.tensor([1.5, -0.5]), "no negative entries"),
        (torch.tensor([float("nan"), 1.0]), "no negative entries and sum to 1"),
    ],
)
def test_bad_marginals(marginal: Tensor, problem: str) -> None:
    with pytest.raises(DignnError, match=problem):
        CategoricalNoise(marginal)
