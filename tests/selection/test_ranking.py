"""Ranking: what each rule puts first, by slow computations of its own; once each, from training graphs alone."""

from __future__ import annotations

import numpy as np
import pytest

from dignn.core.seeds import Seed
from dignn.graphs.plain_graph import plain_graphs
from dignn.selection.members import Members, all_members
from dignn.selection.motifs import matching
from dignn.selection.motifs.matching import contains
from dignn.selection.motifs.mining import FrequentParts
from dignn.selection.ranking import RANKED, Ranker, Ranking
from dignn.selection.representative import NEARER_SHARE
from dignn.selection.settings import SELECTIONS, Selection
from metrics.small_world import World, small_world

TOLERANCE = 0.02


@pytest.fixture(scope="module")
def world() -> World:
    return small_world()


@pytest.fixture(scope="module")
def ranker(world: World) -> Ranker:
    members = all_members(world.measuring.train_scores, world.real.train, seed=Seed(0))
    return Ranker(world.real.train, members, "representative", TOLERANCE, Seed(0))


@pytest.fixture(scope="module")
def ranking(world: World, ranker: Ranker) -> Ranking:
    candidates = world.further[::3]
    return ranker.rank(candidates, world.adapter.score(candidates), 4)


def nearly_best(ranking: Ranking, members: Members) -> dict[int, int]:
    """Graph -> row of candidates like real members, meant and seen as the class, nearly as sure as the surest."""
    scores, number = ranking.scores, members.class_index
    inside = members.place(scores).inside(NEARER_SHARE)
    best: dict[int, int] = {}
    for row in range(len(scores)):
        fits = inside[row] and scores.predicted[row] == number and scores.labels(ranking.candidates)[row] == number
        graph = int(scores.graph[row])
        if fits and (graph not in best or scores.log_odds[row, number] > scores.log_odds[best[graph], number]):
            best[graph] = row
    top = max(float(scores.probability[row, number]) for row in best.values())
    return {graph: row for graph, row in best.items() if scores.probability[row, number] >= top - TOLERANCE}


def test_the_papers_rule_goes_by_score_alone(ranking: Ranking) -> None:
    for number, several in enumerate(ranking.by("highest")):
        odds = [float(ranking.scores.log_odds[choice.score, number]) for choice in several]
        assert odds == sorted(odds, reverse=True)
        assert odds[0] == float(ranking.scores.log_odds[:, number].max())


def test_the_typical_rule_begins_with_the_graph_nearest_to_members(ranking: Ranking, ranker: Ranker) -> None:
    for members, several in zip(ranker.members, ranking.by("typical"), strict=True):
        pool = nearly_best(ranking, members)
        distance = members.place(ranking.scores).distance
        assert several[0].graph in pool
        assert distance[pool[several[0].graph]] == pytest.approx(min(distance[row] for row in pool.values()))


def test_the_representative_rule_begins_with_the_most_typical_structure(ranking: Ranking, ranker: Ranker) -> None:
    for number, several in enumerate(ranking.by("representative")):
        pool = nearly_best(ranking, ranker.members[number])
        typical = ranker.typical_parts[number]
        parts, count = typical.parts, typical.count
        share = {
            graph: float(contains(plain_graphs(ranking.candidates[graph]), parts, typed=True)[0] @ count / count.sum())
            for graph in pool
        }
        assert several[0].graph in pool
        assert share[several[0].graph] == pytest.approx(max(share.values()))


@pytest.mark.parametrize("rule", SELECTIONS)
def test_no_two_are_the_same_graph_and_the_settings_say_which_rule_chooses(
    ranking: Ranking, world: World, ranker: Ranker, rule: Selection
) -> None:
    other = Ranker(world.real.train, ranker.members, rule, TOLERANCE, Seed(0)).rank(ranking.candidates, ranking.scores)
    assert other.chosen == ranking.by(rule)
    assert other.chosen is other.chosen  # ranked once
    for several in other.chosen:
        assert len({choice.graph for choice in several}) == len(several) == RANKED
    if rule != ranker.rule:
        assert other.chosen != ranking.chosen


def test_as_many_as_are_asked_for_beyond_what_metrics_look_at(ranking: Ranking, ranker: Ranker) -> None:
    more = ranker.rank(ranking.candidates, ranking.scores, RANKED + 10).chosen[0]
    assert len(more) == RANKED + 10
    assert more[:RANKED] == ranking.chosen[0]


def test_what_rules_know_comes_from_training_graphs(world: World, ranker: Ranker) -> None:
    assert sum(len(typical.parts) for typical in ranker.typical_parts) > 0
    of_train = plain_graphs(world.real.train)
    for typical in ranker.typical_parts:
        assert contains(of_train, typical.parts, typed=True).any(0).all()
        assert np.all(typical.count > 0)


def test_classes_that_share_parts_search_each_graph_once(
    ranking: Ranking, ranker: Ranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = Ranker(ranker.train, ranker.members, ranker.rule, TOLERANCE, Seed(0))
    vars(shared)["typical_parts"] = [FrequentParts(ranker.typical_parts[0].parts, ranker.typical_parts[0].count)] * len(
        ranker.members
    )
    searched = []
    search = matching._Language.search
    monkeypatch.setattr(
        matching._Language, "search", lambda self, graphs: searched.append(len(graphs)) or search(self, graphs)
    )
    again = [shared.rank(ranking.candidates, ranking.scores).chosen for _ in range(2)]
    assert again[0] == again[1]
    assert sum(searched) <= len(ranking.candidates)
