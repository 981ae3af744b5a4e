"""Columns that differ: what each seems to hold, and when columns are one table of one kind as ever."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from dignn.core.errors import SchemaError
from dignn.graphs.feature_inference import MAX_COUNT, infer_features
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind
from dignn.graphs.inference import infer_schema
from mixed_world import KINDS, NAMES, SHOP, mixed_data, mixed_schema
from strategies import PROPERTY

ROWS = 60


def rand(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


FLAG, COUNT = (rand(ROWS, 1) < 0.4).float(), (rand(ROWS, 1, seed=1) * 9).floor()
NUMBER, YEAR = rand(ROWS, 1, seed=2), 1900 + (rand(ROWS, 1, seed=3) * 100).floor()
GROUP = torch.nn.functional.one_hot((rand(ROWS, seed=4) * 4).long(), 4).float()
BIAS = torch.full((ROWS, 1), 0.5)


def kinds_of(*parts: Tensor) -> list[str]:
    return [kind.value for kind in infer_features(torch.cat(parts, dim=1), "t").kinds]


# -- what each column holds ---------------------------------------------------------------------------


def test_every_kind_that_can_be_guessed() -> None:
    found = kinds_of(FLAG, COUNT, NUMBER, YEAR, GROUP, BIAS)
    assert found == ["binary", "count", "continuous", "continuous", *["one-hot"] * 4, "constant"]


def test_a_column_that_misses_values_says_so() -> None:
    holed = [part.clone() for part in (FLAG, COUNT, NUMBER)]
    for part in holed:
        part[::3] = torch.nan
    spec = infer_features(torch.cat([*holed, COUNT], dim=1), "t")
    assert spec.missing == (0, 1, 2)
    assert spec.columns == (
        Column(ColumnKind.BINARY, missing=True),
        Column(ColumnKind.COUNT, levels=int(holed[1].nan_to_num().max()) + 1, missing=True),
        Column(ColumnKind.CONTINUOUS, missing=True),
        Column(ColumnKind.COUNT, levels=int(COUNT.max()) + 1),
    )


def test_a_column_of_one_value_that_is_sometimes_missing_is_not_constant() -> None:
    holed = torch.ones(ROWS, 1)
    holed[::2] = torch.nan
    assert infer_features(torch.cat([holed, NUMBER], dim=1), "t").column(0) == Column(ColumnKind.BINARY, missing=True)


def test_many_different_whole_numbers_beside_fractions_are_quantities() -> None:
    many = torch.arange(ROWS * 2).remainder(200).float()[:, None]
    number = rand(ROWS * 2, 1)
    assert [kind.value for kind in infer_features(torch.cat([many, number], dim=1), "t").kinds] == ["continuous"] * 2


def test_whole_numbers_among_means_of_words_are_means_too() -> None:
    means = (rand(200, 30) < 0.05).float() * torch.tensor([0.5, 1.0]).repeat(100)[:, None]
    rare = torch.zeros(200, 1)
    rare[3] = 1.0
    assert infer_features(torch.cat([means, rare], dim=1), "t").kind is FeatureKind.CONTINUOUS
    flag = (rand(200, 1, seed=9) < 0.5).float()
    assert infer_features(torch.cat([means, flag], dim=1), "t").kinds[-1] is ColumnKind.BINARY


def test_few_rows_tell_no_columns_apart() -> None:
    assert infer_features(torch.tensor([[0.0, 0.5], [1.0, 0.2], [1.0, 0.7]]), "t").kind is FeatureKind.CONTINUOUS


def test_a_single_row_is_constant() -> None:
    assert infer_features(torch.tensor([[3.0, 0.5]]), "t").kind is FeatureKind.NONE
    with pytest.raises(SchemaError, match="Column '1' of 't' has no value in any row; leave it out, or fill it in"):
        infer_features(torch.tensor([[3.0, torch.nan]]), "t")


# -- uniform tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ((FLAG, FLAG), "binary"),
        ((FLAG, COUNT), "count"),  # a count may be 0 or 1 only
        ((FLAG, torch.zeros(ROWS, 1)), "binary"),
        ((COUNT, torch.full((ROWS, 1), 3.0)), "count"),
        ((NUMBER, YEAR, BIAS), "continuous"),
        ((GROUP,), "binary"),  # nothing stands beside it
        ((BIAS, BIAS), "none"),
        ((FLAG, BIAS), "mixed"),
        ((FLAG, NUMBER), "mixed"),
        ((COUNT, YEAR), "mixed"),
        ((GROUP, FLAG), "mixed"),
        ((GROUP, GROUP.flip(0)), "mixed"),
    ],
)
def test_tables_whose_columns_are_alike_are_of_one_kind(parts: tuple[Tensor, ...], kind: str) -> None:
    assert infer_features(torch.cat(parts, dim=1), "t").kind.value == kind


@PROPERTY
@given(st.integers(0, 10_000), st.sampled_from([0.02, 0.3, 0.7]), st.sampled_from([1, 3, MAX_COUNT]))
def test_counts_are_counts_however_they_fall(seed: int, share: float, most: int) -> None:
    x = (rand(40, 12, seed=seed) < share).float() * (1 + (rand(40, 12, seed=seed + 1) * most).floor())
    spec = infer_features(x, "t")
    expected = "none" if not bool((x != x[0]).any()) else "binary" if float(x.max()) <= 1 else "count"
    assert spec.kind.value == expected
    assert spec.columns is None


def test_kinds_do_not_depend_on_the_layout() -> None:
    x = torch.cat([FLAG, NUMBER, GROUP], dim=1)
    x[3, 1] = torch.nan
    assert infer_features(x.to_sparse().coalesce(), "t").columns == infer_features(x, "t").columns


# -- what must be said --------------------------------------------------------------------------------


def test_large_whole_numbers_of_an_integer_column_must_be_told_by_name() -> None:
    x = torch.cat([COUNT, YEAR], dim=1).long()
    with pytest.raises(
        SchemaError, match=r"Column 'year' of 't' has whole numbers up to .*kinds=\{'t': \{'year': .*--kinds t:year="
    ):
        infer_features(x, "t", names=["n", "year"])
    spec = infer_features(x, "t", names=["n", "year"], kind={"year": "date:years:0000-01-01"})
    assert spec.column(1) == Column(ColumnKind.DATE, unit="years", epoch="0000-01-01")


@pytest.mark.parametrize("kind", ["none", "identity"])
def test_a_kind_of_whole_rows_does_not_suit_what_is_missing(kind: str) -> None:
    with pytest.raises(SchemaError, match=f"'t' is said to be {kind}, but x misses values; say the kind of its"):
        infer_features(torch.tensor([[1.0, 0.0], [0.0, torch.nan], [0.0, 1.0]]), "t", kind=kind)


def test_one_kind_for_all_columns_holds_where_values_are_missing() -> None:
    spec = infer_features(torch.tensor([[1.0, 4.0], [0.0, torch.nan], [0.0, 1.0]]), "t", kind="categorical")
    assert spec.columns == (Column("categorical", levels=2), Column("categorical", levels=5, missing=True))


def test_mixed_cannot_be_said_of_all() -> None:
    with pytest.raises(SchemaError, match="say the kind of each, by its name or number"):
        infer_features(FLAG, "t", kind="mixed")


# -- a whole schema -----------------------------------------------------------------------------------


def test_a_schema_of_everything() -> None:
    schema = mixed_schema()
    kinds = dict(zip(SHOP, (kind.value for kind in schema.spec("shop").kinds), strict=True))
    assert kinds == {
        **{"open": "binary", "visits": "count", "red": "one-hot", "green": "one-hot", "blue": "one-hot"},
        **{"town": "categorical", "price": "continuous", "founded": "date", "bias": "constant", "rating": "count"},
    }
    assert [SHOP[column] for column in schema.spec("shop").missing] == ["price", "rating"]
    assert schema.spec("shop").groups == ((2, 3, 4),)
    assert [kind.value for kind in schema.spec("item").kinds] == ["identity", "continuous"]
    assert schema.spec("owner").kind is FeatureKind.NONE  # a single row
    assert type(schema).from_json(schema.to_json()) == schema


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(SchemaError, match=r"'shop' has no column called 'prize' \(did you mean 'price'\?\)"):
        infer_schema(mixed_data(), "shop", kinds={**KINDS, "shop": {"prize": "count"}}, names=NAMES)
