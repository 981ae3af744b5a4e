"""Columns with thousands of values: ids come from real rows of the class, other columns are learned."""

from __future__ import annotations

import pytest
import torch

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.features.base import FeatureGenerator
from dignn.features.control_rows import BootstrapRows
from dignn.features.ditabddpm.generator import DiTabDDPM
from dignn.features.many_levels import MANY_LEVELS, ManyLevels
from dignn.features.settings import DiTabDDPMConfig, TabDDPMConfig
from dignn.features.tabddpm.generator import TabDDPM
from dignn.features.table import Table
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec

ROWS, IDS = 3000, 50_000
QUICK = TrainingConfig(steps=3)
GENERATORS = {
    "ditabddpm": lambda: DiTabDDPM(DiTabDDPMConfig(training=QUICK, marginal_training=QUICK, width=16, sampler_steps=3)),
    "tabddpm": lambda: TabDDPM(TabDDPMConfig(training=QUICK, width=16, sampler_steps=3)),
}


def table(alone: bool = False, kind: FeatureKind = FeatureKind.CATEGORICAL) -> Table:
    """Even ids are of class 0 and odd ones of class 1; beside them a column with three values."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randperm(IDS, generator=generator)[:ROWS].float()
    small = torch.randint(3, (ROWS,), generator=generator).float()
    rows = ids[:, None] if alone else torch.stack([small, ids, ids], 1)
    levels = (IDS,) if alone else (3, IDS, IDS)
    condition = torch.eye(2)[(ids % 2).long()]
    return Table.of(rows, condition, FeatureSpec(kind, rows.size(1), levels), None)


def learned(name: str, some: Table) -> FeatureGenerator:
    return GENERATORS[name]().fit(some.rows, some.condition, some.spec, seed=Seed(0))


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("kind", [FeatureKind.CATEGORICAL, FeatureKind.COUNT])
def test_every_id_exists_and_is_of_its_class(name: str, kind: FeatureKind) -> None:
    some = table(kind=kind)
    made = learned(name, some).sample(torch.eye(2)[torch.arange(400) % 2], seed=Seed(1))
    assert set(made[:, 1].tolist()) <= set(some.rows[:, 1].tolist())
    assert (made[:, 1] % 2).tolist() == (torch.arange(400) % 2).tolist()
    assert torch.equal(made[:, 1], made[:, 2])  # ids that belong together stay together
    assert set(made[:, 0].tolist()) == {0.0, 1.0, 2.0}


@pytest.mark.parametrize("name", GENERATORS)
def test_a_table_of_ids_alone_needs_no_learning(name: str) -> None:
    some = table(alone=True)
    generator = learned(name, some)
    made = generator.sample(torch.eye(2)[torch.zeros(50, dtype=torch.long)], seed=Seed(1))
    assert set(made[:, 0].tolist()) <= set(some.rows[:, 0].tolist())
    assert "training" not in generator.report
    assert generator.report["from_real_rows"] == 1


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("alone", [False, True])
def test_what_was_learned_can_be_kept(name: str, alone: bool) -> None:
    some = table(alone)
    generator = learned(name, some)
    again = GENERATORS[name]().restore(*generator.state(), some.spec)
    condition = torch.eye(2)[torch.arange(40) % 2]
    assert torch.equal(generator.sample(condition, seed=Seed(2)), again.sample(condition, seed=Seed(2)))


def test_columns_with_fewer_values_are_learned() -> None:
    rows = (torch.arange(ROWS) % MANY_LEVELS).float()[:, None]
    few = Table.of(rows, torch.ones(ROWS, 1), FeatureSpec(FeatureKind.CATEGORICAL, 1, (MANY_LEVELS,)))
    assert ManyLevels.find(few) is None
    more = Table.of(rows * 7, torch.ones(ROWS, 1), FeatureSpec(FeatureKind.CATEGORICAL, 1, (7 * MANY_LEVELS,)))
    assert ManyLevels.find(more) is None  # large numbers, but not many
    many = Table.of(
        torch.arange(ROWS).float()[:, None], torch.ones(ROWS, 1), FeatureSpec(FeatureKind.CATEGORICAL, 1, (ROWS,))
    )
    assert ManyLevels.find(many) is not None


def test_controls_draw_their_rows_as_always() -> None:
    some = table()
    generator = BootstrapRows().fit(some.rows, some.condition, some.spec, seed=Seed(0))
    assert "from_real_rows" not in generator.report
    assert generator.sample(some.condition[:5], seed=Seed(0)).shape == (5, 3)
