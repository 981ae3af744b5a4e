"""Diffusion of categorical variables towards their marginal distribution (DiGress, section "Noise model").

A variable with clean value x0 and signal a is x0 with probability a and a draw from the marginal m otherwise:
q(x_a | x0) = a [x_a = x0] + (1 - a) m(x_a). From signal s down to t < s the same holds with the signal t / s, so the
reverse step has a closed form for any pair of signals and samplers may stride.

Shapes: variables have any shape, probabilities of their values one more axis of K at the end, ``signal`` is a float
tensor that broadcasts against the variables (for graphs b of (B, N): (B, 1)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from dignn.core.errors import DignnError, NotNumbersError

State = dict[str, Tensor]
"""Groups of variables by name, each (B, ...): what is diffused together."""

Predict = Callable[[State, float], State]
"""A denoiser: (state, signal) -> probabilities of clean values by group, each (B, ..., K)."""

# Up to so many values, adding them up one after another beats a binary search.
FEW_VALUES = 16
SUM_TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False)
class CategoricalNoise:
    """The noise process of variables with K values.

    Args:
        marginal: (..., K) probability of each value, counted on the data. Leading axes broadcast against the
            variables: (K,) for variables of one kind, (columns, K) for a table. Entries of 0 are values that the
            variable never has, also the padding of a column with fewer values than others.
    """

    marginal: Tensor

    def __post_init__(self) -> None:
        marginal = self.marginal
        if marginal.dim() == 0 or marginal.size(-1) == 0 or not marginal.is_floating_point():
            raise DignnError(
                f"A marginal must be a float tensor with one probability for each value, not {marginal.dtype} of "
                f"shape {tuple(marginal.shape)}"
            )
        if not bool((marginal >= 0).all()) or not bool(((marginal.sum(-1) - 1).abs() < SUM_TOLERANCE).all()):
            raise DignnError("A marginal must have no negative entries and sum to 1; divide counts by their sum")

    @property
    def values(self) -> int:
        """K, the number of values."""
        return self.marginal.size(-1)

    # -- forward process ------------------------------------------------------------------------------

    def prior(self, shape: Sequence[int], generator: torch.Generator) -> Tensor:
        """Pure noise: variables of this shape, drawn from the marginal.  long"""
        return draw(self.marginal, generator, shape)

    def corrupt(self, clean: Tensor, signal: Tensor, generator: torch.Generator) -> Tensor:
        """One draw from q(x_a | x0).  clean: (...) -> (...) long"""
        keep = torch.rand(clean.shape, generator=generator).to(clean.device) < signal
        return torch.where(keep, clean, self.prior(clean.shape, generator))

    def renoise(self, noisy: Tensor, signal: Tensor, later: Tensor, generator: torch.Generator) -> Tensor:
        """One draw from q(x_t | x_s): from values at a signal on to a smaller one.  (...) long"""
        return self.corrupt(noisy, later / signal, generator)

    # -- reverse process ------------------------------------------------------------------------------

    def posterior(self, noisy: Tensor, clean_probability: Tensor, signal: Tensor, earlier: Tensor) -> Tensor:
        """p(x_s | x_t) = sum over x0 of p(x0) q(x_s | x_t, x0), for any pair of signals, in O(K).  (..., K)

        Args:
            noisy: (...) the values x_t at ``signal``.
            clean_probability: (..., K) the denoiser's p(x0 | x_t).
            signal: signal of ``noisy``, t.
            earlier: signal to go to, s, larger than t; 1 gives the clean values.

        Clean values under which ``noisy`` cannot occur (its marginal is 0) are left out, since q(x_s | x_t, x0) does
        not exist for them. Where ``noisy`` cannot occur at all, it says nothing and is ignored.
        """
        t, s, m = signal[..., None], earlier[..., None], self.marginal
        index = noisy[..., None]
        ratio = torch.where(s > 0, t / s.clamp(min=torch.finfo(s.dtype).tiny), 1.0)  # signal of t as seen from s
        here = m.expand(*noisy.shape, self.values).gather(-1, index)  # m(x_t)
        seen = torch.where((here == 0) & (t == 0), 1.0, here)
        under_other = (1 - t) * seen  # q(x_t | x0) for x0 != x_t
        under_same = under_other + t
        possible = under_other > 0
        same = torch.where(possible, clean_probability.gather(-1, index), 1.0) / under_same
        other = torch.where(possible, clean_probability, 0.0) / torch.where(possible, under_other, 1.0)
        # evidence: sum over x0 of p(x0) / q(x_t | x0); x0 = x_t must not be counted with the others
        evidence = other.scatter(-1, index, same).sum(-1, keepdim=True)
        # x_s = k: q(x_t | k) (s p(k) / q(x_t | x0 = k) + (1 - s) m(k) evidence)
        step_other = (1 - ratio) * seen
        result = step_other * (s * other + (1 - s) * m * evidence)
        at_index = (step_other + ratio) * (s * same + (1 - s) * here * evidence)
        result = result.scatter(-1, index, at_index)
        return result / result.sum(-1, keepdim=True)

    # -- learning -------------------------------------------------------------------------------------

    @staticmethod
    def loss(logits: Tensor, clean: Tensor) -> Tensor:
        """Cross-entropy of the predicted clean values, mean over variables.  (..., K), (...) -> () nats"""
        return F.cross_entropy(logits.flatten(0, -2), clean.flatten())


def draw(
    probability: Tensor,
    generator: torch.Generator,
    shape: Sequence[int] | None = None,
    *,
    uniform: Tensor | None = None,
) -> Tensor:
    """One value for each row of probabilities (..., K), which need not sum to 1; zeros are never drawn.  (...) long

    ``shape``: of the result, where rows are to be repeated; must be what the rows' shape broadcasts to.
    ``uniform``: (...) numbers in [0, 1) that decide, instead of independent ones of the generator.
    """
    values = probability.size(-1)
    if values <= FEW_VALUES:
        bounds = list(probability.unbind(-1))
        for place in range(1, values):
            bounds[place] = bounds[place - 1] + bounds[place]
    else:
        cumulative = probability.cumsum(-1)
        bounds = [cumulative[..., -1]]
    total = bounds[-1]
    if not bool(((total > 0) & (total < torch.inf)).all()):
        raise NotNumbersError(
            "Nothing can be drawn from probabilities that are all 0 or not numbers; look for NaN in logits"
        )
    # A float in [0, 1) times the total is always less than the total, so the last bound is never passed.
    if uniform is None:
        uniform = torch.rand(shape or total.shape, generator=generator, dtype=probability.dtype)
    point = uniform.to(probability.device, probability.dtype) * total
    if values > FEW_VALUES:
        cumulative = cumulative.expand(*point.shape, values).contiguous()
        return torch.searchsorted(cumulative, point[..., None], right=True).squeeze(-1)
    chosen = torch.zeros(point.shape, dtype=torch.long, device=point.device)
    for bound in bounds[:-1]:
        chosen += point >= bound
    return chosen
