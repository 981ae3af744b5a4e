"""Ranking: by any rule, from training graphs alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dignn.config import PRESETS
from dignn.errors import DignnError
from dignn.members import all_members
from dignn.motifs.mining import Parts
from dignn.ranking import RANKED, SELECTIONS, Ranking
from dignn.runtime.seeds import Seed
from dignn.selection import Representative, select_highest, select_representative
from dignn.selection.representative import PARTS
from metrics.small_world import World, small_world


@pytest.fixture(scope="module")
def world() -> World:
    return small_world()


def ranking(world: World, number: int = 4, **settings: object) -> Ranking:
    config = replace(PRESETS["fast"], **settings)  # type: ignore[arg-type]
    train, candidates = world.real.train, world.further[::3]
    members = all_members(world.reality.train_scores, train)
    scores = world.adapter.score(candidates)
    return Ranking(candidates, scores, train, members, config, number=number, seed=Seed(0))


def test_each_rule_is_what_its_name_says(world: World) -> None:
    found = ranking(world, tolerance=0.02)
    assert found.by("highest") == select_highest(found.candidates, found.scores, RANKED)
    members = all_members(world.reality.train_scores, world.real.train)
    parts = Parts(world.real.train, seed=Seed(0)).frequent(PARTS)
    for rule, known in (("typical", None), ("representative", parts)):
        expected = select_representative(found.candidates, found.scores, Representative(members, known, 0.02), RANKED)
        assert found.by(rule) == expected  # type: ignore[arg-type]


def test_rules_differ_and_rank_different_graphs(world: World) -> None:
    found = ranking(world)
    assert len({str(found.by(rule)) for rule in SELECTIONS}) == len(SELECTIONS)
    for rule in SELECTIONS:
        for several in found.by(rule):
            assert len({choice.graph for choice in several}) == len(several) == RANKED


@pytest.mark.parametrize("rule", SELECTIONS)
def test_the_settings_say_which_rule_chooses(world: World, rule: str) -> None:
    found = ranking(world, selection=rule)
    assert found.chosen == found.by(rule)  # type: ignore[arg-type]
    assert found.chosen is found.chosen  # ranked once


def test_as_many_as_are_asked_for_beyond_what_metrics_look_at(world: World) -> None:
    more, few = ranking(world, RANKED + 10).chosen[0], ranking(world).chosen[0]
    assert len(more) == RANKED + 10
    assert more[:RANKED] == few


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(DignnError, match="selection"):
        replace(PRESETS["fast"], selection="best")  # type: ignore[arg-type]
