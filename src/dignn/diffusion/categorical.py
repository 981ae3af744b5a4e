"""Diffusion of categorical variables towards their marginal distribution (DiGress, section "Noise model").

A variable with clean value x0 and signal a is x0 with probability a and a draw from the marginal m otherwise:
q(x_a | x0) = a [x_a = x0] + (1 - a) m(x_a). From signal s down to t < s the same holds with the signal t / s, so the
reverse step has a closed form for any pair of signals and samplers may stride.

Shapes: variables have any shape, probabilities of their values one more axis of K at the end, ``signal`` is a float
tensor that broadcasts against the variables (for graphs b of (B, N): (B, 1)).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor

from dignn.diffusion.schedule import cosine_signal
from dignn.errors import DignnError

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
            raise DignnError("A marginal must have no negative entries and sum to 1; use from_counts for counts")

    @classmethod
    def from_counts(cls, counts: Tensor) -> CategoricalNoise:
        """The marginal of counted values: how often each occurs in the data.  counts: (..., K)"""
        counts = counts.double()
        total = counts.sum(-1, keepdim=True)
        if not bool((counts >= 0).all()) or not bool(total.isfinite().all()):
            raise DignnError("Counts of values must be numbers that are not negative")
        if not bool((total > 0).all()):
            raise DignnError("Some variable was never counted; leave it out or count at least one value of it")
        return cls((counts / total).float())

    @property
    def values(self) -> int:
        """K, the number of values."""
        return self.marginal.size(-1)

    # -- forward process ------------------------------------------------------------------------------

    def prior(self, shape: Sequence[int], generator: torch.Generator) -> Tensor:
        """Pure noise: variables of this shape, drawn from the marginal.  long"""
        return draw(self.marginal, generator, shape)

    def probability(self, clean: Tensor, signal: Tensor) -> Tensor:
        """q(x_a | x0): probabilities of the values at a signal.  clean: (...) -> (..., K)"""
        return self._mix(self._one_hot(clean), signal)

    def corrupt(self, clean: Tensor, signal: Tensor, generator: torch.Generator) -> Tensor:
        """One draw from q(x_a | x0).  clean: (...) -> (...) long"""
        keep = torch.rand(clean.shape, generator=generator) < signal
        return torch.where(keep, clean, self.prior(clean.shape, generator))

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

    def restrict(self, logits: Tensor) -> Tensor:
        """Logits (..., K) with -inf at values that the marginal excludes, so that they are never predicted."""
        return logits.masked_fill(self.marginal == 0, -torch.inf)

    @staticmethod
    def loss(logits: Tensor, clean: Tensor, weight: Tensor | None = None) -> Tensor:
        """Cross-entropy of the predicted clean values, mean over variables (weighted if asked).  () nats

        logits: (..., K); clean: (...); weight: broadcasts against ``clean``.
        """
        each = F.cross_entropy(logits.reshape(-1, logits.size(-1)), clean.reshape(-1), reduction="none")
        if weight is None:
            return each.mean()
        weight = weight.expand(clean.shape).reshape(-1)
        return (each * weight).sum() / weight.sum()

    def bound_terms(
        self, noisy: Tensor, clean: Tensor, clean_probability: Tensor, signal: Tensor, earlier: Tensor
    ) -> Tensor:
        """KL(q(x_s | x_t, x0) || p(x_s | x_t)) of each variable: what one reverse step adds to the bound.  (...) nats

        With ``earlier`` = 1 this is the reconstruction term -log p(x0 | x_t).
        """
        true = self.posterior(noisy, self._one_hot(clean), signal, earlier)
        model = self.posterior(noisy, clean_probability, signal, earlier)
        return _divergence(true, model)

    def prior_term(self, clean: Tensor, signal: Tensor) -> Tensor:
        """KL(q(x_a | x0) || marginal) of each variable; 0 at signal 0.  (...) nats"""
        return _divergence(self.probability(clean, signal), self.marginal)

    # -- helpers --------------------------------------------------------------------------------------

    def _one_hot(self, clean: Tensor) -> Tensor:
        return F.one_hot(clean, self.values).to(self.marginal.dtype)

    def _mix(self, probability: Tensor, signal: Tensor) -> Tensor:
        signal = signal[..., None]
        return signal * probability + (1 - signal) * self.marginal


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
        raise DignnError(
            "Nothing can be drawn from probabilities that are all 0 or not numbers; look for NaN in logits"
        )
    # A float in [0, 1) times the total is always less than the total, so the last bound is never passed.
    if uniform is None:
        uniform = torch.rand(shape or total.shape, generator=generator, dtype=probability.dtype)
    point = uniform.to(probability.dtype) * total
    if values > FEW_VALUES:
        cumulative = cumulative.expand(*point.shape, values).contiguous()
        return torch.searchsorted(cumulative, point[..., None], right=True).squeeze(-1)
    chosen = torch.zeros(point.shape, dtype=torch.long)
    for bound in bounds[:-1]:
        chosen += point >= bound
    return chosen


def variational_bound(
    noises: Mapping[str, CategoricalNoise],
    clean: State,
    predict: Predict,
    grid: Tensor,
    *,
    generator: torch.Generator,
    schedule: Callable[[Tensor], Tensor] = cosine_signal,
) -> Tensor:
    """Upper bound of -log p(clean) under the reverse chain on this grid of times, per item.  (B,) nats

    All steps of the grid are summed; each expectation over x_t is estimated by one draw, so the bound is unbiased.
    """
    signals = schedule(grid)
    if float(signals[-1]) != 1:
        raise DignnError("The bound needs a grid of times that ends at 0, where values are clean")
    total = torch.zeros(len(next(iter(clean.values()))))
    for name, noise in noises.items():
        total += noise.prior_term(clean[name], signals[0]).reshape(len(total), -1).sum(1)
    for signal, earlier in pairwise(signals):
        noisy = {name: noise.corrupt(clean[name], signal, generator) for name, noise in noises.items()}
        predicted = predict(noisy, float(signal))
        for name, noise in noises.items():
            terms = noise.bound_terms(noisy[name], clean[name], predicted[name], signal, earlier)
            total += terms.reshape(len(total), -1).sum(1)
    return total


def _divergence(true: Tensor, model: Tensor) -> Tensor:
    """KL(true || model) over the last axis; infinite where the model excludes what is true."""
    there = true > 0
    ratio = torch.where(there, true, 1.0).log() - torch.where(there, model, 1.0).log()
    return (true * ratio).sum(-1).clamp(min=0)
