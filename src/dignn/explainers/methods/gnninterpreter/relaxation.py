"""Relaxed draws: edges, types and features as numbers between 0 and 1 that have gradients.

A relaxed Bernoulli (binary concrete) draw of a logit l is sigmoid((l + noise) / temperature) with logistic noise; a
relaxed categorical (Gumbel-softmax) one is softmax((l + noise) / temperature) with Gumbel noise. Where the temperature
goes to 0 they become draws: 1 where l + noise > 0, and 1 at the largest. A draw and its relaxation share noise.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot

# Uniform numbers are kept this far from 0 and 1, whose logarithms are infinite.
_EDGE = 1e-6


def logistic(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Noise for Bernoulli draws."""
    return torch.rand(shape, generator=generator).clamp(_EDGE, 1 - _EDGE).logit()


def gumbel(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Noise for categorical draws."""
    return -torch.rand(shape, generator=generator).clamp(_EDGE, 1 - _EDGE).log().neg().log()


def bernoulli(perturbed: Tensor, temperature: float | None) -> Tensor:
    """Draws of Bernoullis, of logits with noise; relaxed, unless there is no temperature."""
    return (perturbed > 0).float() if temperature is None else (perturbed / temperature).sigmoid()


def categorical(perturbed: Tensor, temperature: float | None) -> Tensor:
    """The same of categories, along the last dimension: one-hot, or relaxed."""
    if temperature is None:
        return one_hot(perturbed.argmax(-1), perturbed.size(-1)).float()
    return (perturbed / temperature).softmax(-1)
