"""What columns hold, and which of them are one category: read off any matrix, never by accident."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from dignn.graphs.column_contents import TELLING_ROWS, Contents, one_hot_groups
from strategies import PROPERTY


def groups_of(x: Tensor) -> list[list[int]]:
    return one_hot_groups(x, Contents.of(x))


def one_hot(count: int, width: int, seed: int = 0) -> Tensor:
    code = torch.randint(width, (count,), generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.one_hot(code, width).float()


def words(count: int, width: int, seed: int = 0, share: float = 0.3) -> Tensor:
    return (torch.rand(count, width, generator=torch.Generator().manual_seed(seed)) < share).float()


@PROPERTY
@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.5, -1.0, float("nan")]), min_size=3, max_size=3), min_size=1))
def test_contents_of_columns_are_those_of_their_values(rows: list[list[float]]) -> None:
    x = torch.tensor(rows)
    for matrix in (x, x.to_sparse().coalesce()):
        held = Contents.of(matrix)
        for number, column in enumerate(zip(*rows, strict=True)):
            there = [value for value in column if value == value]
            assert int(held.missing[number]) == len(rows) - len(there)
            assert int(held.filled[number]) == sum(value != 0 for value in there)
            assert int(held.fractions[number]) == sum(value not in (0, 1) for value in there)
            assert bool(held.same[number]) == (len(there) == len(rows) and len(set(there)) == 1)
            if there:
                assert (float(held.least[number]), float(held.greatest[number])) == (min(there), max(there))


@pytest.mark.parametrize("sparse", [False, True])
def test_groups_are_found_between_other_columns(sparse: bool) -> None:
    x = torch.cat([words(60, 2), one_hot(60, 4), torch.zeros(60, 1), words(60, 3, 1), one_hot(60, 3, 1)], dim=1)
    assert groups_of(x.to_sparse().coalesce() if sparse else x) == [[2, 3, 4, 5], [10, 11, 12]]


def test_neighbouring_groups_are_told_apart_and_constants_are_none_of_them() -> None:
    one, other = one_hot(60, 3), one_hot(60, 5, 1)
    x = torch.cat([one[:, :1], torch.zeros(60, 1), one[:, 1:], other], dim=1)
    assert groups_of(x) == [[0, 2, 3], [4, 5, 6, 7, 8]]


@pytest.mark.parametrize(
    "x",
    [
        one_hot(60, 4),  # nothing stands beside it
        torch.cat([one_hot(60, 4), torch.ones(60, 1)], dim=1),
        torch.cat([one_hot(TELLING_ROWS - 1, 4), words(TELLING_ROWS - 1, 2)], dim=1),  # too few rows
        torch.cat([one_hot(60, 2), words(60, 2)], dim=1),  # a thing and its opposite
        torch.cat([one_hot(60, 4).index_fill(0, torch.tensor([7]), 0.0), words(60, 2)], dim=1),  # one row has none
        torch.cat([2 * one_hot(60, 4), words(60, 2)], dim=1),
    ],
)
def test_what_is_no_group(x: Tensor) -> None:
    assert groups_of(x) == []


def test_a_rare_word_and_its_likes_are_no_group() -> None:
    rare = torch.zeros(60, 3)
    rare[:, 0], rare[1, 0], rare[1, 1], rare[2, 0], rare[2, 2] = 1.0, 0.0, 1.0, 0.0, 1.0
    assert groups_of(torch.cat([rare, words(60, 2)], dim=1)) == []


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2, 0.5])
def test_words_are_never_groups(share: float) -> None:
    for seed in range(20):
        assert groups_of(words(40, 300, seed, share)) == []
