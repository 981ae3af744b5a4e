"""Every structure generator learns and samples on a device as it does on the CPU, and keeps nothing there."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS, Config
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg
from dignn.graphs.inference import infer_schema
from dignn.sampling.forest_fire import forest_fire
from dignn.structure.base import StructureGenerator
from dignn.structure.registry import STRUCTURE_GENERATORS
from dignn.zoo.datasets.registry import load
from edge_graphs import ARROWS, path
from pretend_device import on_every_device, same
from strategies import rings_and_stars

SMOKE, HASTE = PRESETS["smoke"], TrainingConfig(steps=2, validate_every=2)


def edges(**settings: object) -> Config:
    return replace(
        SMOKE,
        structure="edge-diffusion",
        edge_diffusion=replace(SMOKE.edge_diffusion, training=HASTE, batch=50, sampler_steps=2, restarts=1, **settings),
    )


SETTINGS = {
    "node growth": replace(SMOKE, node_growth=replace(SMOKE.node_growth, training=HASTE)),
    "absorbing": edges(noise="absorbing"),
    "absorbing, paper": edges(noise="absorbing", denoiser="paper"),
    "marginal": edges(noise="marginal"),
    "marginal, paper": edges(noise="marginal", denoiser="paper", sampler="posterior", constraints=False),
    "one model per size": edges(one_model_per_size=True),
    "bootstrap": replace(SMOKE, structure="bootstrap"),
}
# With directed relations tokens have mirrors, and classes of graphs are a condition.
CASES = [
    *((name, "types") for name in SETTINGS),
    *((name, "arrows") for name in ("node growth", "absorbing", "marginal")),
]
CASES += [("node growth", "classes"), ("absorbing", "classes"), ("marginal, paper", "classes")]


class Likes:
    """A guide that likes graphs with few edges."""

    def __init__(self, sizes: list[int]) -> None:
        self.group = torch.tensor(sizes)

    def log_weight(self, graphs: GraphBatch, index: Tensor) -> Tensor:
        assert graphs.edge.device.type == index.device.type == "cpu"
        return -(graphs.edge > 0).float().sum((1, 2))


@pytest.fixture(autouse=True)
def _few_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.structure.edge_diffusion.edge_sampling.DRAWN_ANEW", 1)


@cache
def graphs_of(kind: str) -> GraphBatch:
    if kind == "arrows":
        return GraphBatch.cat([path(size, ARROWS, code=code) for size in (6, 7) * 6 for code in (1, 2)])
    if kind == "classes":
        data = rings_and_stars()
        return from_pyg(data, infer_schema(data))
    dataset = load("planted")
    return forest_fire(Adjacency.build(dataset.data, dataset.schema), (6, 7), 12, seed=Seed(0))


def new(name: str, device: str) -> StructureGenerator:
    generator = STRUCTURE_GENERATORS[SETTINGS[name].structure].build(SETTINGS[name])
    generator.device = device
    return generator


def assert_same(here: GraphBatch, there: GraphBatch, device: str) -> None:
    for name in ("node_type", "edge", "label", "graph_label"):
        assert same(getattr(here, name), getattr(there, name), device), name


@on_every_device
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_learning_and_sampling_give_the_cpus_numbers(name: str, kind: str, device: str, tmp_path: Path) -> None:
    graphs, sizes = graphs_of(kind), [7, 6, 6, 7]
    here, there = (new(name, place).fit(graphs, seed=Seed(0)) for place in ("cpu", device))
    learned, expected = there._state()[0], here._state()[0]
    for part in expected:
        assert same(expected[part], learned[part], device), part
    # What was learned here is taken up and sampled from there.
    here.save(tmp_path / "learned.safetensors")
    other = new(name, device).load(tmp_path / "learned.safetensors", graphs.schema)
    assert_same(here.sample(sizes, seed=Seed(1)), other.sample(sizes, seed=Seed(1)), device)
    for values in other._state()[0].values():
        assert values.device.type == "cpu"


@on_every_device
@pytest.mark.parametrize("name", ["node growth", "absorbing", "marginal"])
def test_a_guide_is_asked_on_the_cpu(name: str, device: str) -> None:
    sizes = [7] * 12
    one, other = new(name, "cpu").fit(graphs_of("types"), seed=Seed(0)), new(name, device)
    other.__dict__ |= {**one.__dict__, "device": device}
    here, there = (each.sample(sizes, seed=Seed(1), guide=Likes(sizes)) for each in (one, other))
    assert_same(here, there, device)
    assert not torch.equal(here.edge, one.sample(sizes, seed=Seed(1)).edge)
