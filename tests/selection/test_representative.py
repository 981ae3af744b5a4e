"""The default rule: like real members, nearly the highest score, typical first, then covering the class."""

from __future__ import annotations

import math
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.core.seeds import Seed
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureSpec
from dignn.graphs.isomorphism import isomorphic
from dignn.graphs.plain_graph import plain_graphs
from dignn.graphs.schema import Relation, Schema
from dignn.model.scores import Scores
from dignn.selection.candidates import Candidates
from dignn.selection.highest import Choice, select_highest
from dignn.selection.members import Members
from dignn.selection.motifs.mining import FrequentParts
from dignn.selection.representative import Representative, _cover, select_representative
from networkx_graphs import from_networkx
from strategies import PROPERTY, batch_of, plain_schema

RELATIONS = (Relation("a", "to", "b", reverse="to"), Relation("b", "near", "b", reverse="near"))
SCHEMA = Schema(
    node_types=("a", "b"),
    relations=RELATIONS,
    features=(FeatureSpec(), FeatureSpec()),
    classes=("one", "two"),
    target="a",
)
CENTRES = np.array([[0.0, 0.0], [10.0, 0.0]])  # of the members of the classes
SURE = 5.0  # logits of members are about this


def path(length: int, *, closed: bool = False) -> nx.Graph:
    """A target node and a chain of b; no two lengths are isomorphic. Closed: the last three b are a triangle."""
    graph = nx.path_graph(length + 1)
    nx.set_node_attributes(graph, {node: "b" if node else "a" for node in graph}, "type")
    if closed:
        graph.add_edge(length, length - 2)
    nx.set_edge_attributes(graph, {(u, v): 2 if min(u, v) else 1 for u, v in graph.edges}, "relation")
    return graph


def members_of(number: int, count: int = 60, seed: int = 0) -> Members:
    rng = np.random.default_rng([seed, number])
    embedding = rng.normal(size=(count, 2)) + CENTRES[number]
    logits = torch.zeros(count, 2)
    logits[:, number] = torch.from_numpy(SURE + rng.normal(size=count)).float()
    nodes = batch_of(plain_schema(target="node"), [0], {}, labels={0: number})
    every = torch.arange(count)
    batch = GraphBatch.cat([nodes] * count)
    batch.row[:, 0] = every
    scores = Scores(every, torch.zeros_like(every), logits, torch.from_numpy(embedding).float(), batch.schema.task)
    return Members.of(number, scores, batch, Seed(0))


def two_groups() -> Members:
    """Members of class 0 in two places."""
    groups = np.concatenate([np.zeros((20, 2)), np.full((20, 2), 4.0)])
    sure = np.linspace(2, 7, 40)
    return Members(0, sure, sure, groups + np.random.default_rng(0).normal(size=(40, 2)) / 5, np.full(40, 0.5))


@pytest.fixture(scope="module")
def members() -> list[Members]:
    return [members_of(number) for number in range(2)]


class Made:
    """Graphs of one target node each, with what the model says of them."""

    def __init__(self) -> None:
        self.graphs: list[nx.Graph] = []
        self.logits: list[list[float]] = []
        self.points: list[list[float]] = []
        self.labels: list[int] = []

    def add(self, graph: nx.Graph, sure: float, point: np.ndarray, *, of: int = 0, label: int | None = None) -> None:
        self.graphs.append(graph)
        self.logits.append([sure, 0.0] if of == 0 else [0.0, sure])
        self.points.append([float(value) for value in point])
        self.labels.append(of if label is None else label)

    def made(self, order: list[int] | None = None) -> tuple[GraphBatch, Scores]:
        order = list(range(len(self.graphs))) if order is None else order
        batch = from_networkx([self.graphs[number] for number in order], SCHEMA)
        batch.label[batch.target_mask] = torch.tensor([self.labels[number] for number in order], dtype=torch.long)
        graph, node = batch.target_mask.nonzero(as_tuple=True)
        logits, points = (torch.tensor([values[n] for n in order]) for values in (self.logits, self.points))
        return batch, Scores(graph, node, logits.reshape(-1, 2), points.reshape(-1, 2), SCHEMA.task)


def realistic(count: int = 40, seed: int = 0, *, of: int = 0) -> Made:
    """Made that lie among the members of a class, of different probabilities."""
    rng, found = np.random.default_rng(seed), Made()
    for number in range(count):
        found.add(path(2 + number), float(rng.uniform(4.0, 6.0)), CENTRES[of] + rng.normal(size=2) / 3, of=of)
    return found


def _ranked(batch: GraphBatch, scores: Scores, known: Representative) -> list[list[Choice]]:
    return select_representative(Candidates(batch), scores, known, 30)


def numbers(choices: list[Choice]) -> list[int]:
    return [choice.graph for choice in choices]


def chosen(
    candidates: Made,
    members: list[Members],
    top_k: int,
    *,
    parts: list[FrequentParts] | None = None,
    tolerance: float = 1.0,
    of: int = 0,
) -> list[int]:
    batch, scores = candidates.made()
    return numbers(
        select_representative(Candidates(batch), scores, Representative(members, parts, tolerance), top_k)[of]
    )


# -- inside the real range ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sure", "point"),
    [(40.0, (50.0, 50.0)), (40.0, (0.0, 0.0)), (5.9, (50.0, 50.0))],
    ids=["surer and far", "surer", "far"],
)
def test_noise_is_never_chosen_and_the_papers_rule_takes_it(
    members: list[Members], sure: float, point: tuple[float, float]
) -> None:
    mixed = realistic(20)
    for number in range(30):
        mixed.add(path(60 + number, closed=True), sure + number / 10, np.array(point))
    assert max(chosen(mixed, members, 20)) < 20
    batch, scores = mixed.made()
    assert min(numbers(select_highest(Candidates(batch), scores, 20)[0])) >= 20
    # where real ones are not enough, others follow them
    longer = chosen(mixed, members, 30)
    assert sorted(longer[:20]) == list(range(20))
    assert len(set(longer)) == 30


def test_what_the_model_is_less_sure_of_than_of_members_is_not_chosen(members: list[Members]) -> None:
    mixed = realistic(12)
    for number in range(12):
        mixed.add(path(60 + number), 0.5, CENTRES[0])
    assert sorted(chosen(mixed, members, 12)) == list(range(12))


def test_what_the_model_puts_into_another_class_is_not_chosen(members: list[Members]) -> None:
    mixed = realistic(12)
    for number in range(12):
        mixed.add(path(60 + number), SURE, CENTRES[0])
        mixed.logits[-1][1] = SURE + 1
    assert sorted(chosen(mixed, members, 12)) == list(range(12))


def test_the_class_that_the_generator_meant_is_the_one_that_the_model_sees(members: list[Members]) -> None:
    mixed = realistic(24)
    for number in range(24):
        mixed.labels[number] = (0, 1, -1)[number % 3]  # unknown ones do no harm
    assert sorted(chosen(mixed, members, 16)) == [number for number in range(24) if number % 3 != 1]
    assert sorted(chosen(mixed, members, 24)) == list(range(24))


def test_a_graph_counts_with_its_best_target_node_inside_the_real_range(members: list[Members]) -> None:
    graph = nx.Graph([(0, 1), (0, 2), (0, 3)])
    nx.set_node_attributes(graph, {0: "b", 1: "a", 2: "a", 3: "a"}, "type")
    nx.set_edge_attributes(graph, 1, "relation")
    batch = from_networkx([graph], SCHEMA)
    logits = torch.tensor([[4.5, 0.0], [30.0, 0.0], [5.0, 0.0]])
    scores = Scores(*batch.target_mask.nonzero(as_tuple=True), logits, torch.zeros(3, 2), SCHEMA.task)
    known = Representative(members, None, 0.1)
    assert select_representative(Candidates(batch), scores, known, 5)[0] == [Choice(graph=0, score=2)]
    assert select_highest(Candidates(batch), scores, 5)[0] == [Choice(graph=0, score=1)]


# -- tolerance ----------------------------------------------------------------------------------------


def test_the_first_lies_within_the_tolerance(members: list[Members]) -> None:
    """Even numbers: p about .995 and at the border of the class; odd ones: p about .98 and in the middle of it."""
    mixed = Made()
    for number in range(60):
        sure = (5.3 if number % 2 == 0 else 3.9) + number / 1000
        mixed.add(path(2 + number), sure, CENTRES[0] + (1.0 if number % 2 == 0 else 0.0))
    strict = chosen(mixed, members, 15, tolerance=0.004)
    assert {number % 2 for number in strict} == {0}  # the others are more than three tolerances away
    assert chosen(mixed, members, 1, tolerance=0.01)[0] % 2 == 0
    assert chosen(mixed, members, 1, tolerance=0.05)[0] % 2 == 1  # nearer to members


@pytest.mark.parametrize("tolerance", [0.005, 0.01, 0.02])
@pytest.mark.parametrize("seed", range(3))
def test_the_mean_of_several_lies_within_the_tolerance_and_each_within_three(
    members: list[Members], tolerance: float, seed: int
) -> None:
    """The surest lie together; what covers the class is less sure, and some of it is chosen all the same."""
    rng, mixed = np.random.default_rng(seed), Made()
    for number in range(80):
        close = number < 20
        apart = np.full(2, number / 1000) if close else rng.normal(size=2) / 2
        mixed.add(path(2 + number), 5.5 if close else 3.0 + number / 40, CENTRES[0] + apart)
    _, scores = mixed.made()
    probability = scores.probability[:, 0].numpy()
    best = probability.max()
    found = probability[chosen(mixed, members, 10, tolerance=tolerance)]
    means = found.cumsum() / np.arange(1, 11)
    assert means.min() >= best - tolerance - 1e-6
    assert found.min() >= best - 3 * tolerance - 1e-6
    assert found.min() < best - tolerance  # single ones go further


def test_a_single_one_may_be_three_tolerances_away_once_the_mean_allows_it(members: list[Members]) -> None:
    """Ten graphs at one place, and one that is less sure and covers others; after two of the ten it is chosen."""
    known = two_groups()
    mixed = Made()
    for number in range(11):
        far = number == 10
        mixed.add(path(2 + number), 3.5 if far else 5.0, np.full(2, 4.0 * far))
    _, scores = mixed.made()
    probability = scores.probability[:, 0]
    away = float(probability[0] - probability[10])
    both = [known, members[1]]
    assert chosen(mixed, both, 3, tolerance=away / 2.5)[2] == 10
    assert 10 not in chosen(mixed, both, 9, tolerance=away / 3.5)


@pytest.mark.parametrize("seed", range(8))
def test_without_tolerance_equals_still_cover(members: list[Members], seed: int) -> None:
    rng, mixed = np.random.default_rng(seed), Made()
    sure = float(rng.uniform(4.0, 5.0))
    for number in range(12):
        mixed.add(path(2 + number), sure, CENTRES[0] + rng.normal(size=2) / 2)
    order = chosen(mixed, members, 12, tolerance=0.0)
    points = np.array(mixed.points)
    for number in range(1, 6):
        values = {place: covered([*order[:number], place], points, members[0]) for place in order[number:]}
        assert values[order[number]] == pytest.approx(max(values.values()))


def test_without_tolerance_the_surest_come_first(members: list[Members]) -> None:
    mixed = realistic(40)
    best = sorted(range(40), key=lambda number: -mixed.logits[number][0])
    assert chosen(mixed, members, 10, tolerance=0.0) == best[:10]


def test_the_range_is_given_up_before_the_score(members: list[Members]) -> None:
    """One graph lies inside; the next are as sure outside it, and only then those inside that are less sure."""
    mixed = Made()
    mixed.add(path(2), 5.0, CENTRES[0])
    for number in range(3):
        mixed.add(path(3 + number), 1.0, CENTRES[0])  # inside but for the score: p about .73
    for number in range(3):
        mixed.add(path(6 + number), 5.0, CENTRES[0] + 30.0)  # as sure, far from members
    first, *next_ones = chosen(mixed, members, 4, tolerance=0.05)
    assert (first, sorted(next_ones)) == (0, [4, 5, 6])
    assert sorted(chosen(mixed, members, 7, tolerance=0.05)[4:]) == [1, 2, 3]


# -- the first ----------------------------------------------------------------------------------------


def test_the_first_has_the_most_typical_structure(members: list[Members]) -> None:
    triangle = nx.complete_graph(3)
    nx.set_node_attributes(triangle, "b", "type")
    nx.set_edge_attributes(triangle, 2, "relation")
    motifs = plain_graphs(from_networkx([triangle, path(5), path(9)], SCHEMA))
    for weights, expected in (((5, 2, 2), {11}), ((1, 2, 2), set(range(7, 11)) | set(range(12, 30)))):
        mixed = realistic(30)
        mixed.graphs[11] = path(4, closed=True)  # the only one with a triangle
        parts = [FrequentParts(motifs, np.array(weights))] * 2
        first, second = (chosen(mixed, members, 1, parts=part)[0] for part in (parts, None))
        assert first in expected
        assert second == _nearest(mixed, members[0])
        # of equally typical ones the surest
        assert first == max(expected, key=lambda number: mixed.logits[number][0])


def _nearest(candidates: Made, members: Members) -> int:
    """By slow loops, whose ten nearest members are nearest in the mean."""

    def distance(number: int) -> float:
        apart = sorted(math.dist(candidates.points[number], other) for other in members.embedding)
        return sum(apart[:10]) / 10

    return min(range(len(candidates.graphs)), key=distance)


def test_the_others_are_of_the_more_typical_half(members: list[Members]) -> None:
    mixed = realistic(40)
    motifs = plain_graphs(from_networkx([path(length) for length in range(2, 42)], SCHEMA))
    parts = [FrequentParts(motifs, np.ones(len(motifs)))] * 2  # longer chains contain more of them
    assert sorted(chosen(mixed, members, 20, parts=parts)) == list(range(20, 40))
    assert chosen(mixed, members, 20, parts=parts)[0] == 39


def test_a_class_without_parts(members: list[Members]) -> None:
    mixed = realistic(30)
    best = max(range(30), key=lambda number: mixed.logits[number][0])
    assert chosen(mixed, members, 1, parts=[FrequentParts([], np.zeros(0))] * 2) == [best]


# -- covering the class -------------------------------------------------------------------------------


def covered(places: tuple[int, ...] | list[int], points: np.ndarray, members: Members) -> float:
    """By slow loops, how much of the class is covered."""
    scale = float(np.median(members.apart))
    return sum(
        max(math.exp(-(math.dist(points[place], member) ** 2) / (2 * scale**2)) for place in places)
        for member in members.embedding
    )


@PROPERTY
@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_each_one_adds_most_to_what_is_covered(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    known, points = members_of(0, 15, seed % 1000), rng.normal(size=(count, 2)) * 2
    first = int(rng.integers(count))
    order = _cover(points, np.ones(count), known, first, count, 1.0)
    assert order[0] == first
    assert sorted(order) == list(range(count))
    for number in range(1, count):
        values = {place: covered([*order[:number], place], points, known) for place in order[number:]}
        assert values[order[number]] == pytest.approx(max(values.values()))


@PROPERTY
@given(st.integers(3, 7), st.integers(0, 2**32 - 1))
def test_greedy_covers_nearly_as_much_as_the_best_of_all_sets(count: int, seed: int) -> None:
    """What is added to the first is at least 1 - 1/e of what any set of as many could add."""
    rng = np.random.default_rng(seed)
    known, points = members_of(0, 15, seed % 1000), rng.normal(size=(count, 2)) * 2
    number = int(rng.integers(2, count + 1))
    base = covered([0], points, known)
    others = combinations(range(1, count), number - 1)
    best = max(covered([0, *several], points, known) for several in others) - base
    assert (
        covered(_cover(points, np.ones(count), known, 0, number, 1.0), points, known) - base
        >= (1 - 1 / math.e) * best - 1e-9
    )


def test_two_groups_of_members_are_both_covered(members: list[Members]) -> None:
    known = two_groups()
    mixed = Made()
    for number in range(10):
        mixed.add(path(2 + number), 5.0, np.full(2, 4.0 * (number == 7)))
    assert 7 in chosen(mixed, [known, members[1]], 2)


# -- the list -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_parts", [True, False])
def test_a_longer_list_begins_like_a_shorter_one(members: list[Members], with_parts: bool) -> None:
    mixed = realistic(40)
    for number in range(20):
        mixed.add(path(60 + number), 30.0 + number, CENTRES[0] + 9)
    motifs = plain_graphs(from_networkx([path(10), path(20)], SCHEMA))
    parts = [FrequentParts(motifs, np.array([1, 1]))] * 2 if with_parts else None
    every = chosen(mixed, members, 60, parts=parts, tolerance=0.01)
    assert sorted(every) == list(range(60))
    for top_k in (1, 3, 12, 50):
        assert chosen(mixed, members, top_k, parts=parts, tolerance=0.01) == every[:top_k]


def test_no_two_are_isomorphic_and_the_better_one_stays(members: list[Members]) -> None:
    mixed = realistic(15)
    for number in range(15):  # the same graphs again, of another meaning or far away
        mixed.add(path(2 + number), 5.9, CENTRES[0] + (0.0 if number % 2 else 50.0), label=number % 2)
    found = chosen(mixed, members, 30)
    assert sorted(found) == list(range(15))
    batch, _ = mixed.made()
    shown = batch.without_labels()
    assert not any(isomorphic(shown[one], shown[other]) for one, other in combinations(found, 2))


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_candidates_does_not_matter(members: list[Members], seed: int, tied: bool) -> None:
    mixed = realistic(30)
    if tied:
        mixed.logits, mixed.points = [[5.0, 0.0]] * 30, [[0.0, 0.0]] * 30
    order = np.random.default_rng(seed).permutation(30).tolist()
    motifs = plain_graphs(from_networkx([path(10), path(20)], SCHEMA))
    for parts in (None, [FrequentParts(motifs, np.array([1, 3]))] * 2):
        known = Representative(members, parts, 0.01)
        one, other = (_ranked(*mixed.made(some), known) for some in (None, order))
        for here, there in zip(one, other, strict=True):
            assert numbers(here) == [order[number] for number in numbers(there)]


def test_each_class_has_its_own(members: list[Members]) -> None:
    mixed, others = realistic(12), realistic(12, 1, of=1)
    for number in range(12):
        mixed.add(path(60 + number), others.logits[number][1], np.array(others.points[number]), of=1)
    assert sorted(chosen(mixed, members, 12)) == list(range(12))
    assert sorted(chosen(mixed, members, 12, of=1)) == list(range(12, 24))


def test_a_class_that_no_candidate_reaches_gets_the_surest(members: list[Members]) -> None:
    mixed = realistic(30)  # all of them of the first class
    unsure = sorted(range(30), key=lambda number: mixed.logits[number][0])
    assert chosen(mixed, members, 10, tolerance=0.0, of=1) == unsure[:10]
    assert sorted(chosen(mixed, members, 40, of=1)) == list(range(30))


@pytest.mark.parametrize("with_parts", [True, False])
def test_a_class_without_members(members: list[Members], with_parts: bool) -> None:
    nobody = Members(1, np.zeros(0), np.zeros(0), np.zeros((0, 2)), np.zeros(0))
    mixed = realistic(12, of=1)
    motifs = plain_graphs(from_networkx([path(3)], SCHEMA))
    parts = [FrequentParts(motifs, np.ones(1))] * 2 if with_parts else None
    assert sorted(chosen(mixed, [members[0], nobody], 20, parts=parts, of=1)) == list(range(12))


def test_nothing_to_choose_from(members: list[Members]) -> None:
    batch, scores = Made().made()
    assert select_representative(Candidates(batch), scores, Representative(members, None, 0.1), 5) == [[], []]
    lonely = nx.Graph()
    lonely.add_node(0, type="b")  # no target node
    batch = from_networkx([lonely], SCHEMA)
    assert select_representative(Candidates(batch), scores, Representative(members, None, 0.1), 5) == [[], []]


def test_graph_classification() -> None:
    schema = Schema(("a", "b"), RELATIONS, (FeatureSpec(), FeatureSpec()), classes=("one", "two"))
    mixed = realistic(20)
    for number in range(10):
        mixed.add(path(60 + number), 40.0, CENTRES[0] + 50)
    batch = from_networkx(mixed.graphs, schema)
    batch.graph_label[:] = torch.tensor([int(number in (3, 4)) for number in range(30)])
    every = torch.arange(30)
    scores = Scores(every, torch.full((30,), -1), torch.tensor(mixed.logits), torch.tensor(mixed.points), schema.task)
    known = Representative([members_of(0), members_of(1)], None, 1.0)
    found = numbers(select_representative(Candidates(batch), scores, known, 20)[0])
    assert set(found[:18]) == set(range(20)) - {3, 4}  # those were meant to be of the other class
    assert set(found) == set(range(20))
