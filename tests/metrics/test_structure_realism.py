"""Realism of structure: real graphs score about 1, bad ones far more, and every number can be had by slow loops."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.stats import wasserstein_distance

from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.plain_graph import plain_graphs
from dignn.graphs.schema import Relation
from dignn.metrics.measured import MeasuredGraphs, Reality, names_of
from dignn.metrics.measures.copies import novelty, unique_share
from dignn.metrics.measures.mmd import KERNELS, mmd
from dignn.metrics.structure_realism import StructureRealism, structure_realism
from dignn.sampling.forest_fire import forest_fire
from dignn.zoo.datasets.registry import load
from strategies import batch_of, plain_schema, random_batch

METRICS = {"degree", "clustering", "spectral", "node_token", "typed_edge"}
DIRECTED = plain_schema((Relation("node", "to", "node", "to"), Relation("node", "cites", "node", directed=True)))


def fires(name: str, sizes: tuple[int, ...], per_size: int, seed: int) -> GraphBatch:
    dataset = load(name)
    return forest_fire(Adjacency.build(dataset.data, dataset.schema), sizes, per_size, seed=Seed(seed))


@pytest.fixture(scope="module")
def real() -> tuple[GraphBatch, GraphBatch, GraphBatch]:
    """Training graphs, held-out graphs and further ones."""
    return fires("tree-cycle", (8, 9), 150, 0), fires("tree-cycle", (8, 9), 50, 1), fires("tree-cycle", (8, 9), 75, 2)


def with_edges(batch: GraphBatch, graphs: list[nx.Graph]) -> GraphBatch:
    """The nodes of ``batch`` with the edges of ``graphs``, all of the first relation."""
    edge = torch.zeros_like(batch.edge)
    for number, graph in enumerate(graphs):
        for u, v in graph.edges:
            edge[number, u, v] = edge[number, v, u] = 1
    return replace(batch, edge=edge)


def random_trees(batch: GraphBatch) -> GraphBatch:
    sizes = batch.sizes.tolist()
    return with_edges(batch, [nx.random_labeled_tree(size, seed=number) for number, size in enumerate(sizes)])


# -- values that are known ----------------------------------------------------------------------------


def test_generated_graphs_that_are_the_held_out_ones(real: tuple[GraphBatch, ...]) -> None:
    train, held_out, _ = real
    found = structure_realism(held_out, train, held_out)
    assert found.ratio == pytest.approx(0, abs=1e-9)
    assert max(found.value.values()) == pytest.approx(0, abs=1e-12)
    assert set(found.value) == set(found.floor) == METRICS
    assert found.isomorphic == found.isomorphic_held_out
    assert found.edges == found.edges_held_out
    assert found.valid == 1


def test_generated_graphs_that_are_the_training_graphs(real: tuple[GraphBatch, ...]) -> None:
    train, held_out, _ = real
    found = structure_realism(train, train, held_out)
    assert found.value == found.floor
    assert found.ratio == pytest.approx(1)
    assert found.isomorphic == 1
    assert found.unique == found.unique_train < 1


def test_further_real_graphs_are_near_the_floor(real: tuple[GraphBatch, ...]) -> None:
    train, held_out, further = real
    found = structure_realism(further, train, held_out)
    assert found.ratio is not None
    assert 0.5 < found.ratio < 2.0
    assert abs(found.isomorphic - found.isomorphic_held_out) < 0.15


def test_random_trees_are_far_from_the_floor(real: tuple[GraphBatch, ...]) -> None:
    train, held_out, further = real
    found = structure_realism(random_trees(further), train, held_out)
    assert found.ratio is not None
    assert found.ratio > 3
    assert found.isomorphic < found.isomorphic_held_out / 2
    assert found.valid == 1


def test_shuffled_classes_show_in_the_typed_edges_alone(real: tuple[GraphBatch, ...]) -> None:
    train, held_out, further = real
    order = torch.rand(further.label.shape, generator=Seed(0).torch()).masked_fill(~further.mask, 2.0).argsort(1)
    shuffled = replace(further, label=further.label.gather(1, order))
    before, after = (structure_realism(batch, train, held_out) for batch in (further, shuffled))
    for name in METRICS - {"typed_edge"}:
        assert after.value[name] == before.value[name]
    assert after.value["typed_edge"] > 5 * before.value["typed_edge"]


def test_disconnected_graphs_lower_the_yield(real: tuple[GraphBatch, ...]) -> None:
    train, held_out, further = real
    lonely = replace(further, edge=further.edge.clone())
    lonely.edge[:30] = 0
    found = structure_realism(lonely, train, held_out)
    assert found.valid == pytest.approx(1 - 30 / len(further))
    assert found.edges < found.edges_held_out


# -- slow computations --------------------------------------------------------------------------------


def slow_mmd(one: list[Counter[int]], other: list[Counter[int]]) -> float:
    """Biased squared MMD with sigma 1 by scipy's earth mover's distance, pair by pair."""

    def kernel(a: Counter[int], b: Counter[int]) -> float:
        return float(np.exp(-(wasserstein_distance(list(a.elements()), list(b.elements())) ** 2) / 2))

    def average(xs: list[Counter[int]], ys: list[Counter[int]]) -> float:
        return float(np.mean([kernel(x, y) for x in xs for y in ys]))

    return average(one, one) + average(other, other) - 2 * average(one, other)


def edge_words(batch: GraphBatch, number: int) -> list[tuple[tuple[int, ...], ...]]:
    """Every edge as its ends' tokens and how they are joined, in the order that comes first."""
    found = []
    for u, v in combinations(range(int(batch.sizes[number])), 2):
        there, back = int(batch.edge[number, u, v]), int(batch.edge[number, v, u])
        if there or back:
            a, b = ((int(batch.node_type[number, w]), int(batch.label[number, w])) for w in (u, v))
            found.append(min((a, b, (there, back)), (b, a, (back, there))))
    return found


def test_typed_edges_by_slow_loops() -> None:
    schema = replace(DIRECTED, classes=("x", "y"), target="node", task=None)
    rng = np.random.default_rng(0)
    train, held_out, generated = (random_batch(schema, [5] * count, rng) for count in (12, 25, 12))
    found = structure_realism(generated, train, held_out)
    words = [[edge_words(batch, number) for number in range(len(batch))] for batch in (train, held_out, generated)]
    position: dict[tuple[tuple[int, ...], ...], int] = {}
    for several in words:
        for word in sorted({word for graph in several for word in graph}):
            position.setdefault(word, 1 + len(position))
    train_counts, held_out_counts, counts = (
        [Counter(position[word] for word in graph) or Counter([0]) for graph in several] for several in words
    )
    assert found.value["typed_edge"] == pytest.approx(slow_mmd(counts, held_out_counts), abs=1e-9)
    assert found.floor["typed_edge"] == pytest.approx(slow_mmd(train_counts, held_out_counts), abs=1e-9)


def test_more_graphs_give_the_mean_over_all_choices(real: tuple[GraphBatch, ...]) -> None:
    train, held_out, further = (batch[batch.sizes == 8] for batch in real)
    train, held_out, further = train[:3], held_out, further[:6]  # real graphs that have every typed edge
    whole = structure_realism(further, train, held_out)
    parts = [structure_realism(further[list(chosen)], train, held_out) for chosen in combinations(range(6), 3)]
    for name in METRICS:
        assert whole.value[name] == pytest.approx(np.mean([part.value[name] for part in parts]), abs=1e-12)
    assert whole.compared == parts[0].compared == (3,)
    assert whole.floor == parts[0].floor


def test_the_untyped_metrics_are_those_of_the_sound_layer(real: tuple[GraphBatch, ...]) -> None:
    train, held_out, further = (batch[batch.sizes == 9] for batch in real)
    found = structure_realism(further, train[:75], held_out)
    for name in ("degree", "clustering", "spectral"):
        expected = mmd(plain_graphs(further), plain_graphs(held_out), KERNELS["sound"][name])
        assert found.value[name] == pytest.approx(expected, abs=1e-12)


def test_isomorphic_shares_and_uniqueness_by_networkx(real: tuple[GraphBatch, ...]) -> None:
    train, held_out, further = (batch[batch.sizes == 8][:40] for batch in real)

    def graphs(batch: GraphBatch) -> list[nx.Graph]:
        made = [nx.from_numpy_array(edge[:8, :8].numpy()) for edge in batch.edge]
        for graph, labels in zip(made, batch.label.tolist(), strict=True):
            nx.set_node_attributes(graph, dict(enumerate(labels[:8])), "label")
        return made

    def same(a: nx.Graph, b: nx.Graph) -> bool:
        return nx.is_isomorphic(a, b, node_match=lambda x, y: x["label"] == y["label"])

    learned, made = graphs(train), graphs(further)
    known = [any(same(graph, other) for other in learned) for graph in made]
    alone = [not any(same(made[i], made[j]) for j in range(40) if j != i) for i in range(40)]
    assert new_share(further, train) == pytest.approx(1 - np.mean(known))
    assert unique_share(names_of(further)) == pytest.approx(np.mean(alone))
    found = structure_realism(further, train, held_out)
    assert found.isomorphic == pytest.approx(np.mean(known))
    assert found.unique == pytest.approx(np.mean(alone))
    assert 0 < found.isomorphic < 1
    assert found.edges == pytest.approx(np.mean([graph.number_of_edges() for graph in made]))


# -- floors of zero -----------------------------------------------------------------------------------

PLAIN = plain_schema()
PATH, TRIANGLE = (
    batch_of(PLAIN, [0] * 3, edges) for edges in ({(0, 1): 1, (1, 2): 1}, {(0, 1): 1, (1, 2): 1, (0, 2): 1})
)


def many(*counts: tuple[GraphBatch, int]) -> GraphBatch:
    return GraphBatch.cat([graph for graph, count in counts for _ in range(count)])


def test_metrics_that_are_zero_for_all_are_left_out() -> None:
    found = structure_realism(many((PATH, 10)), many((PATH, 10)), many((PATH, 25)))
    assert set(found.left_out) == METRICS
    assert found.above_zero_floor == ()
    assert found.ratio is None


def test_a_value_above_a_floor_of_zero_counts() -> None:
    found = structure_realism(many((PATH, 9), (TRIANGLE, 1)), many((PATH, 10)), many((PATH, 25)))
    assert set(found.above_zero_floor) == METRICS - {"node_token", "typed_edge"}
    assert set(found.left_out) == {"node_token", "typed_edge"}
    values = [found.value[name] for name in found.above_zero_floor]
    assert found.ratio == pytest.approx(1 + np.mean(values) / (1 / 10 + 1 / 25))
    # a triangle has nothing in common with paths: 1 of 10 gives 2 / 10^2
    assert found.value["clustering"] == pytest.approx(2 / 100, rel=1e-3)


# -- which graphs are compared ------------------------------------------------------------------------


def test_sizes_are_pooled_until_there_are_enough_held_out_graphs() -> None:
    rng = np.random.default_rng(0)
    held_out = random_batch(PLAIN, [3] * 8 + [4] * 12 + [5] * 20 + [6] * 19 + [9], rng)
    train = random_batch(PLAIN, [3] * 30 + [4] * 5 + [5] * 30 + [6] * 30 + [7] * 30, rng)
    generated = random_batch(PLAIN, [3, 4, 5, 6, 7, 9] * 10, rng)
    found = structure_realism(generated, train, held_out)
    assert found.groups == ((3, 4), (5, 6))
    assert found.held_out == (20, 39)
    assert found.compared == (10 + 5, 10 + 10)


def test_no_more_than_asked_for_are_compared(real: tuple[GraphBatch, ...]) -> None:
    train, held_out, further = real
    found = structure_realism(further, train, held_out, per_size=30)
    assert found.compared == (30, 30)
    assert found.held_out == (50, 50)


def test_floors_do_not_depend_on_what_is_generated(real: tuple[GraphBatch, ...]) -> None:
    train, held_out, further = real
    strange = replace(further, label=torch.full_like(further.label, -1))
    one, other = (structure_realism(batch, train, held_out) for batch in (further, strange))
    assert one.floor == other.floor
    assert other.value["node_token"] > 10 * one.value["node_token"]


def test_no_common_size() -> None:
    with pytest.raises(DignnError, match="No size occurs"):
        structure_realism(PATH, PATH, batch_of(PLAIN, [0], {}))


def test_as_json(real: tuple[GraphBatch, ...]) -> None:
    found: StructureRealism = structure_realism(real[2], *real[:2])
    again = json.loads(json.dumps(asdict(found)))
    assert again["value"] == found.value
    assert again["groups"] == [[8], [9]]


def test_the_class_of_the_whole_graph_is_no_structure() -> None:
    labelled = replace(PATH, graph_label=torch.tensor([1]))
    assert new_share(labelled, PATH) == 0
    assert new_share(PATH[:0], PATH) is None


def new_share(graphs: GraphBatch, known: GraphBatch) -> float | None:
    reality = Reality(seed=Seed(0), train_names=frozenset(names_of(known)))
    return novelty(MeasuredGraphs(has=frozenset({"structure"}), names=names_of(graphs)), reality)
