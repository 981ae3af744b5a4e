"""Matching agrees with networkx on every kind of small graph, gives the published values, and never hangs."""

from __future__ import annotations

import inspect
import json
import os
import sys
import time
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networkx.algorithms.isomorphism import DiGraphMatcher, GraphMatcher, categorical_edge_match, categorical_node_match

from dignn.core.errors import DignnError
from dignn.graphs.plain_graph import PlainGraph, plain_graphs
from dignn.graphs.schema import Relation
from dignn.selection.motifs import groups as groups_module
from dignn.selection.motifs import matching as matching_module
from dignn.selection.motifs.groups import Steps, counted, independent
from dignn.selection.motifs.matching import Matcher, contains
from strategies import PROPERTY, batches, plain_schema, schemas

PARITY = os.environ.get("DIGNN_PARITY")
needs_parity = pytest.mark.skipif(not PARITY, reason="needs the published graphs; set DIGNN_PARITY to their folder")
MODES = [(typed, induced) for typed in (True, False) for induced in (True, False)]


# -- against networkx ---------------------------------------------------------------------------------


def by_networkx(graph: PlainGraph, motif: PlainGraph, *, typed: bool, induced: bool) -> bool:
    if typed:
        pair = [nx.DiGraph(), nx.DiGraph()]
        for made, plain in zip(pair, (graph, motif), strict=True):
            made.add_nodes_from((v, {"kind": int(kind)}) for v, kind in enumerate(plain.types))
            made.add_edges_from((u, v, {"code": int(plain.relation[u, v])}) for u, v in np.argwhere(plain.relation))
        matcher = DiGraphMatcher(*pair, categorical_node_match("kind", 0), categorical_edge_match("code", 0))
    else:
        matcher = GraphMatcher(*(nx.from_numpy_array(plain.adjacency) for plain in (graph, motif)))
    return bool(matcher.subgraph_is_isomorphic() if induced else matcher.subgraph_is_monomorphic())


@st.composite
def typed_graphs(draw: st.DrawFn, smallest: int, largest: int) -> PlainGraph:
    """Any arcs, in both directions with the same or another code, and self-loops."""
    size = draw(st.integers(smallest, largest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds, codes = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    density = draw(st.sampled_from([0.15, 0.3, 0.6]))
    relation = rng.integers(1, codes + 1, (size, size)) * (rng.random((size, size)) < density)
    if draw(st.booleans()):
        relation = np.triu(relation) + np.triu(relation, 1).T
    if draw(st.booleans()):
        np.fill_diagonal(relation, 0)
    return PlainGraph.from_relation(relation, rng.integers(0, kinds, size))


@given(
    graphs=st.lists(typed_graphs(1, 9), min_size=1, max_size=4),
    motifs=st.lists(typed_graphs(1, 5), min_size=1, max_size=4),
)
@settings(PROPERTY, max_examples=30)
@pytest.mark.parametrize(("typed", "induced"), MODES)
def test_agrees_with_networkx(graphs: list[PlainGraph], motifs: list[PlainGraph], typed: bool, induced: bool) -> None:
    expected = [[by_networkx(graph, motif, typed=typed, induced=induced) for motif in motifs] for graph in graphs]
    assert contains(graphs, motifs, typed=typed, induced=induced).tolist() == expected


@given(data=st.data())
@settings(PROPERTY, max_examples=25)
@pytest.mark.parametrize(("typed", "induced"), MODES)
def test_parts_of_graphs_with_directed_relations(data: st.DataObject, typed: bool, induced: bool) -> None:
    """Motifs are cut out of real batches, some with an edge less, so that many are contained and many nearly so."""
    schema = (
        schemas()
        if data.draw(st.booleans())
        else plain_schema((Relation("node", "to", "node", "to"), Relation("node", "cites", "node", directed=True)))
    )
    graphs = plain_graphs(data.draw(batches(schema, min_graphs=1, max_graphs=3, min_nodes=1, max_nodes=10)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    motifs = []
    for graph in graphs:
        part = graph.part(rng.permutation(len(graph))[: rng.integers(1, 7)])
        relation = part.relation.copy()
        if rng.random() < 0.5:
            u, v = rng.integers(0, len(part), 2)
            relation[u, v] = relation[v, u] = 0
        motifs += [part, PlainGraph.from_relation(relation, part.types)]
    found = contains(graphs, motifs, typed=typed, induced=induced)
    expected = [[by_networkx(graph, motif, typed=typed, induced=induced) for motif in motifs] for graph in graphs]
    assert found.tolist() == expected
    assert all(found[number, 2 * number] for number in range(len(graphs)))


@given(st.lists(typed_graphs(0, 7), max_size=5), st.lists(typed_graphs(0, 4), max_size=4), st.booleans(), st.booleans())
@PROPERTY
def test_a_pair_does_not_depend_on_the_others(
    graphs: list[PlainGraph], motifs: list[PlainGraph], typed: bool, induced: bool
) -> None:
    together = contains(graphs, motifs, typed=typed, induced=induced)
    assert together.shape == (len(graphs), len(motifs))
    for row, graph in zip(together, graphs, strict=True):
        assert [bool(contains([graph], [motif], typed=typed, induced=induced)) for motif in motifs] == row.tolist()


@given(st.lists(typed_graphs(0, 6), max_size=5), st.lists(typed_graphs(0, 4), max_size=3), st.booleans(), st.booleans())
@PROPERTY
def test_a_matcher_that_remembers_finds_what_a_new_one_finds(
    graphs: list[PlainGraph], motifs: list[PlainGraph], typed: bool, induced: bool
) -> None:
    matcher = Matcher(motifs, typed=typed, induced=induced)
    for some in (graphs[:2], graphs, graphs[::-1]):
        assert matcher.found_in(some).tolist() == contains(some, motifs, typed=typed, induced=induced).tolist()


def test_a_graph_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    search = matching_module._Language.search
    monkeypatch.setattr(
        matching_module._Language, "search", lambda self, graphs: searched.append(len(graphs)) or search(self, graphs)
    )
    matcher = Matcher([path(2), star(3)], typed=True)
    for graphs in ([path(4), star(4)], [star(4), path(4), path(4)], [path(5), star(4)]):
        matcher.found_in(graphs)
    assert searched == [2, 1]


def test_little_memory_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, motifs = [path(length) for length in range(2, 9)], [path(3), star(3)]
    whole = contains(graphs, motifs, typed=True)
    monkeypatch.setattr(matching_module, "_COMPARED", 1)
    assert contains(graphs, motifs, typed=True).tolist() == whole.tolist()


# -- what is known ------------------------------------------------------------------------------------


def star(leaves: int, kinds: tuple[int, ...] = (0,)) -> PlainGraph:
    types = [0, *(kinds[i % len(kinds)] for i in range(leaves))]
    return PlainGraph.from_edges(leaves + 1, [(0, i) for i in range(1, leaves + 1)], types)


def complete(size: int) -> PlainGraph:
    return PlainGraph.from_edges(size, [(u, v) for u in range(size) for v in range(u)])


def path(size: int) -> PlainGraph:
    return PlainGraph.from_edges(size, [(i, i + 1) for i in range(size - 1)])


def test_a_motif_without_nodes_is_everywhere_and_an_empty_graph_has_nothing_else() -> None:
    empty = PlainGraph.from_edges(0, [])
    assert contains([empty, star(2)], [empty, path(1)], typed=True).tolist() == [[True, False], [True, True]]
    assert contains([], [path(2)], typed=True).shape == (0, 1)
    assert contains([path(2)], [], typed=True).shape == (1, 0)


def test_an_induced_path_is_not_in_a_complete_graph_but_otherwise_it_is() -> None:
    assert not contains([complete(6)], [path(3)], typed=False)[0, 0]
    assert contains([complete(6)], [path(3)], typed=False, induced=False)[0, 0]


def test_self_loops_must_agree() -> None:
    plain, looped = PlainGraph.from_edges(2, [(0, 1)]), PlainGraph.from_edges(2, [(0, 1), (0, 0)])
    assert contains([plain, looped], [plain, looped], typed=False).tolist() == [[True, False], [False, True]]
    mono = contains([plain, looped], [plain, looped], typed=False, induced=False)
    assert mono.tolist() == [[True, False], [True, True]]


def test_orientation_and_relation_count_only_where_types_do() -> None:
    types = np.array([0, 0, 1])
    there = PlainGraph.from_relation(np.array([[0, 2, 1], [0, 0, 1], [1, 1, 0]]), types)
    back = PlainGraph.from_relation(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), types)
    chain = PlainGraph.from_relation(np.array([[0, 2, 0], [0, 0, 2], [0, 0, 0]]), np.zeros(3, int))
    fork = PlainGraph.from_relation(np.array([[0, 2, 2], [0, 0, 0], [0, 0, 0]]), np.zeros(3, int))
    assert contains([there, back], [there, back], typed=True).tolist() == [[True, False], [False, True]]
    assert contains([chain, fork], [chain, fork], typed=True).tolist() == [[True, False], [False, True]]
    assert contains([chain, fork], [chain, fork], typed=False).all()


@pytest.mark.parametrize("bound", [5, 20])
def test_random_graphs_with_more_nodes_than_a_machine_word(bound: int) -> None:
    rng = np.random.default_rng(bound)
    relation = np.triu(rng.random((100, 100)) < 0.05, 1).astype(int)
    graph = PlainGraph.from_relation(relation + relation.T, rng.integers(0, 3, 100))
    part = graph.part(rng.permutation(100)[:bound])
    assert contains([graph], [part], typed=True)[0, 0]


# -- never hangs --------------------------------------------------------------------------------------


def test_twins_and_dense_graphs_are_decided_at_once() -> None:
    rng = np.random.default_rng(0)
    dense = np.triu(rng.random((20, 20)) < 0.9, 1).astype(int)
    dense_graph = PlainGraph.from_relation(dense + dense.T, np.zeros(20, int))
    both = PlainGraph.from_edges(16, [(i, j) for i in (0, 1) for j in range(2, 16)])
    fewer = PlainGraph.from_edges(15, [(i, j) for i in (0, 1) for j in range(2, 15)])
    two_stars = PlainGraph.from_edges(16, [(0, i) for i in range(2, 9)] + [(1, i) for i in range(9, 16)])
    cases = [
        (star(13), star(14), False, False),
        (star(13, (1, 2)), star(13, (1, 1, 2)), False, False),
        (fewer, both, False, False),
        (both, fewer, True, True),
        (fewer, two_stars, False, False),  # 13 shared neighbours are not 14, whichever way they are divided
        (both, two_stars, False, True),
        (dense_graph, path(10), False, True),
        (dense_graph, star(9), False, True),
        (dense_graph, PlainGraph.from_edges(10, []), False, True),
    ]
    begin = time.perf_counter()
    for graph, motif, induced, mono in cases:
        assert contains([graph], [motif], typed=True)[0, 0] == induced
        assert contains([graph], [motif], typed=True, induced=False)[0, 0] == mono
    assert time.perf_counter() - begin < 2


def wheel(rim: int, kinds: tuple[int, ...] = (0,)) -> PlainGraph:
    """A hub of type 0 joined to every node of a ring, whose nodes are in any order."""
    order = (np.random.default_rng(rim).permutation(rim) + 1).tolist()
    types = np.zeros(rim + 1, int)
    types[order] = [kinds[i % len(kinds)] for i in range(rim)]
    ring = [(order[i], order[i - 1]) for i in range(rim)]
    return PlainGraph.from_edges(rim + 1, ring + [(0, i) for i in order], types.tolist())


@pytest.mark.parametrize("rim", [26, 27, 60, 61])
def test_half_of_a_rim_is_not_adjacent_and_no_more(rim: int) -> None:
    stars = [star(rim // 2), star(rim // 2 + 1), star(rim), star(rim + 1)]
    begin = time.process_time()
    assert contains([wheel(rim)], stars, typed=False)[0].tolist() == [True, False, False, False]
    assert contains([wheel(rim)], stars, typed=False, induced=False)[0].tolist() == [True, True, True, False]
    assert time.process_time() - begin < 1  # milliseconds


def test_rings_that_are_apart_are_not_tried_in_every_way() -> None:
    """Ten rings of five nodes around a hub: two of each can be taken, three cliques are needed to cover each."""
    rings = [(5 * r + i + 1, 5 * r + (i + 1) % 5 + 1) for r in range(10) for i in range(5)]
    graph = PlainGraph.from_edges(51, rings + [(0, i) for i in range(1, 51)])
    begin = time.process_time()
    assert contains([graph], [star(20), star(21)], typed=False)[0].tolist() == [True, False]
    assert time.process_time() - begin < 1


def test_a_rim_of_two_types() -> None:
    """Of a rim of types 1, 2, 1, 2, ... a change from one to the other costs a node, on both sides of a run."""

    def leaves(ones: int, twos: int) -> PlainGraph:
        return PlainGraph.from_edges(
            ones + twos + 1, [(0, i + 1) for i in range(ones + twos)], [0] + [1] * ones + [2] * twos
        )

    cases = [(12, 0, True), (13, 0, False), (6, 6, False), (6, 5, True), (11, 1, False), (10, 1, True)]
    found = contains([wheel(24, (1, 2))], [leaves(ones, twos) for ones, twos, _ in cases], typed=True)
    assert found[0].tolist() == [expected for _, _, expected in cases]


@pytest.fixture
def low_stack() -> Iterator[None]:
    """A hundred calls are all that there is room for."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 100)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("low_stack")
def test_large_motifs_do_not_exhaust_the_stack() -> None:
    for induced in (True, False):
        assert contains([wheel(300)], [star(145)], typed=False, induced=induced)[0, 0]
        assert contains([path(170)], [path(160)], typed=False, induced=induced)[0, 0]
    sets = tuple(((1 << i) | (2 << i), 1) for i in range(300))  # each fits in two places, one of them the next one's
    assert counted((*sets, (1, 1)), Steps(301))
    assert not counted((*sets, (1, 2)), Steps(302))


def test_a_search_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups_module, "MOST_STEPS", 2000)
    with pytest.raises(DignnError, match="A motif of 31 nodes is too hard .* use smaller motifs or graphs"):
        contains([wheel(60, (1, 2))], [star(30, (1, 2))], typed=True)
    rng = np.random.default_rng(0)
    dense = np.triu(rng.random((30, 30)) < 0.5, 1).astype(int)
    with pytest.raises(DignnError, match="A motif of 12 nodes is too hard"):
        contains([PlainGraph.from_relation(dense + dense.T, np.zeros(30, int))], [path(12)], typed=False)


@given(data=st.data())
@settings(PROPERTY, max_examples=50)
def test_groups_against_every_choice(data: st.DataObject) -> None:
    """Small groups: the same answer as trying every choice of candidates, adjacent or not."""
    size = data.draw(st.integers(1, 9))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    upper = np.triu(rng.random((size, size)) < data.draw(st.sampled_from([0.1, 0.25, 0.5])), 1)
    adjacency = upper | upper.T
    joined = [bits(row) for row in adjacency]
    number = data.draw(st.integers(1, 3))
    needs = rng.integers(1, 4, number).tolist()
    apart = rng.integers(0, number, size)  # groups without a common candidate
    shared = rng.random((number, size)) < 0.5  # groups that may have some
    disjoint = tuple((bits(apart == g), need) for g, need in enumerate(needs))
    overlapping = tuple((bits(shared[g]), need) for g, need in enumerate(needs))
    members = [np.flatnonzero(apart == g).tolist() for g in range(number)]
    assert independent(disjoint, joined, Steps(0)) == any(
        not adjacency[np.ix_(nodes, nodes)].any()
        for choice in product(*(combinations(some, need) for some, need in zip(members, needs, strict=True)))
        for nodes in [[v for part in choice for v in part]]
    )
    places = [np.flatnonzero(shared[g]).tolist() for g in range(number)]
    assert counted(overlapping, Steps(0)) == any(
        len({v for part in choice for v in part}) == sum(needs)
        for choice in product(*(combinations(some, need) for some, need in zip(places, needs, strict=True)))
    )


def bits(member: np.ndarray) -> int:
    return sum(1 << int(v) for v in np.flatnonzero(member))


def test_many_pairs_in_little_time() -> None:
    rng = np.random.default_rng(0)
    trees = [
        PlainGraph.from_edges(15, list(nx.random_labeled_tree(15, seed=number).edges), rng.integers(0, 4, 15).tolist())
        for number in range(300)
    ]
    motifs = [tree.part(rng.permutation(15)[:8]) for tree in trees[:40]]
    begin = time.perf_counter()
    found = contains(trees, motifs, typed=True)
    assert time.perf_counter() - begin < 3  # a tenth of a second on a quiet core
    assert found[range(40), range(40)].all()


# -- published values ---------------------------------------------------------------------------------


def published(name: str) -> Any:
    return json.loads((Path(str(PARITY)) / name).read_text())


def plain(raw: dict[str, Any]) -> PlainGraph:
    return PlainGraph.from_edges(raw["n"], raw["edges"], raw.get("types"))


@needs_parity
def test_published_graphs_give_the_published_hits() -> None:
    graphs, expected, checked = published("graphs.json"), published("expected.json")["gf"], 0
    for dataset, explainers in expected.items():
        motifs = {name: [plain(raw) for raw in several] for name, several in graphs["motifs"][dataset].items()}
        for explainer, modes in explainers.items():
            for mode, value in modes.items():
                found = [
                    contains(
                        [plain(raw) for raw in several],
                        motifs.get(name, motifs.get("common", [])),
                        typed=mode.endswith("_typed"),
                        induced=mode.startswith("induced"),
                    ).mean(1)
                    for name, several in graphs["explanations"][dataset][explainer].items()
                ]
                assert [float(np.mean(hits)) for hits in found] == pytest.approx(value["per_class"], abs=1e-12)
                assert [float(np.max(hits)) for hits in found] == pytest.approx(value["per_class_max"], abs=1e-12)
                checked += 1
    assert checked >= 16
