"""Guidance of a sampler by resampling: graphs that promise more are copied, others dropped."""

from __future__ import annotations

import torch
from torch import Tensor

from dignn.core.errors import DignnError


def resample(log_weight: Tensor, group: Tensor, generator: torch.Generator) -> Tensor:
    """Systematic resampling of particles inside each group.

    In a group of n particles, particle i is copied n w_i times on average (w: the weights, normalised in the group),
    rounded up or down by one random offset for the whole group: equal weights change nothing.

    Args:
        log_weight: (B,) logarithm of each particle's weight; -inf is never copied.
        group: (B,) long, at least 0: which particles compete. Groups need not be contiguous.

    Returns:
        (B,) long: the particle that takes each place; it is of the place's own group.
    """
    if log_weight.shape != group.shape or log_weight.dim() != 1:
        raise DignnError(
            f"Resampling needs one weight and one group for each particle, not shapes {tuple(log_weight.shape)} and "
            f"{tuple(group.shape)}"
        )
    if not bool((log_weight < torch.inf).all()):
        raise DignnError("A weight for resampling is infinite or not a number; look at the score that made it")
    if not len(group):
        return group.clone()
    order = group.argsort(stable=True)
    name, number, size = torch.unique_consecutive(group[order], return_inverse=True, return_counts=True)
    weight = log_weight[order].double()
    top = weight.new_full((len(name),), -torch.inf).scatter_reduce_(0, number, weight, "amax")
    # A group without any weight stays as it is.
    weight = torch.where(top[number].isinf(), 0.0, weight - top[number]).exp()
    total = weight.new_zeros(len(name)).scatter_add_(0, number, weight)
    copies = weight / total[number] * size[number]  # on average; they sum to the group's size
    offset = torch.rand(len(name), generator=generator, dtype=torch.float64).to(weight.device)
    # Cumulative copies of all groups in a row: the points of a group fall between its own start and end.
    place = torch.arange(len(order), device=order.device)
    chosen = torch.searchsorted(copies.cumsum(0), place + offset[number], right=True)
    # Rounding of the cumulative sum must not lead into a neighbouring group or to a particle without weight.
    there = (copies > 0).nonzero()[:, 0]
    last = torch.zeros_like(size).scatter_reduce_(0, number[there], there, "amax")
    first = torch.full_like(size, len(place)).scatter_reduce_(0, number[there], there, "amin")
    chosen = torch.minimum(torch.maximum(chosen, first[number]), last[number])
    return torch.empty_like(order).scatter_(0, order, order[chosen])
