"""Frequencies of columns by class: against plain loops, and against rows that were not counted."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.features.ditabddpm.class_frequencies import LogFrequencies
from dignn.features.table import Table
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from plain_frequencies import plain_frequencies


def table(rows: Tensor, condition: Tensor, weight: Tensor | None = None) -> Table:
    return Table.of(rows, condition, FeatureSpec(FeatureKind.BINARY, rows.size(1)), weight)


def counted(some: Table) -> LogFrequencies:
    return LogFrequencies.of(some, torch.zeros(some.rows.size(1), dtype=torch.bool))


def topics(count: int, classes: int, columns: int, seed: int) -> tuple[Tensor, Tensor]:
    """Rows of about twelve entries, most of them of their class's own columns, few of which are frequent."""
    generator = np.random.default_rng(seed)
    label = np.arange(count) % classes
    own = np.random.default_rng(99).dirichlet(np.full(columns, 0.03), size=classes)
    common = np.random.default_rng(98).dirichlet(np.full(columns, 0.3))
    chance = 0.7 * own[label] + 0.3 * common
    rows = np.stack([generator.multinomial(12, p / p.sum()) > 0 for p in chance])
    return torch.from_numpy(rows).float(), torch.from_numpy(label)


@pytest.mark.parametrize("seed", range(3))
def test_they_are_those_of_plain_loops(seed: int) -> None:
    rows, label = topics(60, 3, 40, seed)
    weight = 0.5 + torch.rand(60, generator=Seed(seed).torch())
    found = counted(table(rows, torch.eye(3)[label], weight))
    expected = plain_frequencies(rows.numpy(), label.numpy(), weight.double().numpy())
    for logs, plain in zip(found, expected, strict=True):
        np.testing.assert_allclose(logs.double().exp(), np.maximum(plain, 1e-7), rtol=1e-4)


def test_rare_columns_of_small_classes_are_foreseen() -> None:
    """Better than by counts that are mixed with those of all rows, whichever number of them is taken."""
    rows, label = topics(400, 10, 1000, 0)
    others, their = topics(400, 10, 1000, 1)
    found = counted(table(rows, torch.eye(10)[label])).all_rows.double()
    seen = rows.any(0)

    def said(log: Tensor) -> float:
        row, column = (others * seen).nonzero(as_tuple=True)
        return float(log[their[row], column].mean())

    count = torch.stack([rows[label == own].sum(0) for own in range(10)]).double()
    everywhere = count.sum(0) / count.sum()
    plain = [(count + more * everywhere) / (count.sum(1, keepdim=True) + more) for more in (10, 30, 100, 300, 1000)]
    assert said(found) > max(said(each.clamp_min(1e-7).log()) for each in plain) + 0.03


def test_frequencies_of_narrow_tables_are_kept() -> None:
    """Where nothing is rare there is little to give back: classes come out near what their rows were drawn from."""
    true = torch.tensor([[0.9, 0.7, 0.5, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.5, 0.7, 0.9]])
    label, apart = torch.arange(200) % 2, []
    for seed in range(20):
        rows = (torch.rand(200, 6, generator=Seed(seed).torch()) < true[label]).float()
        found = counted(table(rows, torch.eye(2)[label])).all_rows[:-1].double()
        share = true.double() / true.double().sum(1, keepdim=True)
        apart.append(float((share * (share.log() - found)).sum(1).mean()))
    assert max(apart) < 0.05


def test_rows_may_be_of_classes_in_parts() -> None:
    """Classes that share their rows are more alike than classes of the same rows that do not."""
    rows, label = topics(60, 3, 40, 0)
    halves = (torch.eye(3)[label] + torch.eye(3)[(label + 1) % 3]) / 2
    found = counted(table(rows, halves)).all_rows
    assert bool(found.isfinite().all())
    torch.testing.assert_close(found.exp().sum(1), torch.ones(4), rtol=1e-3, atol=0)
    own = counted(table(rows, torch.eye(3)[label])).all_rows
    assert float((found[0] - found[1]).abs().mean()) < float((own[0] - own[1]).abs().mean())


def test_a_class_without_entries_has_those_of_all_rows() -> None:
    rows, label = topics(60, 2, 40, 0)
    rows[label == 1] = 0.0
    found = counted(table(rows, torch.eye(3)[label])).all_rows
    torch.testing.assert_close(found[1], found[-1])
    torch.testing.assert_close(found[2], found[-1])  # nor has one without rows


def test_what_every_row_has_is_no_entry() -> None:
    rows, label = topics(60, 3, 40, 0)
    more = torch.cat([rows, torch.ones(60, 1)], dim=1)
    always = torch.arange(41) == 40
    found = LogFrequencies.of(table(more, torch.eye(3)[label]), always)
    torch.testing.assert_close(found.all_rows[:, :40], counted(table(rows, torch.eye(3)[label])).all_rows)
