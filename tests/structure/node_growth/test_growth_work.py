"""How long node growth learns."""

from __future__ import annotations

import networkx as nx
import pytest

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.graphs.batch import GraphBatch
from dignn.structure.node_growth import generator as generator_file
from dignn.structure.node_growth.generator import NodeGrowth
from dignn.structure.node_growth.growth_work import LEAST_STEPS, Work
from dignn.structure.settings import NodeGrowthConfig
from strategies import batch_of, plain_schema

PLAIN = plain_schema()


def trees(number: int, size: int) -> GraphBatch:
    drawn = [nx.random_labeled_tree(size, seed=seed) for seed in range(number)]
    return GraphBatch.cat([batch_of(PLAIN, [0] * size, dict.fromkeys(tree.edges, 1)) for tree in drawn])


def test_steps_grow_with_graphs_and_effort() -> None:
    small, large = (Work.of(trees(400, size), 2, 480) for size in (12, 24))
    assert (small.length, large.length) == (12, 24)
    assert large.steps(25, 60) == 2 * small.steps(25, 60) == 600
    assert large.steps(50, 60) == 1200


def test_few_different_graphs_are_not_learned_by_heart() -> None:
    once = trees(20, 12)
    work = Work.of(once, 2, 480)
    assert work.steps(1e6, 600) == 300
    assert work.steps(1e6, 60) == LEAST_STEPS
    copies = Work.of(GraphBatch.cat([once] * 50), 2, 480)
    assert copies.steps(1e6, 600) == work.steps(1e6, 600)


def test_large_and_dense_graphs_cost_no_more_than_others() -> None:
    dense = [nx.planted_partition_graph(4, 15, 0.7, 0.02, seed=seed) for seed in range(40)]
    graphs = GraphBatch.cat([batch_of(PLAIN, [0] * 60, dict.fromkeys(graph.edges, 1)) for graph in dense])
    work, usual = Work.of(graphs, 30, 480), Work.of(trees(400, 24), 30, 480)
    assert work.length > 250
    assert work.steps(25, 60) * work.cost <= 31_251 + LEAST_STEPS * work.cost
    assert work.steps(25, 60) * work.cost < 4 * usual.steps(25, 60) * usual.cost


def test_the_settings_have_the_last_word() -> None:
    graphs = trees(30, 8)
    training = TrainingConfig(steps=12, validate_every=5)
    for chosen, steps in ((training, 12), (TrainingConfig(epochs=3, validate_every=5), 3)):
        config = NodeGrowthConfig(width=16, layers=1, training=chosen)
        generator = NodeGrowth(config).fit(graphs, seed=Seed(0))
        assert generator.report["training"]["all sizes"]["steps"] == steps


@pytest.mark.parametrize("name", ["effort", "passes"])
def test_work_below_zero_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        NodeGrowthConfig(**{name: -1.0})


def test_growths_that_take_much_memory_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = trees(12, 8)
    made = []
    for cells in (4_000_000, 5 * 8 * 8):
        monkeypatch.setattr(generator_file, "_CELLS", cells)
        monkeypatch.setattr(generator_file, "_AT_ONCE", 1)
        generator = NodeGrowth(NodeGrowthConfig(width=16, layers=1, training=TrainingConfig(steps=5)))
        generator.fit(graphs, seed=Seed(0))
        nodes, edges = generator._words.encode(graphs)
        batches = list(generator._batches(nodes, edges, graphs.graph_label, Seed(1), 1))
        made.append((len(batches), sum(len(batch.length) for batch in batches)))
        several = list(generator._batches(nodes, edges, graphs.graph_label, Seed(1), 30))
        assert sum(len(batch.length) for batch in several) == (36 if cells > 1000 else 12)
    assert made == [(1, 12), (3, 12)]
