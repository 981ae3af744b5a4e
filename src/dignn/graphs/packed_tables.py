"""Feature tables as tensors of a file."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from dignn.core.errors import SchemaError
from dignn.graphs.column_checks import missing_where_it_may_not
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

# Continuous tables with at most this share of entries that are not zero are stored by those entries.
SPARSE_SHARE = 0.2


def outside(values: Tensor, low: int, end: int) -> bool:
    """Whether a value is below ``low``, or not below ``end``."""
    return bool(((values < low) | (values >= end)).any())


def _lacks(table: Tensor, spec: FeatureSpec) -> bool:
    """Whether a table misses values though the spec knows of none."""
    fits = table.dim() == 2 and table.size(1) == spec.width
    return missing_where_it_may_not(table, spec) is not None if fits else bool(table.isnan().any())


def pack_table(prefix: str, table: Tensor, kind: FeatureKind) -> dict[str, Tensor]:
    """Discrete and sparse tables are stored by their non-zero entries: word tables are almost empty."""
    sparse = kind is FeatureKind.CONTINUOUS and int((table != 0).sum()) <= SPARSE_SHARE * table.numel()
    if not (kind.discrete or sparse):
        return {f"{prefix}.dense": table}
    row, column = table.nonzero(as_tuple=True)
    return {
        f"{prefix}.count": torch.bincount(row, minlength=len(table)).to(torch.int32),
        f"{prefix}.column": column.to(torch.int32),
        f"{prefix}.value": table[row, column],
    }


def unpack_table(prefix: str, tensors: Mapping[str, Tensor], spec: FeatureSpec) -> Tensor | None:
    """The table that :func:`pack_table` gave; None where there is nothing of it."""
    sparse = spec.kind.discrete or f"{prefix}.count" in tensors
    parts = ("count", "column", "value") if sparse else ("dense",)
    found = {part: tensors[f"{prefix}.{part}"] for part in parts if f"{prefix}.{part}" in tensors}
    if not found:
        return None
    for part in parts:
        if part not in found:
            raise SchemaError(f"it lacks {prefix}.{part}")
        strange = found[part].isinf().any() if part == "dense" else ~found[part].isfinite().all()
        if bool(strange) or (part == "dense" and _lacks(found[part], spec)):
            raise SchemaError(f"{prefix}.{part} holds values that are no numbers")
    if not sparse:
        return found["dense"]
    count, column, value = found["count"].long(), found["column"].long(), found["value"]
    if int(count.sum()) != len(column) or column.shape != value.shape or outside(column, 0, spec.width):
        raise SchemaError(f"the parts of {prefix} do not fit each other")
    table = torch.zeros(len(count), spec.width)
    table[torch.repeat_interleave(torch.arange(len(count)), count), column] = value
    return table
