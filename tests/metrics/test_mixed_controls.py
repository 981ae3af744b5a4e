"""Controls of tables whose columns differ keep one-hot groups together, and what is missing as often."""

from __future__ import annotations

import torch

from dignn.core.seeds import Seed
from dignn.features.registry import FEATURE_GENERATORS
from dignn.graphs.adjacency import Adjacency
from dignn.metrics.controls import control_sets
from dignn.sampling.forest_fire import forest_fire
from mixed_world import SHOP, mixed_data, mixed_schema


def test_noise_is_rows_of_the_schema_without_what_goes_together() -> None:
    schema = mixed_schema()
    train = forest_fire(Adjacency.build(mixed_data(), schema), [10], 40, seed=Seed(0))
    noise = control_sets(train, train, Seed(1))["column_noise"]
    rows, real = noise.features("shop"), train.features("shop")
    assert bool((rows[:, 2:5].sum(1) == 1).all())
    price, open_ = SHOP.index("price"), SHOP.index("open")
    assert abs(float(rows[:, price].isnan().float().mean() - real[:, price].isnan().float().mean())) < 0.1

    def together(table: torch.Tensor) -> float:
        return float(torch.corrcoef(torch.stack([table[:, price].isnan().float(), table[:, open_]]))[0, 1])

    assert abs(together(rows)) < abs(together(real))


def test_independent_columns_are_rows_of_the_schema() -> None:
    rows, spec = mixed_data()["shop"].x, mixed_schema().spec("shop")
    generator = FEATURE_GENERATORS["independent"]()
    generator.fit(rows, torch.zeros(len(rows), 2), spec, seed=Seed(0))
    made = generator.sample(torch.zeros(200, 2), seed=Seed(1))
    assert bool((made[:, 2:5].sum(1) == 1).all())
    assert bool(made[:, SHOP.index("price")].isnan().any())
