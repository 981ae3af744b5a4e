"""Rows without some of their columns: each kind in its own way, a one-hot group as a whole, nothing becomes missing."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from dignn.evidence.neutral_rows import average_rows, neutral_row, says_something, without_columns
from dignn.evidence.variants import Kind, parts_of, without
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureSpec
from mixed_world import SHOP, mixed_data, mixed_schema


def spec() -> FeatureSpec:
    return mixed_schema().spec("shop")


def graph() -> GraphBatch:
    return Adjacency.build(mixed_data(), mixed_schema()).induced([range(6)])


def average() -> Tensor:
    return average_rows(graph())["shop"]


def test_an_average_node_has_means_usual_categories_and_nothing_missing() -> None:
    rows, found = mixed_data()["shop"].x, average()
    price, town = SHOP.index("price"), SHOP.index("town")
    assert float(found[price]) == pytest.approx(float(rows[:, price].nanmean()))
    assert float(found[town]) == float(rows[:, town].mode().values)
    assert found[2:5].sort().values.tolist() == [0, 0, 1]
    assert int(found[2:5].argmax()) == int(rows[:, 2:5].sum(0).argmax())
    assert float(found[SHOP.index("bias")]) == 1
    assert bool(found.isfinite().all())


@pytest.mark.parametrize("column", range(len(SHOP)))
def test_without_a_column_the_others_stay_and_a_group_moves_as_one(column: int) -> None:
    about, usual = spec(), average()
    for row in mixed_data()["shop"].x:
        found = without_columns(row, [column], about, usual)
        together = [other for other in range(len(SHOP)) if about.leaders[other] == about.leaders[column]]
        others = [other for other in range(len(SHOP)) if other not in together]
        assert torch.equal(found[others].nan_to_num(-7.5), row[others].nan_to_num(-7.5))
        assert int(found[2:5].sum()) == 1
        expected = torch.zeros(1) if SHOP[column] in ("open", "visits", "rating") else usual[together]
        assert torch.equal(found[together], expected)


def test_what_says_something() -> None:
    about, usual = spec(), average()
    row = usual.clone()
    usual_ones = {SHOP[column] for column in says_something(row, about, usual)[0]}
    assert not usual_ones & {"red", "green", "blue", "town", "bias"}
    row[SHOP.index("price")] = torch.nan
    row[SHOP.index("town")] = (float(usual[SHOP.index("town")]) + 1) % 4
    row[2:5] = usual[2:5].roll(1)
    told, apart = says_something(row, about, usual)
    assert {"price", "town"} < {SHOP[column] for column in told}
    assert [column for column in told if 2 <= column < 5] == [2 + int(row[2:5].argmax())]
    assert bool(apart.isfinite().all())


def test_without_real_rows_a_group_is_still_one_hot() -> None:
    row = neutral_row(spec())
    assert row[2:5].tolist() == [1, 0, 0]
    assert float(row[SHOP.index("bias")]) == 1


def test_variants_are_rows_of_the_schema() -> None:
    one, averages = graph(), average_rows(graph())
    parts = [part for part in parts_of(one, 0, averages) if part.kind in (Kind.COLUMN, Kind.ROW)]
    assert {part.kind for part in parts} == {Kind.COLUMN, Kind.ROW}
    rows = without(one, parts, averages, 0).features("shop")
    assert bool((rows[:, 2:5].sum(1) == 1).all())
    columns = [part for part in parts if part.kind is Kind.COLUMN and part.nodes == (0,)]
    assert parts_of(one, 0, averages) == parts_of(one, 0, averages)
    assert len({part.columns for part in columns}) == len(columns)
