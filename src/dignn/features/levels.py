"""The values that the columns of a discrete table have, each column its own."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from dignn.features.given import Fixed


@dataclass(frozen=True, eq=False)
class Levels:
    """Existing values by column. A value's place among its column's values is its code.

    Args:
        values: (d, K) ascending; columns with fewer than K values are filled up with infinity.
    """

    values: Tensor

    @classmethod
    def of(cls, rows: Tensor) -> Levels:
        """The values in a table of 0, 1, 2, ...  rows: (n, d)"""
        width = rows.size(1)
        row, column = rows.nonzero(as_tuple=True)
        top = int(rows.max()) + 1
        # Zeros are not looked up one by one: word tables hold little else.
        zero = (torch.bincount(column, minlength=width) < len(rows)).nonzero()[:, 0]
        keys = torch.cat([zero * top, column * top + rows[row, column].long()]).unique()
        column, value = keys // top, keys % top
        number = torch.bincount(column, minlength=width)
        place = torch.arange(len(keys)) - (number.cumsum(0) - number)[column]
        values = torch.full((width, int(number.max())), torch.inf)
        values[column, place] = value.float()
        return cls(values)

    @property
    def packed(self) -> Tensor:
        """(d, K) the values for a file, which takes no infinity: -1 stands there."""
        return self.values.where(self.values.isfinite(), -1.0)

    @classmethod
    def unpacked(cls, packed: Tensor) -> Levels:
        """From what :attr:`packed` gave."""
        return cls(packed.where(packed >= 0, torch.inf))

    def encode(self, rows: Tensor) -> Tensor:
        """Codes of existing values.  (m, d) -> (m, d) long"""
        return torch.searchsorted(self.values, rows.T.contiguous()).T

    def decode(self, code: Tensor) -> Tensor:
        """(m, d) long -> (m, d)"""
        return self.values.gather(1, code.T).T.contiguous()

    def certain(self, chance: Tensor, fixed: Fixed | None) -> Tensor:
        """Probabilities of values (m, d, K) in which fixed columns are what is given, or what is nearest to it."""
        if fixed is None:
            return chance
        code = self.encode(self.nearest(fixed.values.where(fixed.mask, self.values[:, 0])))
        return torch.where(fixed.mask[..., None], F.one_hot(code, chance.size(2)).to(chance.dtype), chance)

    def nearest(self, rows: Tensor) -> Tensor:
        """Each number moved to the nearest value of its column; half-way, to the smaller one.  (m, d)"""
        between = (self.values[:, 1:] + self.values[:, :-1]) / 2
        return self.decode(torch.searchsorted(between.contiguous(), rows.T.contiguous()).T)
