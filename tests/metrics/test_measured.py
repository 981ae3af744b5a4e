"""What metrics look at in a set of graphs, and what of it is compared with what, by slow loops."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from dignn.graphs.batch import GraphBatch
from dignn.graphs.plain_graph import plain_graphs
from dignn.metrics.feature_rows import RealRows
from dignn.metrics.measured import Compared, MeasuredGraphs, Structures, measured_graphs
from dignn.metrics.measures.coverage import coverage
from dignn.metrics.measures.mmd import KERNELS, mmd
from dignn.metrics.measures.predictive import in_distribution
from dignn.metrics.metric import METRICS, all_metrics, layers
from dignn.metrics.run import of_set
from dignn.selection.highest import Choice
from dignn.selection.members import LOWER, UPPER
from dignn.selection.motifs.sets import MotifSets, isomorphic
from dignn.selection.ranking import Ranking
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
def ranking(world: World) -> Ranking:
    return world.ranking(world.further[::4])


@pytest.fixture(scope="module")
def measured(ranking: Ranking) -> MeasuredGraphs:
    return of_ranking(ranking)


def of_ranking(ranking: Ranking, **options: Any) -> MeasuredGraphs:
    """Without features, which take most of the time."""
    compared = Compared(Structures(ranking.candidates))
    return measured_graphs(ranking.candidates, ranking.scores, ranking.chosen, **{"compared": compared, **options})


def value(path: str, measured: MeasuredGraphs, world: World, **changes: Any) -> Any:
    """One metric, of a reality that may differ in something."""
    all_metrics()
    return METRICS[path].of(measured, replace(world.reality, **changes))


def first(ranking: Ranking, number: int | None, *, as_seen: bool = False) -> list[list[Any]]:
    found = of_ranking(ranking, shown=number)
    return [list(several) for several in found.first(as_seen=as_seen)]


# -- what stands for a class --------------------------------------------------------------------------


def test_the_first_graphs_of_each_class(ranking: Ranking) -> None:
    every = plain_graphs(ranking.candidates)
    for number in (1, 5, None):
        for several, graphs in zip(ranking.chosen, first(ranking, number), strict=True):
            expected = [every[choice.graph] for choice in several[:number]]
            assert [graph.relation.tolist() for graph in graphs] == [graph.relation.tolist() for graph in expected]
            assert [graph.types.tolist() for graph in graphs] == [graph.types.tolist() for graph in expected]


def test_the_class_that_the_model_sees_is_part_of_the_type(ranking: Ranking) -> None:
    """Not the class that a label says: candidates are labelled with what the generator meant."""
    graphs, scores = ranking.candidates, ranking.scores
    shown = first(ranking, 3, as_seen=True)
    for several, found in zip(ranking.chosen, shown, strict=True):
        for choice, graph in zip(several, found, strict=False):
            expected = graphs.node_type[choice.graph][graphs.mask[choice.graph]].tolist()
            for row in (scores.graph == choice.graph).nonzero()[:, 0].tolist():
                expected[int(scores.node[row])] = len(graphs.schema.node_types) + int(scores.logits[row].argmax())
            assert graph.types.tolist() == expected
    lied = replace(graphs, label=torch.where(graphs.label >= 0, 0, -1))
    again = measured_graphs(lied, scores, ranking.chosen, shown=3).first(as_seen=True)
    assert [g.types.tolist() for several in again for g in several] == [
        g.types.tolist() for several in shown for g in several
    ]


def test_members_are_of_all_real_graphs_and_new_ones_of_held_out_graphs(world: World) -> None:
    reality, real = world.reality, world.real
    for everybody, new in zip(reality.members, reality.new_members, strict=True):
        assert len(everybody) > len(new) > 0
    authors = {
        name: set(batch.row[batch.target_mask].tolist())
        for name, batch in (("train", real.train), ("held out", real.held_out))
    }
    assert sum(map(len, reality.members)) <= len(authors["train"] | authors["held out"])
    assert sum(map(len, reality.new_members)) <= len(authors["held out"])
    rows = {tuple(row) for row in world.adapter.score(real.held_out).embedding.double().numpy().round(9).tolist()}
    for new in reality.new_members:
        assert {tuple(row) for row in new.embedding.round(9).tolist()} <= rows


# -- values by slow loops -----------------------------------------------------------------------------


def test_in_distribution_pf(world: World, ranking: Ranking) -> None:
    members, scores = world.reality.members, ranking.scores
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


def test_what_is_surer_than_anything_real_does_not_count(world: World, ranking: Ranking) -> None:
    scores, members = ranking.scores, world.reality.members
    loud = replace(scores, logits=50 * scores.logits)
    assert value("paper.pf", replace(of_ranking(ranking), scores=loud), world) == pytest.approx(1)
    assert in_distribution(loud, members) < 0.9
    far = replace(scores, embedding=scores.embedding + 1000)
    assert in_distribution(far, members) == 0
    assert in_distribution(scores[torch.zeros(0, dtype=torch.long)], members) is None


def cosine(world: World, generated: GraphBatch, real: GraphBatch) -> float:
    rows = MeasuredGraphs(frozenset({"features"}), class_rows=RealRows(real, real, {}, {}).class_rows(generated))
    found: float = value("paper.cosine", rows, world)
    return found


def test_cosine_of_target_rows_by_class(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    generated, real = world.further[::25], world.real.held_out[::8]

    def rows(batch: GraphBatch, number: int) -> list[list[float]]:
        found = []
        for graph, node in batch.target_mask.nonzero().tolist():
            if int(batch.label[graph, node]) == number:
                found.append(batch.tables["author"][int(batch.row[graph, node])].tolist())
        return found

    def of_rows(one: list[float], other: list[float]) -> float:
        length = math.hypot(*one) * math.hypot(*other)
        return sum(a * b for a, b in zip(one, other, strict=True)) / length if length else 0.0

    by_class = [
        np.mean([of_rows(one, other) for one in rows(generated, number) for other in rows(real, number)])
        for number in range(4)
    ]
    whole = cosine(world, generated, real)
    assert whole == pytest.approx(np.mean(by_class), rel=1e-5)
    monkeypatch.setattr("dignn.metrics.feature_rows.COSINE_ROWS", 5)
    few = cosine(world, generated, real)
    assert few != whole
    assert few == pytest.approx(whole, rel=0.5)


@pytest.mark.parametrize("target", [None, "node"])
def test_no_cosine_without_target_features(target: str | None) -> None:
    batch = random_batch(plain_schema(target=target), [4, 5], np.random.default_rng(0))
    assert RealRows(batch, batch, {}, {}).class_rows(batch) == []


def test_mmd_of_the_paper_is_the_mean_over_classes(world: World, ranking: Ranking, measured: MeasuredGraphs) -> None:
    train = plain_graphs(world.real.train)
    reference = [train[int(place)] for place in np.linspace(0, len(train) - 1, 50)]
    for name, kernel in KERNELS["paper"].items():
        expected = [mmd(graphs, reference, kernel) for graphs in first(ranking, 50)]
        assert value(f"paper.mmd.{name}", measured, world) == pytest.approx(np.mean(expected))
    # a class without explanations is left out
    without = replace(measured, best=[*measured.best[:3], []])
    expected = [mmd(graphs, reference, KERNELS["paper"]["degree"]) for graphs in measured.best[:3]]
    assert value("paper.mmd.degree", without, world) == pytest.approx(np.mean(expected))


def test_structure_is_compared_with_held_out_graphs(world: World) -> None:
    def layer(graphs: GraphBatch, **options: Compared) -> dict[str, Any]:
        sound: dict[str, Any] = layers(of_set(of_ranking(world.ranking(graphs), **options), world.reality))["sound"]
        return sound

    held_out, train = world.real.held_out, world.real.train
    assert layer(held_out)["mmd"]["degree"] == pytest.approx(0, abs=1e-12)
    shown = layer(train)
    assert shown["mmd"]["degree"] > 1e-6
    assert shown["graphs"]["novelty"] == 0
    nothing = layer(train, compared=Compared())
    assert set(nothing["mmd"].values()) == set(nothing["graphs"].values()) == {None}
    assert nothing["typed_gf"] is not None


def test_more_graphs_shown_to_motifs(world: World, measured: MeasuredGraphs) -> None:
    """Each graph counts: the mean over the first ones of each class."""
    found = [value("paper.gf", replace(measured, shown=shown), world) for shown in (1, 2)]
    second = replace(measured, best=[several[1:] for several in measured.best])
    assert found[1] == pytest.approx((found[0] + value("paper.gf", second, world)) / 2)


def test_coverage_is_that_of_ten_explanations(world: World, ranking: Ranking) -> None:
    """Members near one of the first ten; the others do not help."""
    rows = [[choice.score for choice in several[:10]] for several in ranking.chosen]
    shown = [ranking.scores.embedding[several].double().numpy() for several in rows]
    members, new = world.reality.members, world.reality.new_members
    shares = []
    for points, known, others in zip(shown, members, new, strict=True):
        radius = np.quantile(known.apart, 0.9)
        near = [min(math.dist(member, point) for point in points) <= radius for member in others.embedding]
        shares.append(np.mean(near))
    found = value("sound.coverage", of_ranking(ranking), world)
    assert found == pytest.approx(np.mean(shares))
    assert found < coverage(of_ranking(ranking).embeddings, members, new)["mean"]["50"]


def test_motifs_without_types_are_easier(world: World, measured: MeasuredGraphs) -> None:
    assert value("sound.typed_gf", measured, world) <= value("paper.gf", measured, world)
    assert list(value("sound.contrast", measured, world)) == list(world.dataset.schema.classes)
    assert set(value("sound.planted", measured, world)) == {"mean", *world.dataset.schema.classes}


def test_graphs_of_the_right_class_have_more_contrast_than_swapped_ones(world: World) -> None:
    """Training graphs that show each class, and the same for the class beside it."""
    train, scores = world.real.train, world.measuring.train_scores
    own = train.label[scores.graph, scores.node]
    right = [
        [Choice(int(scores.graph[row]), row) for row in (own == number).nonzero()[:40, 0].tolist()]
        for number in range(4)
    ]
    found = [measured_graphs(train, scores, chosen, shown=40) for chosen in (right, right[1:] + right[:1])]
    one, other = (sum(value("sound.contrast", sets, world).values()) for sets in found)
    assert one > 0 > other
    recall = [value("sound.planted", sets, world)["mean"]["motif_recall"] for sets in found]
    assert recall[0] > recall[1]


def test_common_motifs_tell_no_classes_apart(world: World, measured: MeasuredGraphs) -> None:
    shared = MotifSets.shared(world.reality.motifs.by_class[0], 4)
    assert value("sound.contrast", measured, world, motifs=shared, class_typed=shared) is None
    assert value("sound.planted", measured, world, truth=None) is None


# -- what nobody learned from -------------------------------------------------------------------------


def test_coverage_is_of_members_that_nobody_learned_from(world: World) -> None:
    """Held-out graphs hold many nodes that were learned; none of them is to be covered."""
    learned, graphs = world.real.learned_rows["author"], world.real.held_out
    scores = world.adapter.score(graphs)
    rows = graphs.row[scores.graph, scores.node]
    assert bool(learned[rows].any())
    new = {tuple(point) for point in scores.embedding[~learned[rows]].double().tolist()}
    assert sum(map(len, world.reality.new_members)) > 20
    for members in world.reality.new_members:
        assert {tuple(point) for point in members.embedding.tolist()} <= new


def test_motifs_of_a_kind_count_once_among_the_different_ones(world: World) -> None:
    motifs = world.reality.motifs
    kinds = motifs.different()
    for own, different in zip(motifs.by_class, kinds.by_class, strict=True):
        assert 0 < len(different) <= len(own)
        same = isomorphic(different, different)
        assert same.sum() == len(different)  # each is isomorphic to itself only
        assert isomorphic(own, different).any(1).all()
