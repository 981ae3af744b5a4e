"""Real members of a class: who counts, and where other nodes lie among them, against slow loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn.core.seeds import Seed
from dignn.graphs.batch import GraphBatch
from dignn.model.scores import Scores
from dignn.selection.members import LEAST, LOWER, NEIGHBOURS, UPPER, Members, Place, all_members
from strategies import PROPERTY, plain_schema

NODES, GRAPHS = plain_schema(target="node"), plain_schema()


def world(
    predicted: list[int], labels: list[int], rows: list[int] | None = None, *, of_nodes: bool = True
) -> tuple[Scores, GraphBatch]:
    """Graphs of one node each: the class that the model sees, the class that they have, and the node of the data.

    The embedding tells which graph a member is.
    """
    count = len(predicted)
    label, nothing = torch.tensor(labels).reshape(count, 1), torch.full((count, 1), -1)
    batch = GraphBatch(
        schema=NODES if of_nodes else GRAPHS,
        node_type=torch.zeros(count, 1, dtype=torch.long),
        edge=torch.zeros(count, 1, 1, dtype=torch.long),
        label=label if of_nodes else nothing,
        graph_label=nothing[:, 0] if of_nodes else label[:, 0],
        row=torch.tensor(list(range(count)) if rows is None else rows).reshape(count, 1),
    ).check()
    logits = torch.eye(2)[torch.tensor(predicted, dtype=torch.long)].reshape(count, 2)
    node = torch.zeros(count, dtype=torch.long) if of_nodes else torch.full((count,), -1)
    return Scores(torch.arange(count), node, logits, torch.arange(count)[:, None].float(), batch.schema.task), batch


def who(members: Members) -> list[int]:
    """Numbers of the graphs that are members."""
    return sorted(int(value) for value in members.embedding[:, 0])


def scored(logits: np.ndarray, embedding: np.ndarray) -> Scores:
    count = len(logits)
    return Scores(
        torch.arange(count),
        torch.zeros(count, dtype=torch.long),
        torch.stack([torch.full((count,), -100.0), torch.as_tensor(logits).float()], 1),
        torch.as_tensor(embedding).float().reshape(count, -1),
        NODES.task,
    )


def members_at(logits: np.ndarray, embedding: np.ndarray) -> Members:
    """Members of class 1 with these scores of it."""
    count = len(logits)
    scores = scored(logits, embedding)
    _, batch = world([1] * count, [1] * count)
    return Members.of(1, scores, batch, Seed(0))


# -- who counts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("of_nodes", [True, False])
def test_members_have_the_class_as_label_and_the_model_puts_them_there(of_nodes: bool) -> None:
    predicted, labels = [1] * 60 + [0] * 40, [1] * 30 + [0] * 30 + [1] * 40
    scores, batch = world(predicted, labels, of_nodes=of_nodes)
    assert who(Members.of(1, scores, batch, Seed(0))) == list(range(30))


@pytest.mark.parametrize("both", [0, 5, LEAST - 1, LEAST])
def test_where_these_are_few_all_that_the_model_puts_there(both: int) -> None:
    scores, batch = world([1] * 50 + [0] * 50, [1] * both + [0] * (50 - both) + [1] * 50)
    assert who(Members.of(1, scores, batch, Seed(0))) == list(range(both if both >= LEAST else 50))


@pytest.mark.parametrize("labelled", [3, LEAST + 10])
def test_where_the_model_puts_nothing_there_what_has_the_label(labelled: int) -> None:
    scores, batch = world([0] * 50, [1] * labelled + [0] * (50 - labelled))
    assert who(Members.of(1, scores, batch, Seed(0))) == list(range(labelled))


def test_where_both_are_few_what_the_model_puts_there() -> None:
    scores, batch = world([1] * 6 + [0] * 40, [0] * 3 + [1] * 10 + [0] * 33)
    assert who(Members.of(1, scores, batch, Seed(0))) == list(range(6))


def test_a_few_that_the_model_puts_there_go_before_many_that_have_the_label() -> None:
    scores, batch = world([1] * 6 + [0] * 40, [0] * 3 + [1] * 43)
    assert who(Members.of(1, scores, batch, Seed(0))) == list(range(6))


def test_unknown_labels_are_no_class() -> None:
    scores, batch = world([1] * 30 + [0] * 30, [-1] * 60)
    assert [who(members) for members in all_members(scores, batch, seed=Seed(0))] == [
        list(range(30, 60)),
        list(range(30)),
    ]


def test_a_node_of_the_data_counts_once_however_many_subgraphs_it_is_in() -> None:
    rows = [number // 3 for number in range(120)]
    scores, batch = world([1] * 120, [1] * 120, rows)
    chosen = who(Members.of(1, scores, batch, Seed(0)))
    assert sorted(rows[number] for number in chosen) == list(range(40))
    assert len({number % 3 for number in chosen}) == 3  # any of its subgraphs, not always the first


def test_a_graph_counts_however_many_have_the_same_row() -> None:
    scores, batch = world([1] * 30, [1] * 30, [0] * 30, of_nodes=False)
    assert len(Members.of(1, scores, batch, Seed(0))) == 30


def test_at_most_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.selection.members.MOST_MEMBERS", 25)
    scores, batch = world([1] * 1000, [1] * 1000)
    chosen = who(Members.of(1, scores, batch, Seed(0)))
    assert len(chosen) == 25
    assert min(chosen) < 300
    assert max(chosen) > 700  # any of them: batches are ordered by size


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_graphs_does_not_matter_where_nodes_stand_in_one_graph(seed: int) -> None:
    """Where a node stands in several graphs, which of them counts depends on their order; it counts once anyway."""
    rng = np.random.default_rng(seed)
    predicted, labels = rng.integers(2, size=200).tolist(), rng.integers(2, size=200).tolist()
    order = rng.permutation(200)
    scores, batch = world(predicted, labels)
    mixed, other = world([predicted[n] for n in order], [labels[n] for n in order])
    one = Members.of(1, scores, batch, Seed(0))
    again = Members.of(1, mixed, other, Seed(0))
    assert sorted(int(order[number]) for number in who(again)) == who(one)
    assert np.array_equal(again.logit, one.logit)


def test_the_same_each_time() -> None:
    scores, batch = world([1] * 120, [1] * 120, [number // 3 for number in range(120)])
    one, again = (Members.of(1, scores, batch, Seed(0)) for _ in range(2))
    assert all(np.array_equal(getattr(one, name), getattr(again, name)) for name in ("logit", "embedding", "apart"))


# -- where others lie ---------------------------------------------------------------------------------


@PROPERTY
@given(st.integers(2, 60), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_ranks_and_distances_by_slow_loops(count: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.integers(-5, 5, count) / 2  # many equal ones
    points, others = rng.normal(size=(count, width)).astype(np.float32), rng.normal(size=(20, width)) * 2
    known, values = members_at(logits, points), rng.integers(-6, 6, 20) / 2
    place = known.place(scored(values, others))

    def to_nearest(point: np.ndarray, crowd: list[np.ndarray]) -> float:
        near = sorted(math.dist(point, other) for other in crowd)[:NEIGHBOURS]
        return sum(near) / len(near)

    apart = [
        to_nearest(point, [other for at, other in enumerate(points) if at != number])
        for number, point in enumerate(points)
    ]
    assert known.apart == pytest.approx(np.array(sorted(apart)), abs=1e-5)
    assert known.logit.tolist() == sorted(logits)
    for number, value in enumerate(values):
        lower, equal = sum(logit < value for logit in logits), sum(logit == value for logit in logits)
        assert place.logit_rank[number] == pytest.approx((lower + equal / 2) / count)
        distance = to_nearest(others[number].astype(np.float32), list(points))
        assert place.distance[number] == pytest.approx(distance, abs=1e-5)
        if min(abs(distance - value) for value in apart) > 1e-4:  # else rounding decides
            assert place.distance_rank[number] == pytest.approx(sum(value < distance for value in apart) / count)


def test_only_the_rows_that_are_asked_for() -> None:
    rng = np.random.default_rng(0)
    known = members_at(rng.normal(size=50), rng.normal(size=(50, 2)))
    scores = scored(rng.normal(size=9), rng.normal(size=(9, 2)))
    every, some = known.place(scores), known.place(scores, torch.tensor([7, 2]))
    for name in ("logit_rank", "distance_rank", "distance"):
        assert getattr(some, name) == pytest.approx(getattr(every, name)[[7, 2]])
    assert known.place(scores, torch.tensor([], dtype=torch.long)).inside().shape == (0,)


def test_inside_at_the_borders() -> None:
    little = 1e-9
    logit_rank = np.array([LOWER - little, LOWER, 0.5, UPPER, UPPER + little])
    assert Place(logit_rank, np.full(5, 0.5), np.zeros(5)).inside().tolist() == [False, True, True, True, False]
    distance_rank = np.array([0.0, 0.9, 0.9 + little, UPPER, UPPER + little])
    place = Place(np.full(5, 0.5), distance_rank, np.zeros(5))
    assert place.inside().tolist() == [True, True, True, True, False]
    assert place.inside(0.9).tolist() == [True, True, False, False, False]


def test_surer_than_every_member_is_outside_and_so_is_less_sure() -> None:
    rng = np.random.default_rng(0)
    known = members_at(np.linspace(2, 5, 101), rng.normal(size=(101, 2)))
    place = known.place(scored(np.array([1.9, 2.5, 3.5, 4.5, 5.1, 50.0]), np.zeros((6, 2))))
    assert place.inside().tolist() == [False, True, True, True, False, False]


def test_most_members_are_inside_and_what_is_far_from_them_is_not() -> None:
    rng = np.random.default_rng(0)
    points, logits = rng.normal(size=(600, 3)), rng.normal(4, 1, 600)
    known, new = members_at(logits[:300], points[:300]), scored(logits[300:], points[300:])
    assert known.place(new).inside().mean() > 0.9
    assert not known.place(scored(logits[300:], points[300:] + 20)).inside().any()


def test_nothing_is_inside_a_class_without_members() -> None:
    scores, batch = world([0] * 30, [0] * 30)
    nobody = Members.of(1, scores, batch, Seed(0))
    assert len(nobody) == 0
    place = nobody.place(scores)
    assert not place.inside().any()
    assert np.isinf(place.distance).all()


def test_no_real_graphs_at_all() -> None:
    scores, batch = world([], [])
    assert [len(members) for members in all_members(scores, batch, seed=Seed(0))] == [0, 0]


def test_only_its_like_is_inside_a_class_with_a_single_member() -> None:
    alone = members_at(np.array([3.0]), np.zeros((1, 2)))
    assert alone.apart.tolist() == [0.0]
    place = alone.place(scored(np.array([3.0, 3.0, 3.1]), np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.0]])))
    assert place.inside().tolist() == [True, False, False]
