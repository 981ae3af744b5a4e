"""Real rows that fit what is given: those of the class whose context and fixed columns are nearest."""

from __future__ import annotations

import torch
from torch import Tensor

from dignn.features.given import Given
from dignn.features.table import Table

# Rows of the class among which one is drawn, and all that are as near as the last of them.
NEAREST_ROWS = 8
# Rows that are compared with all others at once: bounds memory.
COMPARED_ROWS = 512
# What one differing column that is missing in one of two rows counts, in deviations.
_MISSING = 2.0


def draw_near(table: Table, label: Tensor, given: Given, generator: torch.Generator, columns: int = 1) -> Tensor:
    """Numbers of ``columns`` independently drawn rows for each label (m,), with replacement.  (m, columns)

    Without anything given as :meth:`Table.draw` does. Otherwise among the 8 rows of the label that are nearest in
    context and fixed columns, and all others that are as near, by their weights.
    """
    if given.nothing:
        return table.draw(label, generator, columns)
    drawn = [torch.empty(0, columns, dtype=torch.long)]
    for start in range(0, len(label), COMPARED_ROWS):
        some = slice(start, start + COMPARED_ROWS)
        weight = table.different_weight[table.line[label[some]]]
        distance = _distances(table, given[some]).masked_fill(weight == 0, torch.inf)
        number = min(NEAREST_ROWS, len(table))
        limit = distance.topk(number, dim=1, largest=False).values
        last = limit.masked_fill(limit.isinf(), 0.0).amax(1, keepdim=True)
        weight = weight.masked_fill(distance > last * (1 + 1e-6) + 1e-9, 0.0)
        drawn.append(torch.multinomial(weight, columns, replacement=True, generator=generator))
    return torch.cat(drawn)


def _distances(table: Table, given: Given) -> Tensor:
    """Squared distances in deviations, mean over context, sum over fixed columns.  (m, n) double"""
    out = torch.zeros(len(given), len(table), dtype=torch.float64)
    if given.context is not None and table.context is not None:
        usual = table.context.each.double().mean(1)
        out += torch.cdist(given.context.double(), usual).square() / given.context.size(1)
    if given.fixed is not None:
        rows, mask = table.rows.double(), given.fixed.mask.double()
        missing = rows.isnan()
        rows = rows.nan_to_num(0.0)
        asked = given.fixed.values.double()
        lacks = (asked.isnan() & given.fixed.mask).double()
        asked = asked.nan_to_num(0.0)
        scale = rows.var(0, unbiased=False).clamp_min(1e-12)
        part = (mask - lacks) / scale
        both = part @ (rows * ~missing).square().T - 2 * (part * asked) @ (rows * ~missing).T
        out += (both + (part * asked.square()).sum(1, keepdim=True)).clamp_min(0.0)
        apart = (mask - lacks) @ missing.double().T + lacks @ (~missing).double().T
        out += _MISSING**2 * apart
    return out
