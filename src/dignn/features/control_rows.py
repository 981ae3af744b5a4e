"""Controls: real rows drawn with replacement, and columns drawn independently of each other.

Both respect the class around a node. With soft class weights w (rows by classes), a row is drawn from
p(row | class c) = w[row, c] / sum of w[:, c]; without a class, in proportion to the rows' weights.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from dignn.core.progress import Tick
from dignn.core.seeds import Seed
from dignn.features.base import FeatureGenerator
from dignn.features.given import Given
from dignn.features.nearest_rows import draw_near
from dignn.features.registry import FEATURE_GENERATORS
from dignn.features.table import Table
from dignn.graphs.feature_spec import FeatureKind

# Rows drawn at once by IndependentColumns: bounds memory for wide tables.
DRAWN_ROWS = 1024


@FEATURE_GENERATORS.register("bootstrap")
class BootstrapRows(FeatureGenerator):
    """Repeats real rows. What a perfect generator would score, apart from novelty.

    With a context or fixed columns it draws among the rows of the class that are nearest in them.
    For an identity type, whose one-hot row is a single choice, this is no control but the exact distribution.
    """

    learns: ClassVar[bool] = False
    _table: Table

    def _fit(self, table: Table, seed: Seed, tick: Tick) -> None:
        self._table = table

    def _sample(self, label: Tensor, given: Given, seed: Seed, tick: Tick) -> Tensor:
        return self._table.rows[draw_near(self._table, label, given, seed.torch())[:, 0]]

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        return self._table.state(), {}

    def _restore(self, tensors: dict[str, Tensor], settings: dict[str, Any]) -> None:
        self._table = Table.restored(tensors, self.spec)


@FEATURE_GENERATORS.register("independent")
class IndependentColumns(BootstrapRows):
    """Draws every column from its own distribution in the class: right frequencies, no correlations.

    The one-hot row of an identity type is one choice, not many columns, and is drawn as a whole.
    """

    def _sample(self, label: Tensor, given: Given, seed: Seed, tick: Tick) -> Tensor:
        if self.spec.kind is FeatureKind.IDENTITY:
            return super()._sample(label, given, seed, tick)
        generator = seed.torch()
        out = torch.empty(len(label), self.spec.width)
        for start in range(0, len(label), DRAWN_ROWS):
            part = label[start : start + DRAWN_ROWS]
            drawn = draw_near(self._table, part, given[start : start + DRAWN_ROWS], generator, self.spec.width)
            if self.spec.groups:  # each is one choice, too
                drawn = drawn[:, self.spec.leaders]
            out[start : start + DRAWN_ROWS] = self._table.rows.gather(0, drawn)
            tick(start + len(part), len(label))
        return out
