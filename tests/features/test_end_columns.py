"""What the ends of an edge say in numbers: categories have no order, ids say nothing, what is missing is marked."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from dignn.features.end_columns import MOST_CODES, MOST_INDICATORS, end_columns
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec

COLUMNS = (
    Column(ColumnKind.CONTINUOUS, missing=True),
    Column(ColumnKind.CATEGORICAL, levels=3, missing=True),
    *[Column(ColumnKind.ONE_HOT, group=0)] * 3,
    Column(ColumnKind.IDENTITY),
    Column(ColumnKind.CONSTANT, constant=4.0),
    Column(ColumnKind.CATEGORICAL, levels=MOST_CODES + 1),
)
SPEC = FeatureSpec(FeatureKind.MIXED, len(COLUMNS), columns=COLUMNS)


def row(price: float, code: float, name: float = 7.0, town: float = 0.0) -> Tensor:
    return torch.tensor([[price, code, 0.0, 1.0, 0.0, name, 4.0, town]])


def test_each_kind_enters_in_its_own_way() -> None:
    quantities, codes, lost = end_columns(row(2.5, 2), SPEC).split([4, 3, 2], dim=1)
    assert quantities.tolist() == [[2.5, 0, 1, 0]]
    assert codes.tolist() == [[0, 0, 1]]
    assert lost.tolist() == [[0, 0]]


def test_what_is_missing_is_marked_and_is_no_code() -> None:
    quantities, codes, lost = end_columns(row(torch.nan, torch.nan), SPEC).split([4, 3, 2], dim=1)
    assert bool(quantities[0, 0].isnan())
    assert codes.tolist() == [[0, 0, 0]]
    assert lost.tolist() == [[1, 1]]


def test_codes_are_equally_far_and_ids_say_nothing() -> None:
    found = torch.cat([end_columns(row(1.0, code), SPEC) for code in (0, 1, 2)])
    apart = torch.cdist(found, found)
    assert apart[0, 1] == apart[0, 2] == apart[1, 2] > 0
    assert torch.equal(
        end_columns(row(1.0, 0, name=7, town=1), SPEC), end_columns(row(1.0, 0, name=900, town=50), SPEC)
    )


@pytest.mark.parametrize("kind", [FeatureKind.BINARY, FeatureKind.COUNT, FeatureKind.CONTINUOUS, FeatureKind.IDENTITY])
def test_tables_of_one_kind_without_codes_enter_as_they_are(kind: FeatureKind) -> None:
    rows = torch.eye(3)
    assert end_columns(rows, FeatureSpec(kind, 3, levels=(2, 2, 2) if kind is FeatureKind.COUNT else None)) is rows


def test_many_categories_are_told_apart_as_long_as_there_is_room() -> None:
    width = MOST_INDICATORS // 3 + 100
    spec = FeatureSpec(FeatureKind.CATEGORICAL, width, levels=(3,) * width)
    found = end_columns(torch.ones(2, width), spec)
    assert found.size(1) == MOST_INDICATORS // 3 * 3
    assert found[0, :6].tolist() == [0, 1, 0, 0, 1, 0]
