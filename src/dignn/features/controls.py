"""Controls: real rows drawn with replacement, and columns drawn independently of each other.

Both respect the class around a node. With soft class weights w (rows by classes), a row is drawn from
p(row | class c) = w[row, c] / sum of w[:, c]; without a class, in proportion to the rows' weights.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from dignn.features.base import FEATURE_GENERATORS, FeatureGenerator
from dignn.features.table import Table
from dignn.runtime.progress import Tick
from dignn.runtime.seeds import Seed
from dignn.schema import FeatureKind

# Rows drawn at once by IndependentColumns: bounds memory for wide tables.
CHUNK = 1024


@FEATURE_GENERATORS.register("bootstrap")
class BootstrapRows(FeatureGenerator):
    """Repeats real rows. What a perfect generator would score, apart from novelty.

    For an identity type, whose one-hot row is a single choice, this is no control but the exact distribution.
    """

    learns: ClassVar[bool] = False
    _table: Table

    def _fit(self, table: Table, seed: Seed, tick: Tick) -> None:
        self._table = table

    def _sample(self, line: Tensor, seed: Seed, tick: Tick) -> Tensor:
        return self._table.rows[self._table.draw(line, seed.torch())[:, 0]]

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        return self._table.state(), {}

    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any]) -> None:
        self._table = Table.restored(tensors, self.spec)


@FEATURE_GENERATORS.register("independent")
class IndependentColumns(BootstrapRows):
    """Draws every column from its own distribution in the class: right frequencies, no correlations.

    The one-hot row of an identity type is one choice, not many columns, and is drawn as a whole.
    """

    def _sample(self, line: Tensor, seed: Seed, tick: Tick) -> Tensor:
        if self.spec.kind is FeatureKind.IDENTITY:
            return super()._sample(line, seed, tick)
        generator = seed.torch()
        out = torch.empty(len(line), self.spec.width)
        for start in range(0, len(line), CHUNK):
            part = line[start : start + CHUNK]
            out[start : start + CHUNK] = self._table.rows.gather(
                0, self._table.draw(part, generator, columns=self.spec.width)
            )
            tick(start + len(part), len(line))
        return out
