"""What features are without what they say: the row of an average node, and rows without some of their columns.

A word that is absent is a 0, so columns of flags and counts become 0. A number on a scale cannot be absent, and becomes
the mean of those that are there; a category, or an id, becomes the most frequent one. A one-hot group is one thing and
moves as a whole. A member of an identity type becomes the average of all members: "some conference". No column becomes
missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import torch
from torch import Tensor

from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import ColumnKind, FeatureKind, FeatureSpec

# By type name the row of an average node, and by the label of a relation that of an average edge.  (d,) each
Averages: TypeAlias = Mapping[str, Tensor]
# Kinds whose 0 says that something is not there.
ABSENT_IS_ZERO = (ColumnKind.BINARY, ColumnKind.COUNT)
# Kinds whose values are told apart and lie nowhere.
_NAMED = (ColumnKind.CATEGORICAL, ColumnKind.IDENTITY)
# Kinds of which the most frequent value is the average where rows are to stay such as edges can have.
STEPPED = (*_NAMED, ColumnKind.BINARY, ColumnKind.COUNT, ColumnKind.CONSTANT)


def average_rows(real: GraphBatch) -> dict[str, Tensor]:
    """By type name the row of an average node: means, and the most frequent categories.  (d,) each

    They are over the rows of the graphs' feature tables, which for real subgraphs are those of the data, and over the
    values that are there.
    """
    schema = real.schema
    found = {}
    for name, table in real.tables.items():
        spec = schema.spec(name)
        if spec.kind is FeatureKind.IDENTITY or not len(table):
            found[name] = neutral_row(spec)
        elif spec.kind is FeatureKind.CATEGORICAL:
            found[name] = table.mode(0).values
        else:
            found[name] = table.mean(0) if spec.columns is None else average_row(table, spec)
    return found


def average_row(table: Tensor, spec: FeatureSpec, usual: Sequence[ColumnKind] = _NAMED) -> Tensor:
    """The average of rows (n, d), each column by itself and over the values that are there, so never missing.  (d,)

    Args:
        table: the rows.
        spec: what their columns hold, all alike or not; a one-hot group becomes the most frequent one as a whole.
        usual: kinds whose most frequent value is taken; of others it is the mean.
    """
    row = table.nanmean(0).nan_to_num(0.0)
    for column in spec.of_kind(*usual):
        values = table[:, column]
        there = values[~values.isnan()]
        row[column] = there.mode().values if len(there) else 0.0
    groups = (tuple(range(spec.width)),) if spec.kind is FeatureKind.IDENTITY else spec.groups
    for group in groups:
        most = int(row[list(group)].argmax())
        row[list(group)] = torch.nn.functional.one_hot(torch.tensor(most), len(group)).to(row.dtype)
    return row


def neutral_row(spec: FeatureSpec) -> Tensor:
    """Where no real rows are known: zeros, or the mean of all members of an identity type.  (d,)"""
    if spec.kind is FeatureKind.IDENTITY:
        return torch.full((spec.width,), 1 / spec.width)
    row = torch.zeros(spec.width)
    for group in spec.groups:  # one of them is 1
        row[group[0]] = 1.0
    for column in spec.of_kind(ColumnKind.CONSTANT) if spec.columns is not None else ():
        row[column] = spec.column(column).constant or 0.0
    return row


def without_columns(row: Tensor, columns: Sequence[int], spec: FeatureSpec, average: Tensor) -> Tensor:
    """A row (d,) without what some of its columns say.  (d,)"""
    if spec.kind is FeatureKind.IDENTITY:
        return average
    leaders = {spec.leaders[column] for column in columns} if spec.groups else set(columns)
    changed = [c for c, leader in enumerate(spec.leaders) if leader in leaders] if spec.groups else list(columns)
    zero = torch.tensor([spec.kinds[column] in ABSENT_IS_ZERO for column in changed])
    row = row.clone()
    row[changed] = average[changed].masked_fill(zero, 0.0)
    return row


def says_something(row: Tensor, spec: FeatureSpec, average: Tensor) -> tuple[list[int], Tensor]:
    """Columns of a row (d,) that would be missed, and how far each is from the average.  (d,)

    A column says something where it is not zero, or missing; a category, where it is not the usual one. Anonymous
    numbers tell a reader nothing one by one, so they are left out.
    """
    unusual = (row - average).abs()
    if spec.columns is None:
        if spec.kind is FeatureKind.CONTINUOUS and spec.names is None:
            return [], unusual
        if spec.kind is FeatureKind.CATEGORICAL:
            unusual = (unusual > 0).float()  # codes are not far or near; 0 is one like any other
        told = unusual if spec.kind is FeatureKind.CATEGORICAL else row
        return told.nonzero()[:, 0].tolist(), unusual
    # Columns have units of their own, so that a share of the value stands for the distance.
    apart = torch.where(row.isnan(), 1.0, unusual / (unusual + average.abs()).clamp_min(1e-12))
    return [column for column in range(spec.width) if _told(row, column, spec, average)], apart


def _told(row: Tensor, column: int, spec: FeatureSpec, average: Tensor) -> bool:
    """Whether a column of a mixed row says something."""
    kind, value = spec.kinds[column], float(row[column])
    if kind is ColumnKind.CONSTANT or (spec.column(column).numeric and spec.names is None):
        return False
    if kind is ColumnKind.ONE_HOT:
        return value == 1 and float(average[column]) != 1
    return value != float(average[column]) if kind in _NAMED else value != 0
