"""Values of entries come from their own column, and rows keep the norm that all rows share."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.features.ditabddpm.sparse_values import EntryValues
from dignn.features.table import Table
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from strategies import PROPERTY

UNLIKELY = 1e-3
ROWS = torch.tensor([[2.0, 0.0, -1.5, 0.0], [3.0, 0.5, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0]])


def values_of(rows: Tensor) -> EntryValues:
    """Values of rows that count once each, in one label."""
    return EntryValues.of(table(rows), torch.ones(1, len(rows), dtype=torch.float64))


def table(rows: Tensor) -> Table:
    return Table.of(rows, torch.zeros(len(rows), 0), FeatureSpec(FeatureKind.CONTINUOUS, rows.size(1)))


def drawn(values: EntryValues, present: Tensor, generator: torch.Generator) -> Tensor:
    return values.draw(present, torch.zeros(len(present), dtype=torch.long), generator)


@PROPERTY
@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_entries_have_values_of_their_column_and_others_are_zero(count: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = torch.from_numpy(rng.normal(size=(count, width)) * (rng.random((count, width)) < 0.5)).float()
    known = [set(rows[:, column].tolist()) - {0.0} for column in range(width)]
    present = torch.from_numpy(rng.random((20, width)) < 0.5) & torch.tensor([bool(values) for values in known])
    values = values_of(rows)
    made = drawn(values, present, Seed(seed).torch())
    assert torch.equal(made != 0, present)
    if not values.norm:
        for column in range(width):
            assert set(made[:, column].tolist()) - {0.0} <= known[column]


def test_values_come_as_often_as_in_the_column() -> None:
    made = drawn(values_of(ROWS), torch.tensor([[True, True, True, False]]).expand(6000, 4), Seed(0).torch())
    first, third = ([int((made[:, c] == value).sum()) for value in some] for c, some in ((0, (2, 3)), (2, (-1.5, 4))))
    assert chisquare(first, [2000, 4000]).pvalue > UNLIKELY
    assert chisquare(third).pvalue > UNLIKELY
    assert bool((made[:, 1] == 0.5).all())
    assert not bool(made[:, 3].any())


def test_columns_are_independent_of_each_other() -> None:
    made = drawn(values_of(ROWS), torch.tensor([[True, False, True, False]]).expand(6000, 4), Seed(1).torch())
    both = int(((made[:, 0] == 2) & (made[:, 2] == 4)).sum())
    assert chisquare([both, 6000 - both], [1000, 5000]).pvalue > UNLIKELY


@pytest.mark.parametrize("norm", [1, 2])
def test_a_norm_that_all_rows_share_is_kept(norm: int) -> None:
    generator = Seed(0).torch()
    rows = torch.rand(50, 8, generator=generator) * (torch.rand(50, 8, generator=generator) < 0.4)
    rows = 2.5 * rows / rows.norm(p=norm, dim=1, keepdim=True).clamp_min(1e-9)  # rows of zeros stay
    values = values_of(rows)
    assert values.norm == norm
    present = torch.rand(200, 8, generator=generator) < 0.4
    present[0] = False
    made = drawn(values, present, generator)
    length = made.norm(p=norm, dim=1)
    assert torch.allclose(length[present.any(1)], torch.tensor(2.5), rtol=1e-5)
    assert not bool(made[0].any())
    assert torch.equal(made != 0, present)


def test_rows_of_different_norms_are_not_scaled() -> None:
    assert values_of(ROWS).norm == 0


def test_whole_numbers_are_never_scaled() -> None:
    """Rows that happen to have as many ones each, or the same sum, are counts all the same."""
    assert values_of(torch.eye(3)).norm == 0
    assert values_of(torch.tensor([[2.0, 1.0], [1.0, 2.0], [3.0, 0.0]])).norm == 0


def test_a_table_of_zeros() -> None:
    values = values_of(torch.zeros(3, 2))
    assert not bool(drawn(values, torch.zeros(5, 2, dtype=torch.bool), Seed(0).torch()).any())


def test_values_follow_the_class_and_the_weight_of_rows() -> None:
    """Three rows of one column: 1 and 3 in class 0, where 1 weighs three times as much, and 5 in class 1."""
    rows = torch.tensor([[1.0], [3.0], [5.0]])
    weight = torch.tensor([[3000.0, 1000.0, 0.0], [0.0, 0.0, 1000.0], [3000.0, 1000.0, 1000.0]], dtype=torch.float64)
    values = EntryValues.of(table(rows), weight)
    label = torch.tensor([0, 1, 2]).repeat_interleave(3000)
    made = values.draw(torch.ones(9000, 1, dtype=torch.bool), label, Seed(0).torch())[:, 0].view(3, 3000)
    counts = [[int((some == value).sum()) for value in (1, 3, 5)] for some in made]
    assert chisquare(counts[0][:2], [2250, 750]).pvalue > UNLIKELY
    assert counts[0][2] + counts[1][0] + counts[1][1] < 20  # half an entry is borrowed from other classes
    assert chisquare(counts[2], [1800, 600, 600]).pvalue > UNLIKELY


@pytest.mark.parametrize("norm", [1, 2])
def test_counts_that_were_normalised_are_counts_normalised(norm: int) -> None:
    """Every generated row is whole numbers divided by their norm, as NormalizeFeatures makes them."""
    generator = Seed(0).torch()
    rows = torch.randint(0, 3, (60, 8), generator=generator).float()
    rows[:, 0] = 1.0  # the least entry of a row
    values = values_of(rows / rows.norm(p=norm, dim=1, keepdim=True))
    present = torch.rand(200, 8, generator=generator) < 0.5
    made = drawn(values, present, generator)[present.any(1)]
    least = made.where(made > 0, torch.inf).amin(1, keepdim=True)
    twice = 2 * made / least  # counts are 1 and 2, so a row is whole in units of half its least entry
    assert torch.allclose(twice, twice.round(), atol=1e-3)
    assert torch.allclose(made.norm(p=norm, dim=1), torch.tensor(1.0), atol=1e-5)
