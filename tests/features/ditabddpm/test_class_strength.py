"""Rows lean towards their class as far as rows that nothing was learned from say that real ones do."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.features.ditabddpm.class_strength import EMPHASES, class_strength
from dignn.features.ditabddpm.generator import DiTabDDPM
from dignn.features.given import Given
from dignn.features.settings import DiTabDDPMConfig
from dignn.features.table import Table
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

pytestmark = pytest.mark.usefixtures("as_many_rows_as_elsewhere")
COLUMNS = 8
SPEC = FeatureSpec(FeatureKind.BINARY, COLUMNS)
# The first half of the columns speaks for class 0, the other half for class 1.
TOLD = torch.tensor([[1.0] * 4 + [-1.0] * 4, [-1.0] * 4 + [1.0] * 4, [0.0] * COLUMNS])


def rows_of(label: Tensor, own: float, generator: torch.Generator) -> Tensor:
    """One entry for each row, with this probability in the half of its class."""
    right = torch.rand(len(label), generator=generator) < own
    half = torch.where(right, label, 1 - label)
    column = half * 4 + torch.randint(4, (len(label),), generator=generator)
    return torch.eye(COLUMNS)[column]


class Leaning:
    """Rows that follow their class the more the larger the emphasis: with probability .6 + .5 of it."""

    def __init__(self) -> None:
        self.generator, self.tried = Seed(0).torch(), 0

    def __call__(self, emphasis: float, label: Tensor, given: Given) -> Tensor:
        self.tried += 1
        return rows_of(label, 0.6 + 0.5 * emphasis, self.generator) != 0


def real(own: float) -> Table:
    label = torch.arange(20_000) % 2
    return Table.of(rows_of(label, own, Seed(1).torch()), torch.eye(2)[label], SPEC)


@pytest.mark.parametrize("wanted", [0.1, 0.3, 0.5])
def test_rows_come_to_follow_their_classes_as_real_ones_do(wanted: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.features.ditabddpm.class_strength.MADE_ROWS", 20_000)  # of one entry each
    found = class_strength(0.05, real(0.6 + 0.5 * wanted), Leaning(), TOLD, Seed(0).torch())
    assert found == pytest.approx(wanted, abs=0.05)


def test_where_rows_follow_enough_nothing_more_is_tried() -> None:
    present = Leaning()
    assert class_strength(0.2, real(0.5), present, TOLD, Seed(0).torch()) == 0.2
    assert present.tried == 1


def test_there_is_a_limit() -> None:
    assert class_strength(0.05, real(1.0), Leaning(), TOLD, Seed(0).torch()) == max(EMPHASES)


def topics(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows of eight of 400 columns, six of them from the forty of the class; and classes."""
    label = torch.arange(count) % 10
    own = label[:, None] * 40 + torch.rand(count, 40, generator=generator).topk(6).indices
    any_column = torch.rand(count, 400, generator=generator).topk(2).indices
    rows = torch.zeros(count, 400)
    return rows.scatter_(1, torch.cat([own, any_column], dim=1), 1.0), label


WIDE = FeatureSpec(FeatureKind.BINARY, 400)
CONFIG = DiTabDDPMConfig(width=16, blocks=1)


def test_classes_with_few_rows_are_followed() -> None:
    """The share of entries from the class's own columns is that of real rows, and raising it is what it is for."""
    rows, label = topics(300, Seed(3).torch())
    condition = torch.eye(10)[label]
    followed = DiTabDDPM(CONFIG).fit(rows, condition, WIDE, seed=Seed(0))

    def own_share(some: Tensor) -> float:
        row, column = some.nonzero(as_tuple=True)
        return float((column // 40 == label[row]).double().mean())

    assert followed.report["emphasis"] >= CONFIG.emphasis
    made = followed.sample(condition, seed=Seed(1))
    assert own_share(made) == pytest.approx(own_share(rows), abs=0.05)
    followed._process.emphasis = 1.0  # type: ignore[union-attr]
    more = followed.sample(condition, seed=Seed(1))
    assert own_share(more) > own_share(made) + 0.02
    again = DiTabDDPM(CONFIG).restore(*followed.state(), WIDE)  # it is kept in files
    assert torch.equal(again.sample(condition, seed=Seed(1)), more)


def test_none_is_none() -> None:
    rows, label = topics(300, Seed(3).torch())
    config = replace(CONFIG, emphasis=0.0, training=TrainingConfig(steps=5))
    plain = DiTabDDPM(config).fit(rows, torch.eye(10)[label], WIDE, seed=Seed(0))
    assert "emphasis" not in plain.report
