"""What columns hold: kinds of tables, kinds of columns."""

from __future__ import annotations

from typing import Any

import pytest

from dignn.core.errors import DignnError, SchemaError
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec

MIXED = FeatureSpec(
    FeatureKind.MIXED,
    5,
    names=("price", "red", "blue", "year", "sold"),
    columns=(
        Column(ColumnKind.CONTINUOUS, missing=True),
        Column(ColumnKind.ONE_HOT, group=0),
        Column(ColumnKind.ONE_HOT, group=0),
        Column(ColumnKind.DATE, unit="days", epoch="1970-01-01"),
        Column(ColumnKind.COUNT, levels=4, missing=True),
    ),
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": FeatureKind.BINARY, "width": 2, "names": ("one",)}, "1 names were given for 2 feature columns"),
        ({"kind": FeatureKind.COUNT, "width": 2, "levels": (3,)}, "1 levels were given for 2 feature columns"),
        ({"kind": FeatureKind.NONE, "width": 2, "constant": (1.0,)}, "1 constant were given for 2 feature columns"),
        ({"kind": FeatureKind.NONE, "width": 2}, "give constant="),
        ({"kind": FeatureKind.NONE, "constant": ()}, "give constant="),
        ({"kind": FeatureKind.COUNT, "width": 2}, "'count' needs levels="),
        ({"kind": FeatureKind.CATEGORICAL, "width": 2}, "'categorical' needs levels="),
    ],
)
def test_bad_feature_spec(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        FeatureSpec(**options)


# -- features -----------------------------------------------------------------------------------------


def test_columns_are_named() -> None:
    assert FeatureSpec(FeatureKind.BINARY, 2, names=("red", "blue")).column_name(1) == "blue"
    assert FeatureSpec(FeatureKind.BINARY, 2).column_name(1) == "column 1"
    assert FeatureSpec(FeatureKind.IDENTITY, 2).column_name(1) == "member 1"


def test_only_types_with_features_need_a_generator() -> None:
    generated = {kind for kind in FeatureKind if kind is not FeatureKind.NONE}
    options: dict[FeatureKind, dict[str, Any]] = {
        FeatureKind.COUNT: {"levels": (2,)},
        FeatureKind.CATEGORICAL: {"levels": (2,)},
    }
    options[FeatureKind.MIXED] = {"columns": (Column(ColumnKind.BINARY),)}
    for kind in generated:
        assert FeatureSpec(kind, 1, **options.get(kind, {})).generated
    assert not FeatureSpec().generated
    assert not FeatureSpec(width=1, constant=(1.0,)).generated


def test_discrete_kinds() -> None:
    discrete = {kind.value for kind in FeatureKind if kind.discrete}
    assert discrete == {"binary", "count", "categorical", "identity"}


def test_mixed_columns_say_what_is_missing_and_what_belongs_together() -> None:
    assert MIXED.missing == (0, 4)
    assert MIXED.groups == ((1, 2),)
    assert [MIXED.column(place).numeric for place in range(5)] == [True, False, False, True, False]


def test_some_columns_of_a_mixed_table_keep_what_they_hold() -> None:
    some = MIXED.only([3, 0])
    assert some.names == ("year", "price")
    assert [column.kind for column in some.columns or ()] == [ColumnKind.DATE, ColumnKind.CONTINUOUS]


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        (FeatureSpec(FeatureKind.BINARY, 2), ColumnKind.BINARY),
        (FeatureSpec(FeatureKind.COUNT, 2, levels=(3, 4)), ColumnKind.COUNT),
        (FeatureSpec(FeatureKind.CATEGORICAL, 2, levels=(3, 4)), ColumnKind.CATEGORICAL),
        (FeatureSpec(FeatureKind.IDENTITY, 2), ColumnKind.ONE_HOT),
        (FeatureSpec(FeatureKind.CONTINUOUS, 2), ColumnKind.CONTINUOUS),
        (FeatureSpec(width=2, constant=(0.0, 1.0)), ColumnKind.CONSTANT),
    ],
    ids=lambda value: getattr(value, "value", "table"),
)
def test_columns_of_a_uniform_table_can_be_asked_one_by_one(spec: FeatureSpec, kind: ColumnKind) -> None:
    assert [spec.column(place).kind for place in range(2)] == [kind] * 2
    assert not spec.missing


def test_a_column_of_a_uniform_table_knows_its_levels_and_its_constant() -> None:
    assert FeatureSpec(FeatureKind.COUNT, 2, levels=(3, 4)).column(1).levels == 4
    assert FeatureSpec(width=2, constant=(0.0, 1.0)).column(1).constant == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "colour"}, "'colour'"),
        ({"kind": "count"}, "levels= is needed by 'count' or 'categorical'"),
        ({"kind": "binary", "levels": 2}, "levels= is needed by"),
        ({"kind": "one-hot"}, "group= is needed by 'one-hot'"),
        ({"kind": "constant"}, "constant= is needed by"),
        ({"kind": "date"}, "unit= is needed by"),
        ({"kind": "date", "unit": "weeks", "epoch": "1970-01-01"}, "days"),
        ({"kind": "date", "unit": "days", "epoch": "1/1/70"}, "YYYY-MM-DD"),
        ({"kind": "binary", "missing": 1}, "missing"),
    ],
)
def test_bad_column(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DignnError, match=message):
        Column(**options)


def test_kind_mixed_and_columns_belong_together() -> None:
    for options in ({"kind": "mixed", "width": 1}, {"kind": "binary", "width": 1, "columns": MIXED.columns[:1]}):  # type: ignore[index]
        with pytest.raises(SchemaError, match="what each column holds"):
            FeatureSpec(**options)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="5 columns were given for 2"):
        FeatureSpec(FeatureKind.MIXED, 2, columns=MIXED.columns)
