"""Existing values of discrete columns."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.features.levels import Levels

ROWS = torch.tensor([[0.0, 2.0, 7.0], [1.0, 2.0, 0.0], [0.0, 2.0, 3.0]])
tables = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=8)


def test_values_are_those_that_the_columns_have() -> None:
    levels = Levels.of(ROWS)
    assert levels.values.tolist() == [[0, 1, torch.inf], [2, torch.inf, torch.inf], [0, 3, 7]]
    assert levels.values.isfinite().sum(1).tolist() == [2, 1, 3]


@given(tables)
def test_codes_come_back_as_values(table: list[list[int]]) -> None:
    rows = torch.tensor(table).float()
    levels = Levels.of(rows)
    code = levels.encode(rows)
    assert torch.equal(levels.decode(code), rows)
    for column in range(3):
        distinct = sorted(set(rows[:, column].tolist()))
        assert [distinct[place] for place in code[:, column]] == rows[:, column].tolist()
        assert levels.values[column].isfinite().sum() == len(distinct)


@given(tables, st.lists(st.floats(-3, 9), min_size=3, max_size=3))
def test_the_nearest_value_is_the_nearest(table: list[list[int]], asked: list[float]) -> None:
    rows = torch.tensor(table).float()
    found = Levels.of(rows).nearest(torch.tensor([asked]))[0]
    for column in range(3):
        distance = (rows[:, column] - torch.tensor(asked[column])).abs()
        assert float(found[column]) in rows[:, column].tolist()
        assert float((found[column] - torch.tensor(asked[column])).abs()) <= float(distance.min()) + 1e-5


def test_values_beyond_the_range_go_to_its_ends() -> None:
    wild = torch.tensor([[-1e30, 5.0, 1e30], [1e30, -5.0, 1.4]])
    assert Levels.of(ROWS).nearest(wild).tolist() == [[0, 2, 7], [1, 2, 0]]
