"""Explainers without a generator: real graphs, chosen in three ways, and random trees."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dignn import Explainer, Explanations
from dignn.explainers.registry import EXPLAINERS, presets_of
from dignn.graphs.batch import GraphBatch
from dignn.graphs.isomorphism import fingerprints
from dignn.graphs.validity import connected
from dignn.metrics.measures.coverage import coverage
from dignn.sampling.division import is_learned
from dignn.selection.covering import covering
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from strategies import PROPERTY, rings_and_stars
from tiny_models import TinyGCN, TinyHetero

pytestmark = pytest.mark.usefixtures("haste")
REAL = ("random-real", "confident-real", "prototypes")
SMALL = {"sizes": (8, 9), "subgraphs_per_size": 30, "candidates": 40, "top_k": 3}


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


def made(name: str, dataset: Dataset, seed: int = 0, **options: int) -> Explainer:
    config = replace(presets_of(name)["fast"], **SMALL | options)  # type: ignore[arg-type]
    model = TinyHetero(dataset.schema)
    return EXPLAINERS[name](model, dataset.data, schema=dataset.schema, config=config, seed=seed)


@pytest.fixture(scope="module")
def explained(planted: Dataset) -> dict[str, tuple[Explainer, Explanations]]:
    found = {}
    for name in (*REAL, "random-tree"):
        one = made(name, planted).fit()
        found[name] = one, one.explain(measure=False)
    return found


def test_they_have_names_and_metrics(planted: Dataset) -> None:
    assert {*REAL, "random-tree"} <= set(EXPLAINERS)
    metrics = made("prototypes", planted).fit().explain().about["metrics"]
    assert 0 < metrics["paper"]["pf"] <= 1
    assert metrics["sound"]["graphs"]["novelty"] == 0  # none is new


@pytest.mark.parametrize("name", REAL)
def test_what_is_shown_is_real(explained: dict[str, tuple[Explainer, Explanations]], name: str) -> None:
    """Structure and features are those of a training graph."""
    one, explanations = explained[name]
    train = one.real.train
    assert any(explanations.values())
    for several in explanations.values():
        for item in several:
            shown = item.graph.without_labels()
            same = [
                number
                for number in range(len(train))
                if int(train.sizes[number]) == int(shown.sizes[0])
                and fingerprints(train[number].without_labels()) == fingerprints(shown)
                and _rows(train[number]) == _rows(shown)
            ]
            assert same


def _rows(graph: GraphBatch) -> dict[str, list[list[float]]]:
    return {name: sorted(graph.features(name).tolist()) for name in graph.tables}


@pytest.mark.parametrize("name", REAL)
def test_nothing_is_shown_that_metrics_call_unseen(
    explained: dict[str, tuple[Explainer, Explanations]], name: str
) -> None:
    one, explanations = explained[name]
    graphs = one._candidates
    assert graphs is not None
    scores = one.adapter.score(graphs)
    assert bool(is_learned(graphs, scores.graph, scores.node, one.real.learned_rows).all())
    train = one.train_scores
    assert not bool(is_learned(one.real.train, train.graph, train.node, one.real.learned_rows).all())  # some are
    assert explanations.about["real"] is True


def test_the_page_says_that_nothing_was_generated(
    explained: dict[str, tuple[Explainer, Explanations]], tmp_path: Path
) -> None:
    said = {
        name: explanations.report(tmp_path / f"{name}.html").read_text(encoding="utf-8")
        for name, (_, explanations) in explained.items()
    }
    for name in REAL:
        assert "These are real graphs." in said[name]
        assert "real graphs were looked at" in said[name]
        assert "The generators learned" not in said[name]
    assert "These are real graphs." not in said["random-tree"]


def test_as_many_compete_as_are_asked_for(planted: Dataset) -> None:
    for name in REAL:
        few, every = (made(name, planted, candidates=number).fit() for number in (7, 1000))
        assert len(few._candidates or ()) == 7
        assert len(every._candidates or ()) == len(every.usable())  # type: ignore[attr-defined]


def test_disconnected_graphs_are_not_shown() -> None:
    graphs = rings_and_stars()
    for graph in graphs[:6]:  # a node more, which nothing is joined to
        graph.x = torch.ones(len(graph.x) + 1, 1)
    config = replace(presets_of("confident-real")["fast"], top_k=2)
    one = EXPLAINERS["confident-real"](TinyGCN(1, 2, pool=True), graphs, config=config, seed=3).fit()
    assert one._candidates is not None
    assert bool(connected(one._candidates).all())
    assert not bool(connected(one.real.train).all())


def test_random_ones_are_of_the_class_and_nobody_chose_them(
    explained: dict[str, tuple[Explainer, Explanations]], planted: Dataset
) -> None:
    _, explanations = explained["random-real"]
    for number, several in enumerate(explanations.values()):
        assert len(several) == 3
        assert all(int(item.graph.label[0, item.node]) == number for item in several)
    other = made("random-real", planted, seed=1).fit().explain(measure=False)
    one, two = ([item.score for several in found.values() for item in several] for found in (explanations, other))
    assert one != two


def test_the_most_confident_real_graph_is_the_most_confident(
    explained: dict[str, tuple[Explainer, Explanations]],
) -> None:
    one, explanations = explained["confident-real"]
    assert one._candidates is not None
    highest = one.adapter.score(one._candidates).probability.max(0).values.tolist()
    assert [several[0].score for several in explanations.values()] == pytest.approx(highest)


def test_prototypes_cover_more_of_their_class_than_random_ones(
    explained: dict[str, tuple[Explainer, Explanations]],
) -> None:
    one, _ = explained["prototypes"]
    assert one._candidates is not None
    scores = one.adapter.score(one._candidates)
    ranking = one.ranker.rank(one._candidates, scores)
    share = {}
    for rule in ("covering", "proposed"):
        embeddings = [scores.embedding[[choice.score for choice in several]].numpy() for several in ranking.by(rule)]
        share[rule] = coverage(embeddings, one.members, one.members)["mean"]["3"]
    assert ranking.chosen == ranking.by("covering")
    assert share["covering"] > share["proposed"]


def test_a_prototype_is_of_its_class_to_the_model_too(
    explained: dict[str, tuple[Explainer, Explanations]],
) -> None:
    _, explanations = explained["prototypes"]
    for number, several in enumerate(explanations.values()):
        for item in several:
            assert max(range(len(explanations)), key=lambda label: item.probability[label]) == number


def test_random_trees_are_trees_with_real_rows(explained: dict[str, tuple[Explainer, Explanations]]) -> None:
    one, explanations = explained["random-tree"]
    train = one.real.train
    for several in explanations.values():
        for item in several:
            assert int(item.graph.undirected.sum()) // 2 == int(item.graph.sizes[0]) - 1
            for name in item.graph.tables:
                known = {tuple(row) for row in train.tables[name].tolist()}
                assert {tuple(row) for row in item.graph.features(name).tolist()} <= known


@pytest.mark.parametrize("name", [*REAL, "random-tree"])
def test_whole_graphs_and_the_same_seed(name: str) -> None:
    """Graph classification."""
    graphs = rings_and_stars()
    config = replace(presets_of(name)["fast"], candidates=30, top_k=2)
    one, same = (
        EXPLAINERS[name](TinyGCN(1, 2, pool=True), graphs, config=config, seed=3).fit().explain(measure=False)
        for _ in range(2)
    )
    assert list(one) == list(same)
    for several, others in zip(one.values(), same.values(), strict=True):
        assert [item.score for item in several] == [item.score for item in others]
        assert all(torch.equal(a.graph.edge, b.graph.edge) for a, b in zip(several, others, strict=True))


# -- covering -----------------------------------------------------------------------------------------


@PROPERTY
@given(st.integers(1, 8), st.integers(0, 2**32 - 1), st.floats(0.1, 2.0))
def test_prototypes_cover_nearly_as_much_as_the_best_of_all_sets(count: int, seed: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    points, members = rng.normal(size=(count, 2)), rng.normal(size=(12, 2))
    order = covering(points, members, radius).tolist()
    assert sorted(order) == list(range(count))
    near = np.linalg.norm(points[:, None] - members[None], axis=2) <= radius
    for number in range(1, count + 1):
        best = max(near[list(some)].any(0).sum() for some in combinations(range(count), number))
        assert near[order[:number]].any(0).sum() >= (1 - 1 / np.e) * best - 1e-9


def test_once_all_is_covered_everything_counts_again() -> None:
    members = np.array([[0.0], [1.0]])
    assert covering(np.array([[0.5], [0.0], [0.5]]), members, 0.6).tolist() == [0, 2, 1]


def test_points_at_the_same_place_are_near_at_any_radius() -> None:
    points = np.random.default_rng(0).normal(size=(5, 8)) * 100
    assert sorted(covering(points.repeat(20, 0), points.repeat(3, 0), 0.0).tolist()[:5]) == [0, 20, 40, 60, 80]


def test_nothing_to_cover() -> None:
    assert covering(np.zeros((0, 3)), np.zeros((4, 3)), 1.0).tolist() == []
    assert covering(np.zeros((3, 3)), np.zeros((0, 3)), 1.0).tolist() == [0, 1, 2]
    assert covering(np.ones((3, 3)), np.zeros((4, 3)), 0.5).tolist() == [0, 1, 2]  # nobody is near
