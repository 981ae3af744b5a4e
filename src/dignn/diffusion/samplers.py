"""Reverse samplers: from noise to clean values with a denoiser that predicts clean values.

Both rules use the same denoiser. ``posterior`` is the paper's reverse chain (DiGress, algorithm "Sampling"): each step
draws from sum over x0 of p(x0) q(x_s | x_t, x0). ``flow`` moves variables only as often as the change of
distribution demands (discrete flow matching: Campbell et al. 2024, Qin et al. 2025), which needs fewer steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from dignn.diffusion.categorical import CategoricalNoise, Predict, State, draw
from dignn.diffusion.inpainting import inpaint
from dignn.diffusion.schedule import check_grid, cosine_signal
from dignn.diffusion.settings import Sampler


def reverse(
    noises: Mapping[str, CategoricalNoise],
    state: State,
    predict: Predict,
    grid: Tensor,
    *,
    generator: torch.Generator,
    rule: Sampler = "posterior",
    last: Callable[[State], State] | None = None,
    each_step: Callable[[State, float, State], State] | None = None,
) -> State:
    """Walks ``state`` along a grid of times and returns the state at its end.

    Args:
        noises: the noise process of each group of variables.
        state: (B, ...) long by group, at the grid's first time: draws of ``CategoricalNoise.prior`` for time 1, or
            values made noisy again by ``corrupt`` for a grid that starts in the middle.
        predict: (state, signal) -> probabilities of clean values by group, (B, ..., K).
        grid: descending times, as of ``time_grid``.
        rule: how a step is drawn.
        last: (probabilities) -> state; makes the clean state of the last step. Constraints live there. Without it,
            every variable is drawn from its predicted probabilities.
        each_step: (state, signal, probabilities) -> state, called after every step but the last with the new state,
            its signal and the prediction that led there (row b of both belongs to item b): guidance.
    """
    check_grid(grid)
    signals = cosine_signal(grid)
    state = dict(state)
    place = next((values.device for values in state.values()), signals.device)
    for step in range(len(signals) - 1):
        signal, earlier = signals[step].to(place), signals[step + 1].to(place)
        predicted = predict(state, float(signal))
        if float(earlier) == 1:  # both rules come to this, and constraints need the probabilities
            if last is not None:
                return last(predicted)
            return {name: draw(predicted[name], generator) for name in noises}
        for name, noise in noises.items():
            if rule == "posterior":
                probability = noise.posterior(state[name], predicted[name], signal, earlier)
            else:
                probability = flow_step(noise, state[name], predicted[name], signal, earlier)
            state[name] = draw(probability, generator)
        if each_step is not None and step < len(signals) - 2:
            state = each_step(state, float(earlier), predicted)
    return state


def of_state(predict: Callable[[Tensor, float], Tensor]) -> Predict:
    """The denoiser of a state that has one group, ``table``."""
    return lambda state, signal: {"table": predict(state["table"], signal)}


def reverse_given(
    noise: CategoricalNoise, state: Tensor, predict: Callable[[Tensor, float], Tensor], *, generator: torch.Generator
) -> Tensor:
    """As :func:`reverse` by posterior draws, where a part of the values is known.  (B, ...) long

    Args:
        noise: of the variables.
        state: (B, ...) long at time 1.
        predict: (state, signal) -> probabilities of clean values (B, ..., K), 1 for what known ones are.
    """

    def step(noisy: Tensor, signal: Tensor, earlier: Tensor) -> Tensor:
        signal, earlier = signal.to(noisy.device), earlier.to(noisy.device)
        predicted = predict(noisy, float(signal))
        if float(earlier) < 1:
            predicted = noise.posterior(noisy, predicted, signal, earlier)
        return draw(predicted, generator)

    def back(noisy: Tensor, signal: Tensor, later: Tensor) -> Tensor:
        return noise.renoise(noisy, signal.to(noisy.device), later.to(noisy.device), generator)

    return inpaint(state, step, back)


def flow_step(
    noise: CategoricalNoise, noisy: Tensor, clean_probability: Tensor, signal: Tensor, earlier: Tensor
) -> Tensor:
    """Probabilities of the values at signal ``earlier`` by the flow-matching rate.  (..., K)

    Given x0, the path p_a(x) = a [x = x0] + (1 - a) m(x) is followed by the rate
    R(x -> j) = relu(dp(j) - dp(x)) / (Z p_a(x)), where dp is the derivative by a and Z the number of values with
    p_a > 0. Here dp(x) = [x = x0] - m(x): a variable at x0 stays; any other goes to x0, or to a rarer value, with a
    rate c / (1 - a) where c depends on the values only. So it has not moved by signal s with probability
    ((1 - s) / (1 - t))^c; where it goes is decided by the shares of c. (Second moves within a step are neglected;
    with two values there are none and the step is exact for any length.) The result is the mean over p(x0).
    """
    t, s, m, p = signal[..., None], earlier[..., None], noise.marginal, clean_probability
    index = noisy[..., None]
    here = m.expand(*noisy.shape, noise.values).gather(-1, index)
    support = (m > 0).sum(-1, keepdim=True) + (m == 0)  # Z for each x0
    rarer = (here - m).clamp(min=0) * (m > 0)  # flow to j as long as j is not x0
    towards = 1 - m + here  # flow to x0
    outward = towards + rarer.sum(-1, keepdim=True) - rarer  # all flow that leaves, for each x0
    exponent = outward / (support * here.clamp(min=torch.finfo(here.dtype).tiny))
    stayed = ((1 - s) / (1 - t)) ** exponent
    # Mass that leaves, for each x0, per unit of flow; none where x_t is x0 or can only be x0.
    leaving = torch.where(here > 0, p * (1 - stayed) / outward, 0.0).scatter(-1, index, 0.0)
    moved = leaving * towards + (leaving.sum(-1, keepdim=True) - leaving) * rarer
    moved = moved.scatter(-1, index, 0.0)
    return moved.scatter(-1, index, (1 - moved.sum(-1, keepdim=True)).clamp(min=0))
