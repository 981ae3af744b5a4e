"""Values of entries come from their own column, and rows keep the norm that all rows share."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from dignn.features.sparse_values import EntryValues
from dignn.runtime.seeds import Seed
from strategies import PROPERTY

UNLIKELY = 1e-3
ROWS = torch.tensor([[2.0, 0.0, -1.5, 0.0], [3.0, 0.5, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0]])


@PROPERTY
@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_entries_have_values_of_their_column_and_others_are_zero(count: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = torch.from_numpy(rng.normal(size=(count, width)) * (rng.random((count, width)) < 0.5)).float()
    known = [set(rows[:, column].tolist()) - {0.0} for column in range(width)]
    present = torch.from_numpy(rng.random((20, width)) < 0.5) & torch.tensor([bool(values) for values in known])
    values = EntryValues.of(rows)
    made = values.draw(present, Seed(seed).torch())
    assert torch.equal(made != 0, present)
    if not values.norm:
        for column in range(width):
            assert set(made[:, column].tolist()) - {0.0} <= known[column]


def test_values_come_as_often_as_in_the_column() -> None:
    made = EntryValues.of(ROWS).draw(torch.tensor([[True, True, True, False]]).expand(6000, 4), Seed(0).torch())
    first, third = ([int((made[:, c] == value).sum()) for value in some] for c, some in ((0, (2, 3)), (2, (-1.5, 4))))
    assert chisquare(first, [2000, 4000]).pvalue > UNLIKELY
    assert chisquare(third).pvalue > UNLIKELY
    assert bool((made[:, 1] == 0.5).all())
    assert not bool(made[:, 3].any())


def test_columns_are_independent_of_each_other() -> None:
    made = EntryValues.of(ROWS).draw(torch.tensor([[True, False, True, False]]).expand(6000, 4), Seed(1).torch())
    both = int(((made[:, 0] == 2) & (made[:, 2] == 4)).sum())
    assert chisquare([both, 6000 - both], [1000, 5000]).pvalue > UNLIKELY


@pytest.mark.parametrize("norm", [1, 2])
def test_a_norm_that_all_rows_share_is_kept(norm: int) -> None:
    generator = Seed(0).torch()
    rows = torch.rand(50, 8, generator=generator) * (torch.rand(50, 8, generator=generator) < 0.4)
    rows = 2.5 * rows / rows.norm(p=norm, dim=1, keepdim=True).clamp_min(1e-9)  # rows of zeros stay
    values = EntryValues.of(rows)
    assert values.norm == norm
    present = torch.rand(200, 8, generator=generator) < 0.4
    present[0] = False
    made = values.draw(present, generator)
    length = made.norm(p=norm, dim=1)
    assert torch.allclose(length[present.any(1)], torch.tensor(2.5), rtol=1e-5)
    assert not bool(made[0].any())
    assert torch.equal(made != 0, present)


def test_rows_of_different_norms_are_not_scaled() -> None:
    assert EntryValues.of(ROWS).norm == 0


def test_whole_numbers_are_never_scaled() -> None:
    """Rows that happen to have as many ones each, or the same sum, are counts all the same."""
    assert EntryValues.of(torch.eye(3)).norm == 0
    assert EntryValues.of(torch.tensor([[2.0, 1.0], [1.0, 2.0], [3.0, 0.0]])).norm == 0


def test_a_table_of_zeros() -> None:
    values = EntryValues.of(torch.zeros(3, 2))
    assert not bool(values.draw(torch.zeros(5, 2, dtype=torch.bool), Seed(0).torch()).any())
