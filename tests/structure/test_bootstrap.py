"""The control that repeats real structures."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Relation
from dignn.structure.bootstrap import BootstrapStructure
from dignn.structure.registry import STRUCTURE_GENERATORS
from strategies import PROPERTY, batch_of, batches, plain_schema


def described(batch: GraphBatch, number: int) -> tuple:
    one = batch[number]
    return tuple(str(getattr(one, name).tolist()) for name in ("node_type", "edge", "label", "graph_label"))


@PROPERTY
@given(batches(min_graphs=1, max_graphs=5), st.integers(0, 99))
def test_every_sample_is_a_training_graph_of_the_size_asked_for(batch: GraphBatch, seed: int) -> None:
    generator = BootstrapStructure().fit(batch, seed=Seed(0))
    sizes = np.random.default_rng(seed).choice(batch.sizes.numpy(), 7).tolist()
    sampled = generator.sample(sizes, seed=Seed(seed)).check()
    assert sampled.sizes.tolist() == sizes
    known = {described(batch, number) for number in range(len(batch))}
    assert {described(sampled, number) for number in range(7)} <= known


@PROPERTY
@given(batches(min_graphs=1))
def test_samples_have_no_features(batch: GraphBatch) -> None:
    sampled = BootstrapStructure().fit(batch, seed=Seed(0)).sample(batch.sizes.tolist(), seed=Seed(1))
    assert sampled.tables == {}
    assert (sampled.row == -1).all()


SCHEMA = plain_schema((Relation("a", "to", "a", "to"),), node_types=("a",), target="a")
GRAPHS = GraphBatch.cat(
    [batch_of(SCHEMA, [0, 0, 0], {(0, 1): 1}, labels={0: label, 1: other}) for label in (0, 1) for other in (-1, 0, 1)]
    + [batch_of(SCHEMA, [0], {})]
)


def test_graphs_of_a_size_are_drawn_uniformly() -> None:
    sampled = BootstrapStructure().fit(GRAPHS, seed=Seed(0)).sample([3] * 3000, seed=Seed(2))
    counts = Counter(map(tuple, sampled.label[:, :2].tolist()))
    assert len(counts) == 6
    assert chisquare(list(counts.values())).pvalue > 1e-3


def test_same_seed_same_graphs() -> None:
    generator = BootstrapStructure().fit(GRAPHS, seed=Seed(0))
    one, same, other = (generator.sample([3] * 20, seed=Seed(seed)).label for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_nothing_is_asked_for() -> None:
    assert len(BootstrapStructure().fit(GRAPHS, seed=Seed(0)).sample([], seed=Seed(0))) == 0


def test_progress_ends_when_all_is_done() -> None:
    seen = []
    generator = BootstrapStructure().fit(GRAPHS, seed=Seed(0))
    generator.sample([3, 1], seed=Seed(0), tick=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (2, 2)


def test_a_size_that_no_training_graph_has() -> None:
    with pytest.raises(DignnError, match=r"No training graph has 2 nodes; their sizes are \[1, 3\]"):
        BootstrapStructure().fit(GRAPHS, seed=Seed(0)).sample([3, 2], seed=Seed(0))


def test_no_training_graphs() -> None:
    with pytest.raises(DignnError, match="There are no training graphs"):
        BootstrapStructure().fit(GRAPHS[:0], seed=Seed(0))


def test_sampling_before_learning() -> None:
    with pytest.raises(DignnError, match="call fit first"):
        BootstrapStructure().sample([3], seed=Seed(0))


def test_it_is_found_by_name() -> None:
    assert STRUCTURE_GENERATORS["bootstrap"] is BootstrapStructure
