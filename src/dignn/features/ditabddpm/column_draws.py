"""Draws of columns without replacement from one softmax: the first costs a look at all columns, each further one few."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from dignn.core.errors import NotNumbersError

# Columns of a block: what is drawn first is a block, then one of its columns.
BLOCK = 64
# Points this near the end of a sum are moved inside, so that rounding finds no column without a chance.
_INSIDE = 1 - 1e-6


class ColumnDraws:
    """Columns of rows, each drawn in proportion to what is left.

    Args:
        logits: (m, d) of the columns, -inf for those that cannot be drawn; overwritten.
    """

    def __init__(self, logits: Tensor) -> None:
        chance = logits.sub_(logits.amax(1, keepdim=True).clamp_min_(-1e30)).exp_()
        self._chance = F.pad(chance, (0, -chance.size(1) % BLOCK)).view(len(chance), -1, BLOCK)
        self._sum = self._chance.sum(2)  # (m, blocks)

        if not bool(self._sum.isfinite().all()):
            raise NotNumbersError("No column can be drawn from logits that are not numbers; look for NaN in weights")

    def draw(self, point: Tensor) -> tuple[Tensor, Tensor]:
        """A column of each of the first k rows, at points (k,) from 0 to 1, and whether one was left.  (k,), (k,)"""
        here = torch.arange(len(point), device=point.device)
        block, rest = _place(self._sum[: len(point)], point.to(self._sum.dtype)[:, None])
        inside, _ = _place(self._chance[here, block], rest)
        there = self._sum[here, block] > 0
        self._chance[here, block, inside] = 0.0
        self._sum[here, block] = self._chance[here, block].sum(1)
        return block * BLOCK + inside, there


def _place(share: Tensor, point: Tensor) -> tuple[Tensor, Tensor]:
    """Where points (m, 1) from 0 to 1 fall among shares (m, k), and where inside of that one.  (m,), (m, 1)"""
    edge = share.cumsum(1)
    target = point.clamp_max(_INSIDE) * edge[:, -1:]
    place = torch.searchsorted(edge, target, right=True).clamp_max_(share.size(1) - 1)
    width = share.gather(1, place)
    before = edge.gather(1, place) - width
    return place[:, 0], ((target - before) / width.clamp_min(1e-30)).clamp_(0.0, 1.0)
