"""Whether feature rows are what a spec says of them, column by column."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dignn.core.errors import SchemaError
from dignn.graphs.feature_spec import ColumnKind, FeatureKind, FeatureSpec


def missing_where_it_may_not(rows: Tensor, spec: FeatureSpec) -> int | None:
    """The first column of rows (n, d) that misses values though the spec knows of none; None if all is well."""
    absent = rows.isnan().any(0)
    absent[list(spec.missing)] = False
    return int(absent.nonzero()[0]) if bool(absent.any()) else None


def breach(rows: Tensor, spec: FeatureSpec) -> tuple[int, str] | None:
    """The first column that holds what its kind does not allow, and what that is in words; None if all is well.

    Args:
        rows: (n, d), dense.
        spec: what they should be.
    """
    column = missing_where_it_may_not(rows, spec)
    if column is not None:
        return column, "NaN, though its values are never missing"
    if spec.columns is None and spec.kind is not FeatureKind.CATEGORICAL:
        return None
    checks = {
        ColumnKind.BINARY: lambda values, _: (values == 0) | (values == 1),
        ColumnKind.ONE_HOT: lambda values, _: (values == 0) | (values == 1),
        ColumnKind.COUNT: lambda values, _: _counting(values),
        ColumnKind.IDENTITY: lambda values, _: _counting(values),
        ColumnKind.CATEGORICAL: lambda values, chosen: _counting(values) & (values < _levels(spec, chosen)),
        ColumnKind.CONSTANT: lambda values, chosen: values == _constants(spec, chosen),
    }
    for kind, fits in checks.items():
        chosen = spec.of_kind(kind)
        values = rows[:, chosen]
        bad = ~fits(values, chosen) & ~values.isnan()
        if bool(bad.any()):
            place = int(bad.any(0).nonzero()[0])
            value = float(values[:, place][bad[:, place]][0])
            return chosen[place], _in_words(value, kind, spec, chosen[place])
    for group in spec.groups:
        ones = rows[:, list(group)].sum(1)
        if bool((ones != 1).any()):
            return group[0], f"{float(ones[ones != 1][0]):g} ones in the one-hot group that it belongs to"
    return None


def check_rows(rows: Tensor, spec: FeatureSpec, name: str) -> Tensor:
    """The rows (n, d) of a node type, which are what the schema says.

    Raises:
        SchemaError: they are not; the column and the value are named.
    """
    found = breach(rows, spec)
    if found is not None:
        column, what = found
        raise SchemaError(
            f"Column '{spec.column_name(column)}' of '{name}' holds {what}; give rows as the schema describes them, or "
            "infer a schema of these"
        )
    return rows


def _counting(values: Tensor) -> Tensor:
    return (values >= 0) & (values == values.round())


def _levels(spec: FeatureSpec, chosen: Sequence[int]) -> Tensor:
    return torch.tensor([spec.column(column).levels or 0 for column in chosen])


def _constants(spec: FeatureSpec, chosen: Sequence[int]) -> Tensor:
    return torch.tensor([spec.column(column).constant or 0.0 for column in chosen])


def _in_words(value: float, kind: ColumnKind, spec: FeatureSpec, column: int) -> str:
    if kind is ColumnKind.CATEGORICAL and value >= 0 and value == round(value):
        return f"the code {value:g}, which was never seen (codes run from 0 to {(spec.column(column).levels or 1) - 1})"
    if kind is ColumnKind.CONSTANT:
        return f"{value:g}, though all rows of the schema's data have {spec.column(column).constant:g}"
    return f"{value:g}, though its kind is '{kind.value}'"
