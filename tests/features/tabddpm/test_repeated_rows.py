"""Rows that many nodes share."""

from __future__ import annotations

import pytest
import torch

from dignn.core.seeds import Seed
from dignn.features.given import Given
from dignn.features.tabddpm.repeated_rows import RepeatedRows
from dignn.features.table import Table
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

SPEC = FeatureSpec(FeatureKind.CONTINUOUS, 2)


def table(weight: torch.Tensor | None = None) -> Table:
    """300 rows: [1, 2] in 60 of class 0, all zero in 30 of class 1; the others differ. 150 rows in each class."""
    rows = torch.randn(300, 2, generator=Seed(0).torch())
    rows[:60] = torch.tensor([1.0, 2.0])
    rows[150:180] = 0.0
    rows[151] = -0.0  # is 0 all the same
    condition = torch.eye(2)[torch.arange(300) // 150]
    return Table.of(rows, condition, SPEC, weight)


def test_repeated_rows_have_their_share_of_each_class() -> None:
    found, rest = RepeatedRows.find(table(), 20, Seed(0))
    assert found.rows.tolist() == [[1, 2], [0, 0]]
    torch.testing.assert_close(found.share, torch.tensor([[0.4, 0.0], [0.0, 0.2], [0.2, 0.1]]).double())
    assert rest.tolist() == [*range(60, 150), *range(180, 300)]


def test_weights_count() -> None:
    weight = torch.ones(300)
    weight[:60] = 3.0
    found, _ = RepeatedRows.find(table(weight), 20, Seed(0))
    assert float(found.share[0, 0]) == pytest.approx(180 / 270)
    assert float(found.share[2, 0]) == pytest.approx(180 / 420)


def test_few_copies_and_heavy_single_rows_are_no_repeated_rows() -> None:
    rows = torch.randn(300, 2, generator=Seed(1).torch())
    rows[1] = rows[0]  # 2 of 300: less than 1 % of all, but more than 1 % of class 0
    weight = torch.ones(300)
    weight[7] = 50.0
    found, rest = RepeatedRows.find(Table.of(rows, torch.zeros(300, 0), SPEC, weight), 20, Seed(0))
    assert (len(found.rows), len(rest)) == (0, 300)
    condition = torch.eye(2)[(torch.arange(300) >= 100).long()]
    found, rest = RepeatedRows.find(Table.of(rows, condition, SPEC), 20, Seed(0))
    assert (len(found.rows), len(rest)) == (1, 298)


def test_draws_have_the_shares() -> None:
    found, _ = RepeatedRows.find(table(), 20, Seed(0))
    label = torch.arange(3).repeat_interleave(20_000)
    drawn = found.draw(label, Seed(2).torch())
    for number in range(3):
        share = torch.bincount(drawn[label == number], minlength=3) / 20_000
        expected = [*found.share[number].tolist(), 1 - float(found.share[number].sum())]
        assert share.tolist() == pytest.approx(expected, abs=0.015)


def test_where_few_others_are_left_all_rows_are_taken() -> None:
    rows = torch.zeros(100, 2)
    rows[90:] = torch.randn(10, 2, generator=Seed(3).torch())
    some = Table.of(rows, torch.zeros(100, 0), SPEC)
    found, rest = RepeatedRows.find(some, 20, Seed(0))
    assert len(rest) == 0
    assert len(found.rows) == 11
    assert float(found.share.sum()) == pytest.approx(1)
    drawn = found.draw(torch.zeros(50_000, dtype=torch.long), Seed(4).torch())
    assert int(drawn.max()) == 10  # never "another row"
    assert float((drawn == 0).float().mean()) == pytest.approx(0.9, abs=0.01)


def test_none() -> None:
    found = RepeatedRows.none(table())
    assert found.draw(torch.zeros(7, dtype=torch.long), Seed(0).torch()).tolist() == [0] * 7


def test_a_context_says_which_rows_are_repeated() -> None:
    """Half of the rows whose number is positive are [1, 2], none of the others."""
    number = torch.randn(600, 1, generator=Seed(0).torch())
    rows = torch.randn(600, 2, generator=Seed(1).torch())
    rows[(number[:, 0] > 0) & (torch.arange(600) % 2 == 0)] = torch.tensor([1.0, 2.0])
    found, _ = RepeatedRows.find(Table.of(rows, torch.zeros(600, 0), SPEC, context=number), 20, Seed(0))
    label = torch.zeros(4000, dtype=torch.long)
    for asked, least, most in ((1.0, 0.35, 0.8), (-1.0, 0.0, 0.15)):
        drawn = found.draw(label, Seed(2).torch(), Given(torch.full((4000, 1), asked)))
        assert least <= float((drawn == 0).float().mean()) <= most
    drawn = found.draw(label, Seed(2).torch(), Given(torch.zeros(4000, 1)))
    assert 0.1 < float((drawn == 0).float().mean()) < 0.4


def test_files_of_earlier_versions_go_by_labels_alone() -> None:
    found, _ = RepeatedRows.find(table(), 20, Seed(0))
    old = RepeatedRows.restored({"rows": found.rows, "share": found.share})
    label = torch.arange(3).repeat_interleave(50)
    assert torch.equal(old.draw(label, Seed(1).torch()), found.draw(label, Seed(1).torch()))
