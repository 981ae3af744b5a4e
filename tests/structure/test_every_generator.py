"""What every structure generator must do; a new one is tested by registering it."""

from __future__ import annotations

import pytest
import torch

from dignn.core.errors import DignnError
from dignn.core.progress import silent
from dignn.core.seeds import Seed
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.validity import check_validity
from dignn.sampling.forest_fire import forest_fire
from dignn.structure.registry import STRUCTURE_GENERATORS
from dignn.zoo.datasets.registry import load

pytestmark = pytest.mark.parametrize("name", STRUCTURE_GENERATORS)
SIZES = [9, 8, 8, 10, 9]


@pytest.fixture(scope="module")
def graphs() -> GraphBatch:
    dataset = load("planted")
    return forest_fire(Adjacency.build(dataset.data, dataset.schema), (8, 9, 10), 10, seed=Seed(0))


def sample(name: str, graphs: GraphBatch, seed: int = 0) -> GraphBatch:
    generator = STRUCTURE_GENERATORS[name].build(PRESETS["smoke"]).fit(graphs, seed=Seed(0).child("fit"), tick=silent)
    return generator.sample(SIZES, seed=Seed(seed).child("sample"), tick=silent)


def test_one_graph_for_each_requested_size_in_order(name: str, graphs: GraphBatch) -> None:
    assert sample(name, graphs).sizes.tolist() == SIZES


def test_graphs_keep_the_promises_of_a_batch_and_the_metagraph(name: str, graphs: GraphBatch) -> None:
    made = sample(name, graphs).check()
    assert bool(check_validity(made).consistent.all())
    assert made.schema == graphs.schema


def test_target_nodes_have_a_class_and_there_are_no_features(name: str, graphs: GraphBatch) -> None:
    made = sample(name, graphs)
    assert bool((made.label[made.target_mask] >= 0).all())
    assert made.tables == {}
    assert bool((made.row == -1).all())


def test_same_seed_same_bits_other_seed_other_graphs(name: str, graphs: GraphBatch) -> None:
    one, again, other = (sample(name, graphs, seed) for seed in (0, 0, 1))
    assert torch.equal(one.edge, again.edge)
    assert torch.equal(one.node_type, again.node_type)
    assert not torch.equal(one.edge, other.edge)


def test_progress_ends_at_its_total(name: str, graphs: GraphBatch) -> None:
    ticks: list[tuple[int, int]] = []
    generator = STRUCTURE_GENERATORS[name].build(PRESETS["smoke"]).fit(graphs, seed=Seed(0), tick=silent)
    generator.sample(SIZES, seed=Seed(0), tick=lambda done, total: ticks.append((done, total)))
    assert ticks[-1][0] == ticks[-1][1]


def test_sampling_before_fitting_says_so(name: str, graphs: GraphBatch) -> None:
    with pytest.raises(DignnError, match="call fit first"):
        STRUCTURE_GENERATORS[name].build(PRESETS["smoke"]).sample(SIZES, seed=Seed(0), tick=silent)


def test_nothing_to_learn_from_says_so(name: str, graphs: GraphBatch) -> None:
    with pytest.raises(DignnError, match="no training graphs"):
        STRUCTURE_GENERATORS[name].build(PRESETS["smoke"]).fit(graphs[:0], seed=Seed(0), tick=silent)


def test_a_size_beyond_the_training_graphs_is_refused(name: str, graphs: GraphBatch) -> None:
    generator = STRUCTURE_GENERATORS[name].build(PRESETS["smoke"]).fit(graphs, seed=Seed(0), tick=silent)
    with pytest.raises(DignnError, match="No training graph has 50 nodes"):
        generator.sample([50], seed=Seed(0), tick=silent)
