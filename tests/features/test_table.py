"""Tables to learn from: which rows and classes are drawn, how evenly, and what is refused."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.diffusion.categorical import draw
from dignn.features.table import Table, draw_label, even_points
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from strategies import PROPERTY

UNLIKELY = 1e-3
ONE = FeatureSpec(FeatureKind.CONTINUOUS, 1)
# Four rows of two classes; the last has none, and what the third lacks to 1 it has of none.
CONDITION = torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.0, 0.7], [0.0, 0.0]])
WEIGHT = torch.tensor([1.0, 2.0, 4.0, 1.0])


def small(condition: Tensor = CONDITION, weight: Tensor | None = WEIGHT) -> Table:
    return Table.of(torch.arange(float(len(condition)))[:, None], condition, ONE, weight)


def assert_frequencies(found: Tensor, expected: list[float]) -> None:
    """Numbers come with these probabilities; one of probability 0 never comes."""
    counts = torch.bincount(found.flatten(), minlength=len(expected)).numpy()
    probability = np.array(expected) / sum(expected)
    assert not counts[probability == 0].any()
    possible = probability > 0
    if possible.sum() > 1:
        assert chisquare(counts[possible], probability[possible] * counts.sum()).pvalue > UNLIKELY


def test_classes_that_no_row_carries_share_one_line() -> None:
    """What is kept grows with the classes that rows carry, not with all."""
    condition = torch.zeros(4, 5000)
    condition[:, [7, 4000]] = CONDITION
    table, plain = small(condition), small()
    assert table.different_weight.shape == (3, 4)
    assert torch.equal(table.label_weight[[7, 4000, 5000]], plain.label_weight)
    assert torch.equal(table.label_weight[8], WEIGHT.double())
    assert torch.equal(table.different_weight, plain.different_weight)
    drawn, expected = (each.draw_batch(300, Seed(0).torch(), 0.1) for each in (table, plain))
    assert torch.equal(drawn[0], expected[0])
    assert torch.equal(drawn[1], torch.tensor([7, 4000, 5000])[expected[1]])


@PROPERTY
@given(st.integers(0, 2**20), st.integers(1, 8), st.integers(1, 6))
def test_a_batch_has_the_labels_that_its_conditions_give(seed: int, rows: int, classes: int) -> None:
    condition = torch.rand(rows, classes, generator=Seed(seed).torch()) / classes
    condition[condition < 0.3 / classes] = 0.0
    row, label = small(condition, None).draw_batch(50, Seed(1).torch(), 0.0)
    again = Seed(1).torch()
    torch.rand(50, generator=again, dtype=torch.float64)
    assert torch.equal(label, draw_label(condition[row], again))


# -- drawing rows -------------------------------------------------------------------------------------


def test_all_rows_are_looked_at_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.features.table.CELLS", 4)
    rows = torch.zeros(7, 2)
    rows[6, 1] = torch.nan
    with pytest.raises(DignnError, match="holds NaN or infinite values"):
        Table.of(rows, torch.zeros(7, 3), FeatureSpec(FeatureKind.CONTINUOUS, 2))


@pytest.mark.parametrize(
    ("label", "expected"), [(0, [1, 1, 0, 0]), (1, [0, 1, 2.8, 0]), (2, [1, 2, 4, 1])], ids=["first", "second", "none"]
)
def test_rows_are_drawn_by_their_part_in_the_class_times_their_weight(label: int, expected: list[float]) -> None:
    drawn = small().draw(torch.full((3000,), label), Seed(label).torch(), columns=2)
    assert drawn.shape == (3000, 2)
    assert_frequencies(drawn, expected)
    assert chisquare(np.bincount((drawn[:, 0] == drawn[:, 1]).long()), _alike(expected) * 3000).pvalue > UNLIKELY


def _alike(weights: list[float]) -> np.ndarray:
    """Probabilities that two independent draws differ, and that they agree."""
    share = np.array(weights) / sum(weights)
    return np.array([1 - (share**2).sum(), (share**2).sum()])


def test_each_label_is_drawn_from_its_own_rows() -> None:
    table = small(torch.eye(2)[[0, 1, 1, 0, 1]], None)
    label = torch.tensor([0, 1, 0, 1] * 50)
    assert torch.equal(torch.tensor([0, 1, 1, 0, 1])[table.draw(label, Seed(0).torch())[:, 0]], label)


def test_a_class_that_no_row_carries_counts_all_rows() -> None:
    table = small(torch.tensor([[1.0, 0.0]] * 4))
    assert table.label_weight.tolist() == [WEIGHT.tolist()] * 3
    assert_frequencies(table.draw(torch.ones(4000, dtype=torch.long), Seed(1).torch()), WEIGHT.tolist())


def test_batches_cover_the_table_evenly() -> None:
    """800 rows, weights 1, 2, 4 and 1 of 8: a stratified draw gives each its share, but for one on either side."""
    row, _ = small().draw_batch(800, Seed(0).torch(), nameless=0.0)
    count = torch.bincount(row, minlength=4)
    assert bool(((count - 100 * WEIGHT).abs() <= 1).all())


@pytest.mark.parametrize("nameless", [0.0, 0.25])
def test_batches_have_classes_in_proportion(nameless: float) -> None:
    row, label = small().draw_batch(20_000, Seed(3).torch(), nameless=nameless)
    for number, parts in enumerate(([1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.7, 0.3], [0.0, 0.0, 1.0])):
        known = (1 - nameless) * torch.tensor(parts) + nameless * torch.tensor([0.0, 0.0, 1.0])
        assert_frequencies(label[row == number], known.tolist())


# -- drawing classes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ([1.0, 0.0, 0.0], [1, 0, 0, 0]),
        ([0.0, 0.0, 0.0], [0, 0, 0, 1]),
        ([0.2, 0.0, 0.8], [0.2, 0, 0.8, 0]),
        ([0.2, 0.3, 0.0], [0.2, 0.3, 0, 0.5]),
    ],
    ids=["hard", "none", "soft", "soft and none"],
)
def test_a_class_is_drawn_from_the_condition_and_none_from_what_it_lacks(
    condition: list[float], expected: list[float]
) -> None:
    label = draw_label(torch.tensor([condition] * 6000), Seed(2).torch())
    assert_frequencies(label, expected)


def test_rounding_is_no_missing_part() -> None:
    label = draw_label(torch.tensor([[0.5, 0.5 - 8e-5]]).expand(200_000, 2), Seed(0).torch())
    assert set(label.tolist()) == {0, 1}


def test_without_classes_all_are_of_none() -> None:
    assert draw_label(torch.zeros(5, 0), Seed(0).torch()).tolist() == [0] * 5
    assert draw_label(torch.zeros(0, 3), Seed(0).torch()).tolist() == []


# -- even points --------------------------------------------------------------------------------------


@PROPERTY
@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(0, 2**32))
def test_even_points_have_one_in_each_part_for_each_label(labels: list[int], seed: int) -> None:
    label = torch.tensor(labels)
    point = even_points(label, Seed(seed).torch())
    for number, count in Counter(labels).items():
        part = (point[label == number] * count).long().sort().values
        assert part.tolist() == list(range(count))
    assert bool(((point >= 0) & (point < 1)).all())


def test_each_even_point_by_itself_is_uniform() -> None:
    label = torch.tensor([0, 1, 0, 0, 1, 2])
    points = torch.stack([even_points(label, Seed(seed).torch()) for seed in range(1500)])
    for place in range(len(label)):
        assert kstest(points[:, place].numpy(), "uniform").pvalue > UNLIKELY


def test_even_points_are_in_random_order() -> None:
    """The first of two points is the smaller one half of the time, and does not depend on its neighbour in between."""
    points = torch.stack([even_points(torch.zeros(2, dtype=torch.long), Seed(seed).torch()) for seed in range(1000)])
    first = int((points[:, 0] < points[:, 1]).sum())
    assert chisquare([first, 1000 - first]).pvalue > UNLIKELY


@pytest.mark.parametrize("values", [3, 40])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_draws_with_even_points_have_each_value_as_often_as_expected(values: int, dtype: torch.dtype) -> None:
    """But for one at either end of its part of the label; the same value for the same point."""
    probability = torch.rand(values, generator=Seed(values).torch(), dtype=dtype)
    probability[1] = 0.0
    label = torch.zeros(1000, dtype=torch.long)
    point = even_points(label, Seed(0).torch())
    drawn = draw(probability.expand(1000, values), Seed(1).torch(), uniform=point)
    expected = 1000 * probability / probability.sum()
    assert bool(((torch.bincount(drawn, minlength=values) - expected).abs() <= 2).all())
    assert drawn[point.argsort()].tolist() == sorted(drawn.tolist())
    assert 1 not in drawn


# -- parts and files ----------------------------------------------------------------------------------


@PROPERTY
@given(st.integers(1, 40), st.integers(0, 2**32))
def test_a_divided_table_is_whole(count: int, seed: int) -> None:
    table = small(torch.zeros(count, 2), None)
    learn, held = table.divide(10, Seed(seed).torch())
    if held is None:
        assert count < 10
        assert learn is table
        return
    assert len(held) == count // 10
    assert sorted(learn.rows[:, 0].tolist() + held.rows[:, 0].tolist()) == list(range(count))


@PROPERTY
@given(st.integers(0, 8), st.integers(0, 2**32))
def test_tables_survive_a_file_sparse_or_not(entries: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = torch.zeros(4, 5)
    rows.view(-1)[torch.from_numpy(rng.choice(20, entries, replace=False))] = 2.5
    spec = FeatureSpec(FeatureKind.CONTINUOUS, 5)
    table = Table.of(rows, CONDITION, spec, WEIGHT)
    kept = table.state()
    assert ("rows" in kept) == (entries > 4)  # more than a fifth
    again = Table.restored(kept, spec)
    for name in ("rows", "condition", "weight"):
        assert torch.equal(getattr(again, name), getattr(table, name))


# -- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "condition", "weight", "message"),
    [
        (torch.zeros(0, 2), torch.zeros(0, 3), None, "no feature rows to learn from"),
        (torch.zeros(4, 3), torch.zeros(4, 3), None, r"shape \(4, 3\) do not have the 2 columns"),
        (torch.zeros(4), torch.zeros(4, 3), None, r"shape \(4,\) do not have the 2 columns"),
        (torch.zeros(4, 2), torch.zeros(3, 3), None, "4 feature rows need as many conditions and weights; 3"),
        (torch.zeros(4, 2), torch.zeros(4, 3), torch.ones(5), "4 feature rows need as many conditions and weights"),
        (torch.tensor([[0.0, torch.nan]]), torch.zeros(1, 3), None, "'second' holds NaN or infinite values"),
        (torch.tensor([[-torch.inf, 0.0]]), torch.zeros(1, 3), None, "'first' holds NaN or infinite values"),
        (torch.tensor([[-1.0, 0.0]]), torch.zeros(1, 3), None, "kind 'count' must be 0, 1, 2"),
        (torch.tensor([[0.5, 0.0]]), torch.zeros(1, 3), None, "say kind 'continuous'"),
        (torch.zeros(2, 2), torch.zeros(2, 3), torch.tensor([1.0, 0.0]), "must be above 0; leave out rows"),
        (torch.zeros(2, 2), torch.zeros(2, 3), torch.tensor([1.0, torch.nan]), "must be above 0; leave out rows"),
    ],
)
def test_tables_that_cannot_be_learned_are_refused(
    rows: Tensor, condition: Tensor, weight: Tensor | None, message: str
) -> None:
    spec = FeatureSpec(FeatureKind.COUNT, 2, levels=(3, 3), names=("first", "second"))
    with pytest.raises(DignnError, match=message):
        Table.of(rows, condition, spec, weight)


def test_whole_numbers_may_be_stored_as_such() -> None:
    table = Table.of(torch.tensor([[1], [2]]), torch.zeros(2, 1), FeatureSpec(FeatureKind.COUNT, 1, levels=(3,)))
    assert table.rows.dtype == torch.float32
