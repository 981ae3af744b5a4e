"""Both layers of one set of graphs: what is compared with what, by slow loops."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from dignn.batch import GraphBatch
from dignn.gnn.adapter import Scores
from dignn.members import LOWER, UPPER
from dignn.metrics.layers import Answer, class_cosine, in_distribution, paper_layer, sound_layer
from dignn.metrics.mmd import METRICS, mmd
from dignn.motifs.sets import MotifSets, isomorphic
from dignn.plain import plain_graphs
from dignn.selection import Choice
from metrics.small_world import World, small_world
from strategies import plain_schema, random_batch


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dignn.metrics.c2st.TREES", 3)
        yield


@pytest.fixture(scope="module")
def world() -> World:
    return small_world()


@pytest.fixture(scope="module")
def answer(world: World) -> Answer:
    return world.answer(world.further[::4], 12)


# -- what stands for a class --------------------------------------------------------------------------


def test_the_first_graphs_of_each_class(answer: Answer) -> None:
    every = plain_graphs(answer.graphs)
    for number in (1, 5, None):
        for several, graphs in zip(answer.chosen, answer.best(number), strict=True):
            expected = [every[choice.graph] for choice in several[:number]]
            assert [graph.relation.tolist() for graph in graphs] == [graph.relation.tolist() for graph in expected]
            assert [graph.types.tolist() for graph in graphs] == [graph.types.tolist() for graph in expected]


def test_the_class_that_the_model_sees_is_part_of_the_type(answer: Answer) -> None:
    """Not the class that a label says: candidates are labelled with what the generator meant."""
    schema, seen = answer.graphs.schema, answer.scores.logits.argmax(1)
    for several, graphs in zip(answer.chosen, answer.best(3, class_typed=True), strict=True):
        for choice, graph in zip(several, graphs, strict=False):
            expected = answer.graphs.node_type[choice.graph][answer.graphs.mask[choice.graph]].tolist()
            for row in (answer.scores.graph == choice.graph).nonzero()[:, 0].tolist():
                expected[int(answer.scores.node[row])] = len(schema.node_types) + int(seen[row])
            assert graph.types.tolist() == expected
    lied = replace(answer.graphs, label=torch.where(answer.graphs.label >= 0, 0, -1))
    again = Answer(lied, answer.scores, answer.chosen).best(3, class_typed=True)
    assert [g.types.tolist() for several in again for g in several] == [
        g.types.tolist() for several in answer.best(3, class_typed=True) for g in several
    ]


def test_members_are_of_all_real_graphs_and_new_ones_of_held_out_graphs(world: World) -> None:
    reality = world.reality
    for everybody, new in zip(reality.members, reality.new_members, strict=True):
        assert len(everybody) > len(new) > 0
    authors = {
        name: set(batch.row[batch.target_mask].tolist())
        for name, batch in (("train", reality.train), ("held out", reality.held_out))
    }
    assert sum(map(len, reality.members)) <= len(authors["train"] | authors["held out"])
    assert sum(map(len, reality.new_members)) <= len(authors["held out"])
    rows = {tuple(row) for row in reality.held_out_scores.embedding.double().numpy().round(9).tolist()}
    for new in reality.new_members:
        assert {tuple(row) for row in new.embedding.round(9).tolist()} <= rows


# -- values by slow loops -----------------------------------------------------------------------------


def test_in_distribution_pf(world: World, answer: Answer) -> None:
    members, scores = world.reality.members, answer.scores
    best = []
    for number, known in enumerate(members):
        place = known.place(scores)
        inside = [
            float(scores.probability[row, number])
            for row in range(len(scores.graph))
            if LOWER <= place.logit_rank[row] <= UPPER and place.distance_rank[row] <= UPPER
        ]
        best.append(max(inside, default=0.0))
    assert in_distribution(scores, members) == pytest.approx(sum(best) / 4)
    assert in_distribution(scores, members) <= float(scores.probability.max(0).values.mean())


def test_what_is_surer_than_anything_real_does_not_count(world: World, answer: Answer) -> None:
    loud = replace(answer.scores, logits=50 * answer.scores.logits)
    assert paper_layer(replace(answer, scores=loud), world.reality)["pf"] == pytest.approx(1)
    assert in_distribution(loud, world.reality.members) < 0.9
    far = replace(answer.scores, embedding=answer.scores.embedding + 1000)
    assert in_distribution(far, world.reality.members) == 0
    empty = Scores(*(value[:0] for value in (loud.graph, loud.node, loud.logits, loud.embedding)))
    assert in_distribution(empty, world.reality.members) is None


def test_cosine_of_target_rows_by_class(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    generated, real = world.further[::25], world.real.held_out[::8]

    def rows(batch: GraphBatch, number: int) -> list[list[float]]:
        found = []
        for graph, node in batch.target_mask.nonzero().tolist():
            if int(batch.label[graph, node]) == number:
                found.append(batch.tables["author"][int(batch.row[graph, node])].tolist())
        return found

    def cosine(one: list[float], other: list[float]) -> float:
        length = math.hypot(*one) * math.hypot(*other)
        return sum(a * b for a, b in zip(one, other, strict=True)) / length if length else 0.0

    by_class = [
        np.mean([cosine(one, other) for one in rows(generated, number) for other in rows(real, number)])
        for number in range(4)
    ]
    whole = class_cosine(generated, real)
    assert whole == pytest.approx(np.mean(by_class), rel=1e-5)
    monkeypatch.setattr("dignn.metrics.layers.COSINE_ROWS", 5)
    few = class_cosine(generated, real)
    assert few != whole
    assert few == pytest.approx(whole, rel=0.5)


@pytest.mark.parametrize("target", [None, "node"])
def test_no_cosine_without_target_features(target: str | None) -> None:
    batch = random_batch(plain_schema(target=target), [4, 5], np.random.default_rng(0))
    assert class_cosine(batch, batch) is None


def test_mmd_of_the_paper_is_the_mean_over_classes(
    world: World, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dignn.metrics.layers.PAPER_GRAPHS", 10)
    train = plain_graphs(world.real.train)
    reference = [train[int(place)] for place in np.linspace(0, len(train) - 1, 10)]
    found = paper_layer(answer, world.reality)["mmd"]
    for name, metric in METRICS["paper"].items():
        expected = [mmd(graphs, reference, metric) for graphs in answer.best(10)]
        assert found[name] == pytest.approx(np.mean(expected))
    # a class without explanations is left out
    without = replace(answer, chosen=[*answer.chosen[:3], []])
    expected = [mmd(graphs, reference, METRICS["paper"]["degree"]) for graphs in answer.best(10)[:3]]
    assert paper_layer(without, world.reality)["mmd"]["degree"] == pytest.approx(np.mean(expected))


def test_structure_is_compared_with_held_out_graphs(world: World) -> None:
    def layer(graphs: GraphBatch, **options: object) -> dict:
        own = world.answer(graphs, 3)
        return sound_layer(own, world.reality, graph_yield=None, features=None, **options)  # type: ignore[arg-type]

    held_out, train = world.real.held_out, world.real.train
    assert layer(held_out)["mmd"]["degree"] == pytest.approx(0, abs=1e-12)
    shown = layer(train)
    assert shown["mmd"]["degree"] > 1e-6
    assert shown["graphs"]["novelty"] == 0
    nothing = layer(train, structure=False)
    assert set(nothing["mmd"].values()) == set(nothing["graphs"].values()) == {None}
    assert nothing["typed_gf"] is not None


def test_more_graphs_shown_to_motifs(world: World, answer: Answer) -> None:
    """Each graph counts: the mean over the first ones of each class."""
    found = [paper_layer(answer, world.reality, shown=shown)["gf"] for shown in (1, 2)]
    second = replace(answer, chosen=[several[1:] for several in answer.chosen])
    assert found[1] == pytest.approx((found[0] + paper_layer(second, world.reality)["gf"]) / 2)


def test_motifs_without_types_are_easier(world: World, answer: Answer) -> None:
    paper = paper_layer(answer, world.reality)
    sound = sound_layer(answer, world.reality, graph_yield=None, features=None, structure=False)
    assert sound["typed_gf"] <= paper["gf"]
    assert list(sound["contrast"]) == list(world.dataset.schema.classes)
    assert set(sound["planted"]) == {"mean", *world.dataset.schema.classes}


def test_graphs_of_the_right_class_have_more_contrast_than_swapped_ones(world: World) -> None:
    """Training graphs that show each class, and the same for the class beside it."""
    train, scores = world.reality.train, world.reality.train_scores
    own = train.label[scores.graph, scores.node]
    right = [
        [Choice(int(scores.graph[row]), row) for row in (own == number).nonzero()[:40, 0].tolist()]
        for number in range(4)
    ]
    found = [
        sound_layer(
            Answer(train, scores, chosen), world.reality, graph_yield=None, features=None, structure=False, shown=40
        )
        for chosen in (right, right[1:] + right[:1])
    ]
    one, other = (sum(layer["contrast"].values()) for layer in found)
    assert one > 0 > other
    assert found[0]["planted"]["mean"]["motif_recall"] > found[1]["planted"]["mean"]["motif_recall"]


def test_common_motifs_tell_no_classes_apart(world: World, answer: Answer) -> None:
    shared = MotifSets.shared(world.reality.motifs.by_class[0], 4)
    reality = replace(world.reality, motifs=shared, class_typed=shared, truth=None)
    sound = sound_layer(answer, reality, graph_yield=0.5, features=None, structure=False)
    assert (sound["contrast"], sound["planted"]) == (None, None)
    assert sound["yield"] == 0.5


# -- what nobody learned from -------------------------------------------------------------------------


def test_coverage_is_of_members_that_nobody_learned_from(world: World) -> None:
    """Held-out graphs hold many nodes that were learned; none of them is to be covered."""
    reality = world.reality
    learned = reality.learned["author"]
    scores, graphs = reality.held_out_scores, reality.held_out
    rows = graphs.row[scores.graph, scores.node]
    assert bool(learned[rows].any())
    new = {tuple(point) for point in scores.embedding[~learned[rows]].double().tolist()}
    assert sum(map(len, reality.new_members)) > 20
    for members in reality.new_members:
        assert {tuple(point) for point in members.embedding.tolist()} <= new


def test_motifs_of_a_kind_count_once_among_the_different_ones(world: World) -> None:
    motifs = world.reality.motifs
    kinds = motifs.different()
    for own, different in zip(motifs.by_class, kinds.by_class, strict=True):
        assert 0 < len(different) <= len(own)
        same = isomorphic(different, different)
        assert same.sum() == len(different)  # each is isomorphic to itself only
        assert isomorphic(own, different).any(1).all()
