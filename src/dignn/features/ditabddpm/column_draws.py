"""Draws of columns without replacement from one softmax: the first costs a look at all columns, others at few."""

from __future__ import annotations

import torch
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
        self._chance = logits.sub_(logits.amax(1, keepdim=True).clamp_min_(-1e30)).exp_()
        blocks = logits.size(1) // BLOCK
        whole = self._chance[:, : blocks * BLOCK].unflatten(1, (blocks, BLOCK)).sum(2)
        self._sum = torch.cat([whole, self._chance[:, blocks * BLOCK :].sum(1, keepdim=True)], dim=1)
        if not bool(self._sum.isfinite().all()):
            raise NotNumbersError("No column can be drawn from logits that are not numbers; look for NaN in weights")

    def draw(self, point: Tensor) -> tuple[Tensor, Tensor]:
        """A column of each of the first k rows, at points (k,) from 0 to 1, and whether one was left.  (k,), (k,)"""
        number, columns = len(point), self._chance.size(1)
        block, rest = _place(self._sum[:number], point.to(self._sum.dtype)[:, None])
        column = block * BLOCK + torch.arange(BLOCK, device=point.device)  # (k, 64)
        own = self._chance[:number].gather(1, column.clamp_max(columns - 1)).masked_fill_(column >= columns, 0.0)
        inside, _ = _place(own, rest)
        there = own.gather(1, inside)[:, 0] > 0
        found = column.gather(1, inside)
        own.scatter_(1, inside, 0.0)
        self._chance[:number].scatter_(1, found.clamp_max(columns - 1), 0.0)
        self._sum[:number].scatter_(1, block, own.sum(1, keepdim=True))
        return found[:, 0], there


def _place(share: Tensor, point: Tensor) -> tuple[Tensor, Tensor]:
    """Where points (m, 1) from 0 to 1 fall among shares (m, k), and where inside of that one.  (m, 1), (m, 1)"""
    edge = share.cumsum(1)
    target = point.clamp_max(_INSIDE) * edge[:, -1:]
    place = torch.searchsorted(edge, target, right=True).clamp_max_(share.size(1) - 1)
    width = share.gather(1, place)
    before = edge.gather(1, place) - width
    return place, ((target - before) / width.clamp_min(1e-30)).clamp_(0.0, 1.0)
