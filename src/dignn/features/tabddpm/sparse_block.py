"""Many sparse columns of a mixed table (words beside a date and a price): absorbing diffusion given the others.

A value for each of thousands of columns that are mostly zero would be too much for one network over all columns. So the
others are made first, all together, and the sparse ones given them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from dignn.core.devices import Device
from dignn.core.progress import Tick
from dignn.core.seeds import Seed
from dignn.features.ditabddpm.generator import DiTabDDPM
from dignn.features.given import Fixed
from dignn.features.settings import DiTabDDPMConfig
from dignn.features.table import Table
from dignn.graphs.feature_spec import ColumnKind, FeatureKind, FeatureSpec

# So many columns of which at most this share is not zero are a block of their own.
LEAST_BLOCK, BLOCK_SHARE = 100, 0.25
_KINDS = (ColumnKind.BINARY, ColumnKind.COUNT, ColumnKind.CONTINUOUS)


class SparseBlock:
    """The sparse columns of a mixed table.

    Args:
        columns: (k,) their numbers.
        rest: (d - k,) the numbers of all others.
        spec: of the whole table.
        config: settings of absorbing diffusion.
        device: where it learns and samples.
    """

    def __init__(
        self, columns: Tensor, rest: Tensor, spec: FeatureSpec, config: DiTabDDPMConfig, device: Device
    ) -> None:
        self.columns, self.rest, self._spec = columns, rest, _common_spec(spec, columns.tolist())
        self.generator = DiTabDDPM(config)
        self.generator.device = device

    @classmethod
    def find(cls, table: Table, config: DiTabDDPMConfig, device: Device) -> SparseBlock | None:
        """None where there are few such columns."""
        spec = table.spec
        kinds = torch.tensor([column.kind in _KINDS and not column.missing for column in spec.columns or ()])
        share = torch.cat([(some != 0).float().mean(0) for some in table.rows.split(512, dim=1)])
        sparse = kinds & (share <= BLOCK_SHARE) & (table.rows.amin(0) >= 0)
        if int(sparse.sum()) < LEAST_BLOCK:
            return None
        return cls(sparse.nonzero()[:, 0], (~sparse).nonzero()[:, 0], spec, config, device)

    def others(self, table: Table) -> Table:
        """The table without these columns."""
        return replace(table, rows=table.rows[:, self.rest], spec=table.spec.only(self.rest.tolist()))

    def fit(self, table: Table, context: Tensor | None, seed: Seed, tick: Tick) -> dict[str, Any]:
        """Learns from the whole table, given a context of each row, and returns a report."""
        rows, weight = table.rows[:, self.columns], table.weight
        self.generator.fit(rows, table.condition, self._spec, weight=weight, context=context, seed=seed, tick=tick)
        return self.generator.report

    def sample(self, label: Tensor, context: Tensor | None, fixed: Fixed | None, seed: Seed) -> Tensor:
        """These columns for each label (m,).  (m, k)"""
        classes = self.generator.classes
        condition = torch.eye(classes + 1)[label][:, :classes]
        own = None if fixed is None else fixed.only(self.columns)
        return self.generator.sample(condition, context=context, fixed=own, seed=seed)

    # -- files ----------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors, and settings as JSON takes them."""
        tensors, settings = self.generator.state()
        return {"columns": self.columns, "rest": self.rest} | tensors, settings

    @classmethod
    def restored(
        cls,
        tensors: dict[str, Tensor],
        settings: dict[str, Any],
        spec: FeatureSpec,
        config: DiTabDDPMConfig,
        device: Device,
    ) -> SparseBlock:
        """From what :meth:`state` gave; ``spec`` is of the whole table."""
        block = cls(tensors["columns"], tensors["rest"], spec, config, device)
        own = {name: tensor for name, tensor in tensors.items() if name not in ("columns", "rest")}
        block.generator.restore(own, settings, block._spec)
        return block


def _common_spec(spec: FeatureSpec, columns: list[int]) -> FeatureSpec:
    """What these columns hold, as columns that are all alike."""
    kinds = {spec.column(column).kind for column in columns}
    if kinds == {ColumnKind.BINARY}:
        return FeatureSpec(FeatureKind.BINARY, len(columns))
    if kinds <= {ColumnKind.BINARY, ColumnKind.COUNT}:
        levels = tuple(spec.column(column).levels or 2 for column in columns)
        return FeatureSpec(FeatureKind.COUNT, len(columns), levels=levels)
    return FeatureSpec(FeatureKind.CONTINUOUS, len(columns))
