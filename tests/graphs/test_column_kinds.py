"""Kinds of single columns: said by name or number, as text, kind or column."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from dignn.core.errors import SchemaError
from dignn.graphs.column_kinds import Said, said_columns
from dignn.graphs.feature_inference import infer_features
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind

NAMES = ("price", "year", "7")


def test_columns_are_named_or_numbered_and_kinds_have_many_forms() -> None:
    date = "date:days:1970-01-01"
    found = said_columns({"price": "count", 1: date, "7": ColumnKind.IDENTITY}, 3, NAMES, "paper")
    assert found == {
        0: Said(ColumnKind.COUNT),
        1: Said(ColumnKind.DATE, unit="days", epoch="1970-01-01"),
        2: Said(ColumnKind.IDENTITY),
    }
    column = Column(ColumnKind.CATEGORICAL, levels=9, missing=True)
    assert said_columns({"2": column}, 3, None, "paper") == {2: Said(ColumnKind.CATEGORICAL, levels=9, missing=True)}


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"prize": "count"}, r"'paper' has no column called 'prize' \(did you mean 'price'\?\); choose from price, "),
        ({3: "count"}, "'paper' has no column 3; numbers run from 0 to 2"),
        ({-1: "count"}, "'paper' has no column -1"),
        ({True: "count"}, "True is no column of 'paper'; give its name or its number"),
        ({"price": "count", 0: "count"}, "column 0 of 'paper' is said twice"),
        ({"price": "money"}, "'money' is not a kind of column 'price' of 'paper'; choose from constant, binary, "),
        ({"price": 3}, "The kind of column 'price' of 'paper' is 3; give its name"),
        ({"price": "count:3"}, "write 'count' alone"),
        ({"year": "date"}, "does not say what column 'year' of 'paper' counts.* write it as date:days:1970-01-01"),
        ({"year": "date:weeks:1970-01-01"}, "'date:weeks:1970-01-01': The unit of a date"),
        ({"year": "date:days:yesterday"}, "The epoch of a date is 'yesterday'; write it as YYYY-MM-DD"),
    ],
)
def test_what_is_wrong_is_named(kinds: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as refused:
        said_columns(kinds, 3, NAMES, "paper")
    assert "\n" not in str(refused.value)


def test_columns_without_names_have_numbers_only() -> None:
    with pytest.raises(SchemaError, match="The columns of 'paper' have no names, so there is no 'price'"):
        said_columns({"price": "count"}, 3, None, "paper")
    with pytest.raises(SchemaError, match="Several columns of 'paper' are called 'a'; say its number instead"):
        said_columns({"a": "count"}, 2, ("a", "a"), "paper")


# -- against the data ---------------------------------------------------------------------------------

ROWS = torch.tensor([[0.0, 0.5, 3.0], [1.0, 2.0, 3.0], [1.0, 0.0, 3.0], [0.0, 7.0, 3.0]])


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"year": "binary"}, "Column 'year' of 'paper' is said to be binary, but holds 0.5; say another kind"),
        ({"year": "categorical"}, "Column 'year' of 'paper' is said to be categorical, but holds 0.5"),
        ({"year": "identity"}, "is said to be identity, but holds 0.5"),
        ({"year": "constant"}, "is said to be constant, but holds 2 beside 0.5"),
        ({"price": Column("count", levels=1)}, "Column 'price' of 'paper' holds 1, but has 1 levels; say levels=2"),
        ({"price": "one-hot:a", "7": "one-hot:a"}, "'7' of 'paper' is said to be one-hot, but holds 3"),
        ({"price": "one-hot:a"}, "Column 'price' of 'paper' and those with it, .* row 0 has 0 of them; say 'binary'"),
    ],
)
def test_a_kind_that_contradicts_the_column_is_refused(kinds: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as refused:
        infer_features(ROWS, "paper", kind=kinds, names=NAMES)
    assert "\n" not in str(refused.value)


def test_groups_can_be_said_by_name_or_as_a_run() -> None:
    x = torch.tensor([[1.0, 0.0, 0.5, 0.0, 1.0], [0.0, 1.0, 0.2, 1.0, 0.0], [1.0, 0.0, 0.1, 1.0, 0.0]])
    plain = infer_features(x, "t", kind={0: "one-hot", 1: "one-hot", 3: "one-hot", 4: "one-hot"})
    named = infer_features(x, "t", kind={0: "one-hot:a", 4: "one-hot:b", 1: "one-hot:a", 3: "one-hot:b"})
    assert plain.groups == named.groups == ((0, 1), (3, 4))


def test_columns_that_are_said_to_be_alike_are_of_one_kind() -> None:
    codes = torch.tensor([[0.0, 4.0], [1.0, 2.0], [3.0, 0.0]])
    spec = infer_features(codes, "t", kind={0: "categorical", 1: "categorical"})
    assert spec == infer_features(codes, "t", kind="categorical")
    assert infer_features(codes, "t", kind={0: "categorical"}).kind is FeatureKind.MIXED
    assert infer_features(codes, "t", kind={1: Column("categorical", levels=9)}).column(1).levels == 9


def test_the_levels_that_a_code_may_have_can_be_said() -> None:
    spec = infer_features(torch.tensor([[0.0, 0.5]]), "t", kind={0: Column("categorical", levels=4)})
    assert spec.column(0) == Column(ColumnKind.CATEGORICAL, levels=4)
