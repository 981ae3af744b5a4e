"""The features of an edge's ends as numbers that can be added and subtracted: quantities, and what is told apart.

What each number means follows from the spec alone, so that nothing has to be kept in a file. A table whose columns are
all flags, counts or quantities, or a member each, enters as it is.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dignn.graphs.feature_spec import ColumnKind, FeatureKind, FeatureSpec

# Codes that a category may have to be told apart, one number for each, and such numbers of all categories of a type.
# What has more is an id rather than a category: a network would learn its values by heart.
MOST_CODES, MOST_INDICATORS = 64, 4096
# Columns that are no quantities, or the same in every row.
_NO_QUANTITIES = (ColumnKind.CATEGORICAL, ColumnKind.IDENTITY, ColumnKind.CONSTANT)


def end_columns(rows: Tensor, spec: FeatureSpec) -> Tensor:
    """(e, k) what rows (e, d) of ends say in numbers.

    Quantities, flags and one-hot groups as they are, NaN where they are missing; then 1 for the code of each category
    that has few of them; then 1 for what is missing in each column where something may be. Ids are left out.
    """
    if spec.columns is None and spec.kind is not FeatureKind.CATEGORICAL:
        return rows
    quantities = [column for column, kind in enumerate(spec.kinds) if kind not in _NO_QUANTITIES]
    codes = [rows[:, column, None] == torch.arange(levels) for column, levels in _told_apart(spec)]
    lost = rows[:, list(spec.missing)].isnan()
    return torch.cat([rows[:, quantities], *(code.to(rows.dtype) for code in codes), lost.to(rows.dtype)], dim=1)


def _told_apart(spec: FeatureSpec) -> list[tuple[int, int]]:
    """Categories whose codes are told apart, and how many each has: those with few first, as long as there is room."""
    levels = [(spec.column(column).levels or 0, column) for column in spec.of_kind(ColumnKind.CATEGORICAL)]
    found, room = [], MOST_INDICATORS
    for number, column in sorted(levels):
        room -= number
        if number <= MOST_CODES and room >= 0:
            found.append((column, number))
    return found
