"""Controls: real rows drawn with replacement, and columns drawn independently of each other.

Both respect the class around a node. With soft class weights w (rows by classes), a row is drawn from
p(row | condition) = sum over classes c of condition[c] * w[row, c] / sum of w[:, c]; without a condition, uniformly.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dignn.errors import DignnError
from dignn.features.base import FEATURE_GENERATORS
from dignn.runtime.progress import Tick, silent
from dignn.runtime.seeds import Seed
from dignn.schema import FeatureKind, FeatureSpec

# Rows drawn at once by IndependentColumns: bounds memory for wide tables.
CHUNK = 1024


@FEATURE_GENERATORS.register("bootstrap")
class BootstrapRows:
    """Repeats real rows. What a perfect generator would score, apart from novelty."""

    def __init__(self) -> None:
        self._rows: Tensor | None = None

    def fit(
        self, rows: Tensor, condition: Tensor, spec: FeatureSpec, *, seed: Seed, tick: Tick = silent
    ) -> BootstrapRows:
        if not len(rows):
            raise DignnError("There are no feature rows to learn from; check the node type")
        self._rows = rows
        self._spec = spec
        # (C + 1, n) cumulated weights of the rows in each class; the last line is for nodes without a class.
        # A class that no row carries draws from all rows, as a node without a class does.
        weight = torch.cat([condition, torch.ones(len(rows), 1)], dim=1).double().T
        weight[weight.sum(1) == 0] = 1.0
        self._cumulated = weight.cumsum(1) / weight.sum(1, keepdim=True)
        return self

    def sample(self, condition: Tensor, *, seed: Seed, tick: Tick = silent) -> Tensor:
        if self._rows is None:
            raise DignnError("This generator has not learned anything yet; call fit first")
        generator = seed.torch()
        line = self._draw_class(condition, generator)
        return self._sample(line, generator, tick)

    def _sample(self, line: Tensor, generator: torch.Generator, tick: Tick) -> Tensor:
        assert self._rows is not None  # sample checked it
        tick(len(line), len(line))
        return self._rows[self._draw_rows(line, 1, generator)[:, 0]]

    def _draw_class(self, condition: Tensor, generator: torch.Generator) -> Tensor:
        """A class for each condition; C where there is none.  (n,)"""
        none = (condition.sum(1, keepdim=True) == 0).to(condition)
        cumulated = torch.cat([condition, none], dim=1).double().cumsum(1)
        point = torch.rand(len(condition), 1, generator=generator, dtype=torch.float64) * cumulated[:, -1:]
        return torch.searchsorted(cumulated, point, right=True)[:, 0].clamp_max(condition.size(1))

    def _draw_rows(self, line: Tensor, columns: int, generator: torch.Generator) -> Tensor:
        """Row numbers, ``columns`` independent ones for each class in ``line``.  (n, columns)"""
        point = torch.rand(len(line), columns, generator=generator, dtype=torch.float64)
        drawn = torch.empty(len(line), columns, dtype=torch.long)
        for number in line.unique().tolist():
            here = line == number
            drawn[here] = torch.searchsorted(self._cumulated[number], point[here], right=True)
        return drawn.clamp_max(self._cumulated.size(1) - 1)


@FEATURE_GENERATORS.register("independent")
class IndependentColumns(BootstrapRows):
    """Draws every column from its own distribution in the class: right frequencies, no correlations.

    The one-hot row of an identity type is one choice, not many columns, and is drawn as a whole.
    """

    def _sample(self, line: Tensor, generator: torch.Generator, tick: Tick) -> Tensor:
        assert self._rows is not None
        if self._spec.kind is FeatureKind.IDENTITY:
            return super()._sample(line, generator, tick)
        width = self._rows.size(1)
        out = torch.empty(len(line), width)
        for start in range(0, len(line), CHUNK):
            part = line[start : start + CHUNK]
            out[start : start + CHUNK] = self._rows.gather(0, self._draw_rows(part, width, generator))
            tick(start + len(part), len(line))
        return out
