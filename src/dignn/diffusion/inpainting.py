"""Sampling given a part of the values (Lugmayr et al. 2022): known values are put in as they are at each noise.

Where a denoiser predicts known values as what they are, their noisy values come by themselves out of the posterior. One
pass is not enough for the others to follow them, because what was decided at one noise does not fit what is known at
the next. So each step is taken back by the forward process and made again, some times over.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

from torch import Tensor

from dignn.diffusion.schedule import check_grid, cosine_signal, time_grid

Values = TypeVar("Values")

# Steps of the way from noise, and how often each is made.
GIVEN_STEPS, GIVEN_TIMES = 30, 6

Move = Callable[[Values, Tensor, Tensor], Values]
"""(values, their signal, signal to go to) -> values there"""


def inpaint(values: Values, step: Move[Values], back: Move[Values]) -> Values:
    """Walks values from noise to clean ones, each step several times.

    Args:
        values: at time 1.
        step: a step of the reverse process, which knows what is given.
        back: a step of the forward process.
    """
    grid = time_grid(GIVEN_STEPS)
    check_grid(grid)
    for signal, earlier in pairwise(cosine_signal(grid)):
        for _ in range(GIVEN_TIMES - 1 if float(earlier) < 1 else 0):
            values = back(step(values, signal, earlier), earlier, signal)
        values = step(values, signal, earlier)
    return values
