"""Rows hold together as real ones do: what the network says is multiplied until they do."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.features.ditabddpm.column_binding import BINDINGS, column_binding
from dignn.features.given import Given
from dignn.features.table import Table
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

pytestmark = pytest.mark.usefixtures("as_many_rows_as_elsewhere")
COLUMNS, TOPICS = 80, 8
SPEC = FeatureSpec(FeatureKind.BINARY, COLUMNS)


def rows_of(number: int, own: float, generator: torch.Generator) -> Tensor:
    """Eight of 80 columns, each with this probability from the ten of the row's topic.  (number, 80)"""
    topic = torch.randint(TOPICS, (number, 1), generator=generator)
    elsewhere = torch.randint(TOPICS, (number, 8), generator=generator)
    block = torch.where(torch.rand(number, 8, generator=generator) < own, topic, elsewhere)
    column = block * 10 + torch.rand(number, 10, generator=generator).argsort(1)[:, :8]
    return torch.zeros(number, COLUMNS).scatter_(1, column, 1.0)


def binding(own: float) -> float:
    """What is found where rows keep to their topic with probability .4, and ``binding`` more of it."""
    generator = Seed(1).torch()

    def present(more: float, label: Tensor, given: Given) -> Tensor:
        return rows_of(len(label), 0.4 + more, generator) != 0

    table = Table.of(rows_of(4000, own, Seed(2).torch()), torch.zeros(4000, 0), SPEC)
    return column_binding(table, present, Seed(0).torch())


def test_rows_come_to_hold_together_as_real_ones_do() -> None:
    assert binding(0.65) == pytest.approx(0.25, abs=0.06)


def test_rows_that_hold_together_enough_are_left_alone_and_there_is_a_limit() -> None:
    assert binding(0.3) == 0.0
    assert binding(0.99) == max(BINDINGS)


def test_few_rows_tell_nothing() -> None:
    table = Table.of(rows_of(50, 0.9, Seed(2).torch()), torch.zeros(50, 0), SPEC)

    def never(more: float, label: Tensor, given: Given) -> Tensor:
        raise AssertionError

    assert column_binding(table, never, Seed(0).torch()) == 0.0
