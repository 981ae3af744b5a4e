"""Parts of real graphs: communities with types, relations and classes kept; the same bits for the same seed."""

from __future__ import annotations

import random
from dataclasses import replace

import igraph
import networkx as nx
import numpy as np
import pytest
import torch

from dignn.core.seeds import Seed
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.isomorphism import isomorphic as same_graph
from dignn.graphs.plain_graph import PlainGraph, plain_graphs
from dignn.graphs.schema import Relation
from dignn.sampling.forest_fire import forest_fire
from dignn.selection.motifs import mining
from dignn.selection.motifs.matching import contains
from dignn.selection.motifs.mining import (
    COMMON,
    LEAST_NODES,
    LEAST_PARTS,
    PER_CLASS,
    PER_GRAPH_CLASS,
    SMALL_GRAPH,
    Parts,
    graph_classes,
)
from dignn.selection.motifs.sets import MotifSets, isomorphic, motif_graph
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from strategies import batch_of, plain_schema

TWO_TYPES = plain_schema(
    (Relation("a", "to", "b", "to"), Relation("b", "near", "b", "near"), Relation("b", "cites", "b", directed=True)),
    node_types=("a", "b"),
    target="a",
)
TO, NEAR, CITES = 1, 2, 3


def fires(dataset: Dataset, per_size: int = 100, seed: int = 0) -> GraphBatch:
    return forest_fire(Adjacency.build(dataset.data, dataset.schema), (9, 11), per_size, seed=Seed(seed))


@pytest.fixture(scope="module")
def planted() -> tuple[Dataset, GraphBatch]:
    """Several types, a directed relation, classes that graphs can be divided by."""
    dataset = load("planted")
    return dataset, fires(dataset, 150)


@pytest.fixture(scope="module")
def trees() -> tuple[Dataset, GraphBatch]:
    """One type, every node classified."""
    dataset = load("tree-cycle")
    return dataset, fires(dataset)


def near_clique(nodes: list[int], relation: int = NEAR) -> dict[tuple[int, int], int]:
    """All pairs; of directed relations from the first to the second."""
    return {(u, v): relation for place, u in enumerate(nodes) for v in nodes[place + 1 :]}


def two_cliques(labels: tuple[int, int], *, second: int = NEAR) -> GraphBatch:
    """Two a, each at one of two cliques of b that a single edge joins."""
    edges = near_clique([1, 2, 3, 4]) | near_clique([6, 7, 8, 9], second) | {(4, 6): NEAR}
    edges |= {(0, node): TO for node in (1, 2, 3, 4)} | {(5, node): TO for node in (6, 7, 8, 9)}
    return batch_of(TWO_TYPES, [0, 1, 1, 1, 1] * 2, edges, labels={0: labels[0], 5: labels[1]})


def clique(label: int, relation: int = NEAR, size: int = 5) -> GraphBatch:
    """An a at a clique of b: one community."""
    others = list(range(1, size))
    edges = near_clique(others, relation) | {(0, node): TO for node in others}
    return batch_of(TWO_TYPES, [0] + [1] * len(others), edges, labels={0: label})


def cat(graphs: list[GraphBatch]) -> GraphBatch:
    return GraphBatch.cat(graphs).check()


def same_batch(one: GraphBatch, other: GraphBatch) -> bool:
    return all(torch.equal(getattr(one, name), getattr(other, name)) for name in ("node_type", "edge", "label"))


def same_motifs(one: MotifSets, other: MotifSets) -> bool:
    pairs = [zip(*several, strict=True) for several in zip(one.by_class, other.by_class, strict=True)]
    return all(
        np.array_equal(a.relation, b.relation) and np.array_equal(a.types, b.types)
        for several in pairs
        for a, b in several
    )


# -- parts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planted", "trees"])
def test_parts_are_connected_induced_subgraphs_of_one_graph(name: str, request: pytest.FixtureRequest) -> None:
    _, real = request.getfixturevalue(name)
    found = Parts(real, seed=Seed(0))._all.check()
    assert int(found.mask.sum()) <= int(real.mask.sum())
    plain = plain_graphs(found)
    assert all(nx.is_connected(nx.from_numpy_array(part.adjacency)) for part in plain)
    assert contains(plain_graphs(real), plain, typed=True, induced=True).any(0).all()
    assert found.tables == {}


def test_the_parts_of_a_graph_are_its_communities_with_types_relations_and_labels() -> None:
    real = two_cliques((0, 1), second=CITES)
    found = Parts(real, seed=Seed(0))._all.check()
    assert len(found) == 2
    for expected in (clique(0), clique(1, CITES)):
        assert [same_graph(found[number], expected) for number in range(2)].count(True) == 1
    assert not same_graph(clique(1), clique(1, CITES))


def test_orientations_are_kept() -> None:
    """Everybody cites everybody, in a circle or down a ladder."""
    ladder = clique(1, CITES, size=4)
    edge = ladder.edge.clone()
    edge[0, 1, 3], edge[0, 3, 1] = 0, CITES
    circle = replace(ladder, edge=edge)
    assert not same_graph(ladder, circle)
    for real in (ladder, circle):
        (found,) = [Parts(real, seed=Seed(0))._all]
        assert len(found) == 1
        assert same_graph(found, real)


@pytest.mark.parametrize(("sizes", "least"), [((10, 12), 4), ((9, 12), 3)])
def test_parts_of_small_graphs_may_be_smaller(sizes: tuple[int, ...], least: int) -> None:
    dataset = load("tree-cycle")
    real = forest_fire(Adjacency.build(dataset.data, dataset.schema), sizes, 60, seed=Seed(0))
    found = Parts(real, seed=Seed(0))._all
    assert int(found.sizes.min()) == least == LEAST_NODES[min(sizes) >= SMALL_GRAPH]


def test_padding_before_nodes_does_no_harm() -> None:
    real = cat([two_cliques((0, 1)), clique(0, CITES)])
    moved = real.permute(torch.arange(9, -1, -1).repeat(2, 1)).check()
    found = Parts(moved, seed=Seed(0))._all.check()
    assert sorted(found.sizes.tolist()) == [5, 5, 5]
    assert any(same_graph(found[number], clique(0, CITES)) for number in range(3))


def test_graphs_without_a_part() -> None:
    small = batch_of(TWO_TYPES, [0, 1], {(0, 1): TO}, labels={0: 1})
    found = Parts(cat([small] * 3), seed=Seed(0))
    assert [len(parts) for parts in found.by_class] == [0, 0]
    assert found.motifs().by_class == found.class_typed().by_class == ((), ())
    assert [(len(typical.parts), len(typical.count)) for typical in found.frequent(5)] == [(0, 0), (0, 0)]


# -- classes ------------------------------------------------------------------------------------------


def test_the_class_of_a_graph_is_that_of_all_its_target_nodes() -> None:
    graphs = [two_cliques(labels) for labels in ((0, 0), (1, 1), (0, 1), (1, -1), (-1, -1))]
    assert graph_classes(cat(graphs)).tolist() == [0, 1, -1, 1, -1]


def test_the_class_of_a_graph_is_its_own_where_graphs_are_classified() -> None:
    schema = plain_schema()
    graphs = [batch_of(schema, [0, 0], {(0, 1): 1}, graph_label=label) for label in (1, 0, -1)]
    assert graph_classes(cat(graphs)).tolist() == [1, 0, -1]


def test_parts_of_a_class_are_those_of_graphs_of_that_class_alone() -> None:
    one, other, mixed = clique(0), clique(1, size=6), two_cliques((0, 1))
    found = Parts(cat([one] * LEAST_PARTS + [other] * (LEAST_PARTS + 3) + [mixed] * 8), seed=Seed(0))
    assert not found.common
    assert [len(parts) for parts in found.by_class] == [LEAST_PARTS, LEAST_PARTS + 3]
    assert set(found.by_class[0].sizes.tolist()) == {5}
    assert set(found.by_class[1].sizes.tolist()) == {6}


def test_a_class_with_too_few_parts_makes_them_common() -> None:
    found = Parts(cat([clique(0)] * (LEAST_PARTS - 1) + [clique(1)] * 30), seed=Seed(0))
    assert found.common
    assert [len(parts) for parts in found.by_class] == [LEAST_PARTS + 29] * 2
    assert found.motifs().common
    assert found.class_typed().common


def test_parts_are_common_where_every_node_is_classified(
    trees: tuple[Dataset, GraphBatch], planted: tuple[Dataset, GraphBatch]
) -> None:
    assert Parts(trees[1], seed=Seed(0)).common
    assert not Parts(planted[1], seed=Seed(0)).common


# -- motifs -------------------------------------------------------------------------------------------


def test_without_truth_no_two_motifs_of_a_class_are_the_same(planted: tuple[Dataset, GraphBatch]) -> None:
    found = Parts(planted[1], seed=Seed(0))
    motifs = found.motifs()
    assert not motifs.common
    for number, several in enumerate(motifs.by_class):
        assert len(several) == PER_CLASS
        assert np.array_equal(isomorphic(several, several), np.eye(len(several), dtype=bool))
        own = plain_graphs(found.by_class[number])
        assert isomorphic(several, own).any(1).all()
        # the first ones of each kind: a random draw, in which frequent kinds come early
        assert np.array_equal(several[0].relation, own[0].relation)


def test_graphs_that_are_classified_have_more_motifs() -> None:
    rng, schema = np.random.default_rng(0), plain_schema()
    graphs = []
    for number in range(300):
        tree = nx.random_labeled_tree(9, seed=int(rng.integers(2**31)))
        graphs.append(batch_of(schema, [0] * 9, dict.fromkeys(tree.edges, 1), graph_label=number % 2))
    found = Parts(cat(graphs), seed=Seed(0))
    kinds = [len(isomorphic_kinds(plain_graphs(parts))) for parts in found.by_class]
    assert [len(several) for several in found.motifs().by_class] == [min(PER_GRAPH_CLASS, number) for number in kinds]


def isomorphic_kinds(graphs: list[PlainGraph]) -> list[int]:
    """Sizes of the sets of equal graphs, by an exact test of every pair."""
    same, left, sizes = isomorphic(graphs, graphs), set(range(len(graphs))), []
    while left:
        alike = set(np.flatnonzero(same[min(left)]))
        sizes.append(len(alike))
        left -= alike
    return sorted(sizes, reverse=True)


def test_with_truth_the_shapes_come_first_and_parts_that_hold_them(planted: tuple[Dataset, GraphBatch]) -> None:
    dataset, real = planted
    assert dataset.truth is not None
    motifs = Parts(real, seed=Seed(0)).motifs(dataset.truth)
    for several, shapes in zip(motifs.by_class, dataset.truth.motifs, strict=True):
        planned = [motif_graph(shape, dataset.schema) for shape in shapes]
        assert isomorphic(several[: len(planned)], planned).diagonal().all()
        assert len(planned) < len(several) <= PER_CLASS
        assert contains(several, planned, typed=True).any(1).all()


def test_common_motifs_with_truth(trees: tuple[Dataset, GraphBatch]) -> None:
    dataset, real = trees
    assert dataset.truth is not None
    parts = Parts(real, seed=Seed(0))
    motifs = parts.motifs(dataset.truth)
    (shape,) = [motif_graph(motif, dataset.schema) for several in dataset.truth.motifs for motif in several]
    assert motifs.common
    several = motifs.by_class[0]
    assert len(several) == COMMON
    assert isomorphic(several[:1], [shape]).all()
    # around shapes first, then from the tree: most nodes of a part are of the class with a shape, or most are not
    label = parts._all.label
    planted = (label == 1).sum(1) * 2 > (label >= 0).sum(1)
    around, others = (plain_graphs(parts._all[mask]) for mask in (planted, ~planted))
    number = COMMON * 2 // 3
    assert isomorphic(several[1:number], around).any(1).all()
    assert isomorphic(several[number:], others).any(1).all()
    assert len(parts.motifs().by_class[0]) == COMMON


def test_the_class_of_a_node_is_part_of_its_type_in_class_typed_motifs(planted: tuple[Dataset, GraphBatch]) -> None:
    dataset, real = planted
    types = len(dataset.schema.node_types)
    motifs = Parts(real, seed=Seed(0)).class_typed()
    for number, several in enumerate(motifs.by_class):
        kinds = {int(kind) for motif in several for kind in motif.types}
        assert types + number in kinds
        assert kinds <= {*range(1, types), types + number}  # authors are the first type, and all are of this class


# -- how often ----------------------------------------------------------------------------------------


def test_counts_of_frequent_parts_add_up(planted: tuple[Dataset, GraphBatch]) -> None:
    found = Parts(planted[1], seed=Seed(0))
    for typical, own in zip(found.frequent(10_000), found.by_class, strict=True):
        plain = plain_graphs(own)
        assert typical.count.sum() == len(own)
        assert typical.count.tolist() == isomorphic_kinds(plain)
        assert isomorphic(typical.parts, plain).sum(1).tolist() == typical.count.tolist()
    for few, every in zip(found.frequent(3), found.frequent(10_000), strict=True):
        assert few.count.tolist() == every.count[:3].tolist()
        assert isomorphic(few.parts, every.parts[:3]).diagonal().all()


def test_classes_of_nodes_do_not_divide_frequent_parts(trees: tuple[Dataset, GraphBatch]) -> None:
    found = Parts(trees[1], seed=Seed(0))
    one, other = found.frequent(4)
    assert one is other
    assert np.array_equal(isomorphic(one.parts, one.parts), np.eye(len(one.parts), dtype=bool))


# -- randomness ---------------------------------------------------------------------------------------


def test_same_seed_same_bits_whatever_igraph_and_python_drew_before(
    planted: tuple[Dataset, GraphBatch], trees: tuple[Dataset, GraphBatch]
) -> None:
    for dataset, real in (planted, trees):
        found = []
        for number in (1, 2):
            random.seed(number)
            igraph.set_random_number_generator(random.Random(number) if number == 1 else random)
            igraph.Graph.Erdos_Renyi(20, 0.3)
            found.append(Parts(real, seed=Seed(0)))
        one, other = found
        assert same_batch(one._all, other._all)
        assert same_motifs(one.motifs(dataset.truth), other.motifs(dataset.truth))
        assert same_motifs(one.class_typed(), other.class_typed())


def test_another_seed_another_order(planted: tuple[Dataset, GraphBatch]) -> None:
    one, other = (Parts(planted[1], seed=Seed(number))._all for number in (0, 1))
    assert not (one.node_type.shape == other.node_type.shape and same_batch(one, other))


def test_pythons_random_state_is_not_disturbed(planted: tuple[Dataset, GraphBatch]) -> None:
    random.seed(5)
    before = random.getstate()
    Parts(planted[1][:50], seed=Seed(0)).motifs(planted[0].truth)
    assert random.getstate() == before


def test_igraph_has_its_usual_generator_again_even_if_mining_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn() -> list[tuple[int, int]]:
        random.seed(7)
        return list(igraph.Graph.Erdos_Renyi(12, 0.4).get_edgelist())

    igraph.set_random_number_generator(random)
    expected = drawn()

    class Broken(igraph.Graph):
        def community_multilevel(self, *_: object, **__: object) -> None:
            raise RuntimeError("out of memory")

    monkeypatch.setattr(mining.igraph, "Graph", Broken)
    with pytest.raises(RuntimeError, match="out of memory"):
        Parts(two_cliques((0, 1)), seed=Seed(0))
    monkeypatch.undo()
    assert drawn() == expected
