"""How much of the clean value is left at each time, and the times that a sampler visits."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.diffusion.settings import Grid


def cosine_signal(time: Tensor, offset: float = 0.008) -> Tensor:
    """The cosine schedule (Nichol and Dhariwal 2021; DiGress and the paper use it): signal at a time in [0, 1].

    Exactly 1 at time 0 and exactly 0 at time 1, so that the reverse process starts from the marginal and ends with
    clean values. The small ``offset`` keeps the first steps from being too small to matter.
    """
    angle = (time + offset) / (1 + offset) * (math.pi / 2)
    signal = (torch.cos(angle).square() / math.cos(offset / (1 + offset) * math.pi / 2) ** 2).clamp(0, 1)
    # Rounding would leave 1 - 1e-7 and 1e-15 here, and a sampler asks whether a step is the last.
    return torch.where(time <= 0, 1.0, torch.where(time >= 1, 0.0, signal)).to(time.dtype)


def time_grid(steps: int, shape: Grid = "uniform") -> Tensor:
    """Times from 1 (noise) down to 0 (clean).  (steps + 1,)

    ``quadratic`` squares them: small steps near the clean end, where a variable must agree with others that are
    almost decided.
    """
    times = torch.arange(steps, -1, -1) / steps
    return times.square() if shape == "quadratic" else times


def check_grid(grid: Tensor) -> None:
    """Raises unless a sampler can walk along these times."""
    if grid.dim() != 1 or len(grid) < 2 or bool((grid.diff() >= 0).any()):
        raise DignnError("A sampler needs a grid of at least two descending times; use time_grid")
