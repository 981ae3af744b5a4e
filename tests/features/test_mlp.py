"""Networks of feature diffusion: what few values and what is known of a row can say."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.features.ditabddpm.generator import DiTabDDPM
from dignn.features.mlp import MOST_WAVED, ContextLayer, TableMLP, value_waves
from dignn.features.settings import DiTabDDPMConfig, TabDDPMConfig
from dignn.features.tabddpm.generator import TabDDPM
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec


def test_waves_are_sines_and_cosines_with_periods_of_8_4_2_and_1() -> None:
    values = torch.tensor([[0.3, -1.7], [2.0, 0.0]])
    found = value_waves(values).view(2, 2, 8)
    for place, period in enumerate((8, 4, 2, 1)):
        turned = values * 2 * torch.pi / period
        torch.testing.assert_close(found[..., place], turned.sin(), atol=1e-5, rtol=0)
        torch.testing.assert_close(found[..., 4 + place], turned.cos(), atol=1e-5, rtol=0)


def test_only_a_few_values_enter_as_waves_and_they_are_the_last_inputs() -> None:
    def network(inputs: int, values: int) -> TableMLP:
        return TableMLP(inputs, 1, 1, width=8, blocks=1, dropout=0.0, values=values)

    assert network(MOST_WAVED + 1, MOST_WAVED + 1).waves is None
    assert network(5, 0).waves is None
    mixed = network(5, 2)
    assert mixed.waves is not None
    assert mixed.waves.in_features == len(value_waves(torch.zeros(1, 2))[0])
    torch.nn.init.zeros_(mixed.enter.weight)
    torch.nn.init.normal_(mixed.leave.weight)
    signal, label, row = torch.full((1,), 0.5), torch.zeros(1, dtype=torch.long), torch.zeros(1, 5)

    def said(column: int) -> Tensor:
        return mixed(row.index_fill(1, torch.tensor([column]), 0.7), signal, label)

    before = mixed(row, signal, label)
    assert [torch.equal(said(column), before) for column in range(5)] == [True, True, True, False, False]


def test_what_is_known_passes_through_few_numbers_some_of_which_are_dropped() -> None:
    """What is added for many different contexts lies in few directions, and in training it varies."""
    torch.manual_seed(0)
    layer = ContextLayer(200, 128).eval()
    torch.nn.init.normal_(layer.layers[-1].weight)  # type: ignore[index]
    hidden, context = torch.zeros(300, 128), torch.randn(300, 200)
    added = layer(hidden, context).detach().double()
    assert int(torch.linalg.matrix_rank(added - added.mean(0), rtol=1e-4)) == 64
    assert torch.equal(layer(hidden, context), layer(hidden, context))
    layer.train()
    assert not torch.equal(layer(hidden, context), layer(hidden, context))


def test_a_category_of_many_values_gets_through() -> None:
    """Three words of their own for each of 25 values, which are all that is known."""
    generator = Seed(3).torch()
    value = torch.arange(750) % 25
    own = torch.zeros(750, 75, dtype=torch.bool)
    own[torch.arange(750)[:, None], 3 * value[:, None] + torch.arange(3)] = True
    rows = (torch.rand(750, 75, generator=generator) < torch.where(own, 0.6, 0.02)).float()
    config = DiTabDDPMConfig(noise="absorbing", width=128, blocks=1)
    context = torch.eye(25)[value]
    model = DiTabDDPM(config).fit(
        rows, torch.zeros(750, 0), FeatureSpec(FeatureKind.BINARY, 75), context=context, seed=Seed(0)
    )
    made = model.sample(torch.zeros(750, 0), context=context, seed=Seed(1))
    assert float(made[own].mean()) > 0.75 * float(rows[own].mean())


def test_narrow_clusters_are_found() -> None:
    """Eight clusters at the corners of a cube, a tenth as wide as they are apart."""
    generator = Seed(0).torch()
    corner = torch.randint(2, (2000, 3), generator=generator).float()
    rows = corner + 0.1 * torch.randn(2000, 3, generator=generator)
    config = TabDDPMConfig(width=64, blocks=1, batch=256, training=TrainingConfig(steps=250, learning_rate=5e-3))
    spec = FeatureSpec(FeatureKind.CONTINUOUS, 3)
    made = TabDDPM(config).fit(rows, torch.zeros(2000, 0), spec, seed=Seed(1)).sample(torch.zeros(500, 0), seed=Seed(2))

    def inside(table: Tensor) -> float:
        return float(((table - table.round()).abs() < 0.3).all(1).float().mean())

    assert inside(made) > 0.85  # 0.99 of the real rows, 0.54 of those of a network without waves
    assert min(torch.bincount((made.round() @ torch.tensor([1.0, 2, 4])).long(), minlength=8)[:8]) > 25


def test_waves_are_a_setting_and_not_of_the_paper() -> None:
    assert PRESETS["paper"].tabddpm.waves is False
    with_waves, without = (
        [name for name in fitted(TabDDPMConfig(waves=waves)) if "waves" in name] for waves in (True, False)
    )
    assert with_waves
    assert not without


def fitted(config: TabDDPMConfig) -> dict[str, Tensor]:
    """What is kept of a mixed table that was learned for a moment."""
    rows = torch.randn(40, 2, generator=Seed(0).torch())
    spec = FeatureSpec(FeatureKind.MIXED, 2, columns=(Column(ColumnKind.CONTINUOUS),) * 2)
    config = replace(config, width=8, blocks=1, training=TrainingConfig(steps=1))
    return TabDDPM(config).fit(rows, torch.zeros(40, 0), spec, seed=Seed(0)).state()[0]
