"""What every structure generator must do; a new one is tested by registering it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
import torch

from dignn.core.errors import DignnError
from dignn.core.progress import silent
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.validity import check_validity
from dignn.sampling.forest_fire import forest_fire
from dignn.structure.base import StructureGenerator
from dignn.structure.registry import STRUCTURE_GENERATORS
from dignn.zoo.datasets.registry import load

pytestmark = pytest.mark.parametrize("name", STRUCTURE_GENERATORS)
SIZES = [9, 8, 8, 10, 9]


# As good as untrained: what must hold whatever was learned.
SMOKE, HASTE = PRESETS["smoke"], TrainingConfig(steps=6, validate_every=3)
HASTY = replace(
    SMOKE,
    node_growth=replace(SMOKE.node_growth, training=HASTE),
    edge_diffusion=replace(SMOKE.edge_diffusion, training=HASTE, restarts=1),
)


@cache
def graphs_to_learn() -> GraphBatch:
    dataset = load("planted")
    return forest_fire(Adjacency.build(dataset.data, dataset.schema), (8, 9, 10), 10, seed=Seed(0))


@pytest.fixture
def graphs() -> GraphBatch:
    return graphs_to_learn()


def new(name: str) -> StructureGenerator:
    return STRUCTURE_GENERATORS[name].build(HASTY)


@cache
def fitted(name: str) -> StructureGenerator:
    return new(name).fit(graphs_to_learn(), seed=Seed(0).child("fit"), tick=silent)


def sample(generator: StructureGenerator, seed: int = 0) -> GraphBatch:
    return generator.sample(SIZES, seed=Seed(seed).child("sample"), tick=silent)


def test_one_graph_for_each_requested_size_in_order(name: str) -> None:
    assert sample(fitted(name)).sizes.tolist() == SIZES


def test_graphs_keep_the_promises_of_a_batch_and_the_metagraph(name: str, graphs: GraphBatch) -> None:
    made = sample(fitted(name)).check()
    assert bool(check_validity(made).consistent.all())
    assert made.schema == graphs.schema


def test_target_nodes_have_a_class_and_there_are_no_features(name: str) -> None:
    made = sample(fitted(name))
    assert bool((made.label[made.target_mask] >= 0).all())
    assert made.tables == {}
    assert bool((made.row == -1).all())


def test_same_seed_same_bits_other_seed_other_graphs(name: str) -> None:
    learned_again = fitted.__wrapped__(name)
    one, again, other = sample(fitted(name)), sample(learned_again), sample(learned_again, seed=1)
    assert torch.equal(one.edge, again.edge)
    assert torch.equal(one.node_type, again.node_type)
    assert not torch.equal(one.edge, other.edge)


def test_progress_ends_at_its_total(name: str) -> None:
    ticks: list[tuple[int, int]] = []
    fitted(name).sample(SIZES, seed=Seed(0), tick=lambda done, total: ticks.append((done, total)))
    assert ticks[-1][0] == ticks[-1][1]


def test_sampling_before_fitting_says_so(name: str) -> None:
    with pytest.raises(DignnError, match="call fit first"):
        new(name).sample(SIZES, seed=Seed(0), tick=silent)


def test_nothing_to_learn_from_says_so(name: str, graphs: GraphBatch) -> None:
    with pytest.raises(DignnError, match="no training graphs"):
        new(name).fit(graphs[:0], seed=Seed(0), tick=silent)


def test_a_size_beyond_the_training_graphs_is_refused(name: str) -> None:
    with pytest.raises(DignnError, match="No training graph has 50 nodes"):
        fitted(name).sample([50], seed=Seed(0), tick=silent)
