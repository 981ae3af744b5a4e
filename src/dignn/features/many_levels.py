"""Columns with more values than can be learned one by one: ids and codes, drawn from real rows of the class.

A discrete diffusion weighs every value of a column against every other, which thousands of ids do not allow, and ids
with a few rows each would teach nothing. Such columns of a generated row are those of one real row of its class, drawn
as often as it counts there: every id exists, is as frequent as in the data, and ids that belong together stay together.
The other columns of the row are learned and generated as always, given the class but not the ids.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dignn.features.given import Given
from dignn.features.nearest_rows import draw_near
from dignn.features.table import Table
from dignn.graphs.feature_spec import ColumnKind, FeatureKind, FeatureSpec

# Values of a column that a generator learns, at most.
MANY_LEVELS = 1000


@dataclass(frozen=True, eq=False)
class ManyLevels:
    """The columns of a table that have too many values.

    Args:
        columns: (k,) their numbers.
        others: (d - k,) the numbers of all others.
        table: the rows, of these columns alone.
    """

    columns: Tensor
    others: Tensor
    table: Table

    @classmethod
    def find(cls, table: Table) -> ManyLevels | None:
        """None where all columns can be learned."""
        if table.spec.kind is FeatureKind.MIXED:
            kinds = [column.kind for column in table.spec.columns or ()]
            many = torch.tensor([kind in (ColumnKind.CATEGORICAL, ColumnKind.IDENTITY) for kind in kinds])
        elif table.spec.kind in (FeatureKind.COUNT, FeatureKind.CATEGORICAL):
            many = table.rows.amax(0) >= MANY_LEVELS  # of whole numbers only such columns can have so many values
            kinds = []
        else:
            return None
        for column in many.nonzero()[:, 0].tolist():
            if not kinds or kinds[column] is not ColumnKind.IDENTITY:
                many[column] = len(table.rows[:, column].unique()) > MANY_LEVELS
        if not bool(many.any()):
            return None
        columns, others = many.nonzero()[:, 0], (~many).nonzero()[:, 0]
        return cls(columns, others, _of_columns(replace(table, context=None), columns))

    def rest(self, table: Table) -> Table:
        """The table without these columns."""
        return _of_columns(table, self.others)

    def draw(self, label: Tensor, given: Given, generator: torch.Generator) -> Tensor:
        """Values of these columns for each label (m,), from rows that have those of them that are fixed.  (m, k)"""
        fixed = replace(given.only(self.columns), context=None)
        return self.table.rows[draw_near(self.table, label, fixed, generator)[:, 0]]

    # -- files ----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Tensor]:
        """Tensors for a file."""
        return {"columns": self.columns, "others": self.others, **self.table.state()}

    @classmethod
    def restored(cls, tensors: dict[str, Tensor], spec: FeatureSpec) -> ManyLevels:
        """From what :meth:`state` gave; ``spec`` is of all columns."""
        columns = tensors["columns"]
        return cls(columns, tensors["others"], Table.restored(tensors, spec.only(columns.tolist())))


def _of_columns(table: Table, columns: Tensor) -> Table:
    return replace(table, rows=table.rows[:, columns], spec=table.spec.only(columns.tolist()))
