"""Columns are drawn in proportion to what is left, and none twice."""

from __future__ import annotations

import pytest
import torch

from dignn.core.errors import NotNumbersError
from dignn.core.seeds import Seed
from dignn.features.ditabddpm.column_draws import ColumnDraws

ROWS, COLUMNS = 20_000, 150  # blocks of 64, and a part of one


def test_draws_follow_the_softmax_and_then_what_is_left_of_it() -> None:
    generator = Seed(0).torch()
    logits = torch.randn(COLUMNS, generator=generator)
    logits[[3, 70, 149]] = torch.tensor([3.0, -torch.inf, 4.0])
    draws = ColumnDraws(logits.repeat(ROWS, 1))
    chance = logits.softmax(0)
    first, there = draws.draw(torch.rand(ROWS, generator=generator))
    assert bool(there.all())
    assert torch.allclose(torch.bincount(first, minlength=COLUMNS) / ROWS, chance, atol=0.015)
    second, _ = draws.draw(torch.rand(ROWS, generator=generator))
    assert not bool((first == second).any())
    left = (chance[:, None] * chance / (1 - chance[:, None])).fill_diagonal_(0.0).sum(0)
    assert torch.allclose(torch.bincount(second, minlength=COLUMNS) / ROWS, left, atol=0.015)


def test_the_ends_of_the_unit_interval_find_columns_that_have_a_chance() -> None:
    logits = torch.full((2, 100), -torch.inf)
    logits[:, [10, 90]] = 0.0
    draws = ColumnDraws(logits)
    assert draws.draw(torch.tensor([0.0, 1.0]))[0].tolist() == [10, 90]
    assert draws.draw(torch.tensor([1.0, 0.0]))[0].tolist() == [90, 10]
    assert draws.draw(torch.tensor([0.5]))[1].tolist() == [False]  # of the first row nothing is left


def test_logits_that_are_not_numbers_are_refused() -> None:
    with pytest.raises(NotNumbersError):
        ColumnDraws(torch.full((2, 3), torch.nan))
