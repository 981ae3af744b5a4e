"""Diffusion of continuous variables towards standard normal noise (Ho et al. 2020; TabDDPM, "Gaussian diffusion").

A variable with clean value x0 and signal a is x_a = sqrt(a) x0 + sqrt(1 - a) e with e from N(0, 1). The signal is what
the literature calls alpha-bar, and :func:`~dignn.diffusion.schedule.cosine_signal` is its usual cosine schedule. From
signal s down to t < s the same holds with the signal t / s, so the reverse step has a closed form for any pair of
signals and samplers may stride.

Clean values should have mean 0 and deviations near 1. Shapes: variables have any shape, ``signal`` is a float tensor
that broadcasts against them (for rows b of (B, d): (B, 1)).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

from dignn.diffusion.schedule import check_grid, cosine_signal
from dignn.diffusion.settings import GaussianSampler, Prediction

PredictClean = Callable[[Tensor, float], Tensor]
"""A denoiser: (values at a signal, signal) -> expected clean values, of the same shape."""

# Noise that is predicted at a signal of 0 says nothing about clean values; at this one, it says as good as nothing.
LEAST_SIGNAL = 1e-4


# -- forward process ----------------------------------------------------------------------------------


def corrupt(clean: Tensor, signal: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """One draw from q(x_a | x0), and the noise in it.  (...) -> (...), (...)"""
    noise = standard_normal(clean, generator)
    return signal.sqrt() * clean + (1 - signal).sqrt() * noise, noise


def standard_normal(like: Tensor, generator: torch.Generator) -> Tensor:
    """Draws of N(0, 1) of the shape and type of another tensor, on its device.  (...)"""
    return torch.randn(like.shape, generator=generator, dtype=like.dtype).to(like.device)


# -- what a network predicts --------------------------------------------------------------------------


def target(prediction: Prediction, clean: Tensor, noise: Tensor, signal: Tensor) -> Tensor:
    """What a network learns to predict from x_a: the noise, or the velocity sqrt(a) e - sqrt(1 - a) x0.  (...)

    With a = cos(u)^2 the velocity is the derivative of x_a by the angle u (Salimans and Ho 2022). Unlike the noise, it
    tells the clean value at every signal, also at 0.
    """
    return noise if prediction == "noise" else signal.sqrt() * noise - (1 - signal).sqrt() * clean


def clean_of(prediction: Prediction, predicted: Tensor, noisy: Tensor, signal: Tensor) -> Tensor:
    """The clean value that belongs to a predicted noise or velocity at x_a.  (...)

    Noise: at signals below 1e-4 as if at 1e-4; see also ``bounds`` of :func:`reverse`.
    """
    if prediction == "noise":
        signal = signal.clamp(min=LEAST_SIGNAL)
        return (noisy - (1 - signal).sqrt() * predicted) / signal.sqrt()
    return signal.sqrt() * noisy - (1 - signal).sqrt() * predicted


def noise_of(clean: Tensor, noisy: Tensor, signal: Tensor) -> Tensor:
    """The noise e that leads from ``clean`` to ``noisy`` at a signal below 1.  (...)"""
    return (noisy - signal.sqrt() * clean) / (1 - signal).sqrt()


# -- reverse process ----------------------------------------------------------------------------------


def posterior(noisy: Tensor, clean: Tensor, signal: Tensor, earlier: Tensor) -> tuple[Tensor, Tensor]:
    """Mean (...) and variance (of the signals' shape) of q(x_s | x_t, x0), a normal distribution, for any s > t.

    Args:
        noisy: the values x_t at ``signal``.
        clean: x0.
        signal: signal of ``noisy``, t, below 1.
        earlier: signal to go to, s, larger than t; 1 gives the clean values.
    """
    ratio = signal / earlier  # signal of t as seen from s
    rest = 1 - signal
    mean = (earlier.sqrt() * (1 - ratio) * clean + ratio.sqrt() * (1 - earlier) * noisy) / rest
    return mean, (1 - earlier) * (1 - ratio) / rest


def posterior_step(noisy: Tensor, clean: Tensor, signal: Tensor, earlier: Tensor, generator: torch.Generator) -> Tensor:
    """One draw from q(x_s | x_t, x0); the clean values where s is 1.  (...)"""
    mean, variance = posterior(noisy, clean, signal, earlier)
    return mean if float(earlier) == 1 else mean + variance.sqrt() * standard_normal(mean, generator)


def forward_step(noisy: Tensor, signal: Tensor, later: Tensor, generator: torch.Generator) -> Tensor:
    """One draw from q(x_t | x_s) for a signal t that is smaller than s.  (...)"""
    ratio = later / signal
    return ratio.sqrt() * noisy + (1 - ratio).sqrt() * standard_normal(noisy, generator)


def deterministic_step(noisy: Tensor, clean: Tensor, signal: Tensor, earlier: Tensor) -> Tensor:
    """x_s with the same clean value and the same noise as x_t (DDIM: Song et al. 2021).  (...)"""
    return earlier.sqrt() * clean + (1 - earlier).sqrt() * noise_of(clean, noisy, signal)


def angle(signal: Tensor) -> Tensor:
    """The u in [0, pi / 2] with signal = cos(u)^2."""
    return torch.atan2((1 - signal).sqrt(), signal.sqrt())


class Flow:
    """Follows dx = v du by Adams-Bashforth steps of second order in the angle u: it knows the step before."""

    def __init__(self) -> None:
        self._before: tuple[Tensor, Tensor] | None = None  # velocity and length of the step before

    def step(self, noisy: Tensor, clean: Tensor, signal: Tensor, earlier: Tensor) -> Tensor:
        """The values at signal ``earlier`` of those at ``signal``, with expected clean values.  (...)"""
        velocity, before = target("velocity", clean, noise_of(clean, noisy, signal), signal), self._before
        length = angle(signal) - angle(earlier)
        change = velocity if before is None else velocity + length / (2 * before[1]) * (velocity - before[0])
        self._before = velocity, length
        return noisy - length * change


def reverse(
    noisy: Tensor,
    predict: PredictClean,
    grid: Tensor,
    *,
    generator: torch.Generator,
    rule: GaussianSampler = "flow",
    bounds: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """Walks values along a grid of times and returns those at its end.  (...)

    Args:
        noisy: (...) values at the grid's first time: standard normal draws for time 1.
        predict: (values, signal) -> expected clean values.
        grid: descending times, as of ``time_grid``.
        rule: ``ancestral`` draws from q(x_s | x_t, predicted x0) (the paper's chain); ``deterministic`` keeps the noise
            (DDIM); ``flow`` follows dx = v du, the same path of distributions, by Adams-Bashforth steps of second
            order in the angle u. It is exact for standard normal data with any number of steps, where the other two
            make the data narrower when steps are few.
        bounds: least and greatest clean values, which broadcast against the values. Predictions are clamped: expected
            values lie between the data's extremes.
    """
    check_grid(grid)
    flow = Flow()
    for signal, earlier in pairwise(cosine_signal(grid).to(noisy.dtype)):
        clean = predict(noisy, float(signal))
        if bounds is not None:
            clean = clean.clamp(*bounds)
        if rule == "ancestral":
            noisy = posterior_step(noisy, clean, signal, earlier, generator)
        elif rule == "deterministic":
            noisy = deterministic_step(noisy, clean, signal, earlier)
        else:
            noisy = flow.step(noisy, clean, signal, earlier)
    return noisy
