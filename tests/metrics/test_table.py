"""metrics.json: every name of the contract, floors that real graphs reach, controls that are told apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from dignn.gnn.adapter import Scores
from dignn.isomorphism import fingerprints
from dignn.metrics import measure
from dignn.metrics.faithfulness import class_faithfulness
from dignn.metrics.graph_features import GRAPH_FEATURE_METRICS, graph_features
from dignn.metrics.layers import Answer
from dignn.metrics.table import _members_of_classes
from dignn.motifs.sets import MotifSets
from dignn.runtime.seeds import Seed
from dignn.selection import select_highest
from metrics.small_world import World, small_world

MMD = {"node_type", "degree", "clustering", "spectral"}
PAPER = {"mmd", "cosine", "pf", "gf"}
SOUND = {
    *("yield", "mmd", "features", "graphs", "typed_gf", "contrast", "pf_in_distribution", "coverage", "planted"),
}
CONTROLS = {"real_subgraphs", "random_trees", "column_noise", "shuffled_rows"}
RULES = {"highest", "other"}


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dignn.metrics.c2st.TREES", 5)
        patch.setattr("dignn.metrics.c2st.FOLDS", 2)
        patch.setattr("dignn.metrics.table.CONTROL_GRAPHS", 50)
        yield


@pytest.fixture
def without_features(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take most of the time, and tests that do not look at them do without."""
    monkeypatch.setattr("dignn.metrics.table.graph_features", lambda *_, **__: (None, None))


@pytest.fixture(scope="module")
def world() -> World:
    return small_world()


def measured(world: World, answer: Answer, *, generated: int | None = None) -> dict[str, Any]:
    generated = len(answer.graphs) if generated is None else generated
    counts = {"valid": len(answer.graphs), "generated": generated}
    rules = {"highest": answer.chosen, "other": [several[::-1] for several in answer.chosen]}
    return measure(answer, world.reality, counts, rules, world.adapter.score, seed=Seed(0))


@pytest.fixture(scope="module")
def held_out(world: World) -> dict[str, Any]:
    """Candidates that are the held-out graphs themselves."""
    return measured(world, world.answer(world.real.held_out), generated=2 * len(world.real.held_out))


@pytest.fixture(scope="module")
def further(world: World) -> dict[str, Any]:
    """Candidates that are as good as can be: further real graphs."""
    return measured(world, world.answer(world.further))


def layers(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {"run": found, "floor": found["floor"], **found["control"]}


# -- the contract -------------------------------------------------------------------------------------


def test_every_name_of_the_contract_is_everywhere(further: dict[str, Any]) -> None:
    assert {"paper", "sound", "floor", "control"} <= set(further)
    assert set(further["control"]) == CONTROLS
    for found in layers(further).values():
        assert set(found["paper"]) == PAPER
        assert set(found["sound"]) == SOUND
        assert set(found["paper"]["mmd"]) == set(found["sound"]["mmd"]) == MMD
        assert set(found["sound"]["graphs"]) == {"novelty", "uniqueness", "c2st"}
    for found in (further, further["floor"], further["control"]["column_noise"], further["control"]["shuffled_rows"]):
        assert set(found["sound"]["features"]) == {*GRAPH_FEATURE_METRICS, "by_type"}
        assert set(found["sound"]["features"]["by_type"]) == {"author", "paper", "term"}
    for name in ("real_subgraphs", "random_trees"):  # rows are real ones: nothing to measure
        assert set(further["control"][name]["sound"]["features"].values()) == {None}


def test_values_are_numbers_that_json_has(further: dict[str, Any]) -> None:
    assert json.loads(json.dumps(further, allow_nan=False)) == further
    for found in layers(further).values():
        for value in (
            found["paper"]["pf"],
            found["paper"]["gf"],
            found["sound"]["typed_gf"],
            found["sound"]["coverage"],
        ):
            assert 0 <= value <= 1


def test_what_does_not_apply_is_null(further: dict[str, Any]) -> None:
    """Structure of controls that have the candidates' own."""
    for name in ("column_noise", "shuffled_rows"):
        sound = further["control"][name]["sound"]
        assert set(sound["mmd"].values()) == set(sound["graphs"].values()) == {None}
    assert further["details"]["groups"] is None  # no chemistry


@pytest.mark.usefixtures("without_features")
def test_without_truth_or_classes_that_motifs_tell_apart(world: World) -> None:
    shared = MotifSets.shared(world.reality.motifs.by_class[0], 4)
    bare = replace(world, reality=replace(world.reality, truth=None, motifs=shared, class_typed=shared))
    found = measured(bare, world.answer(world.further[:40]))
    for layer in layers(found).values():
        assert layer["sound"]["planted"] is None
        assert layer["sound"]["contrast"] is None
    assert found["details"]["motifs"]["common"]


@pytest.mark.usefixtures("without_features")
def test_no_candidates(world: World) -> None:
    found = measured(world, world.answer(world.further[:0]), generated=10)
    assert found["sound"]["yield"] == 0
    assert found["control"] == {}
    for name in ("pf", "gf", "cosine"):
        assert found["paper"][name] is None
    for name in ("typed_gf", "pf_in_distribution", "coverage"):
        assert found["sound"][name] is None
    assert set(found["paper"]["mmd"].values()) == {None}
    assert set(found["floor"]["paper"]) == PAPER
    json.dumps(found, allow_nan=False)
    assert measured(world, world.answer(world.further[:0]))["sound"]["yield"] is None  # nothing was made


def test_same_bytes_each_time(world: World, held_out: dict[str, Any]) -> None:
    again = measured(world, world.answer(world.real.held_out), generated=2 * len(world.real.held_out))
    assert json.dumps(again) == json.dumps(held_out)


def test_features_are_those_of_the_graphs(world: World, further: dict[str, Any]) -> None:
    reality = world.reality
    expected = graph_features(world.further, reality.train, reality.held_out, reality.learned)
    assert (further["sound"]["features"], further["floor"]["sound"]["features"]) == expected


# -- floors -------------------------------------------------------------------------------------------


def test_floors_are_what_real_graphs_should_score(world: World, further: dict[str, Any]) -> None:
    paper, sound = further["floor"]["paper"], further["floor"]["sound"]
    assert paper["pf"] > 0.95
    assert sound["pf_in_distribution"] > 0.9
    assert sound["yield"] == 1
    assert all(value < 0.05 for value in sound["mmd"].values())
    assert 0.4 < sound["graphs"]["c2st"] < 0.62
    assert 0.35 < sound["features"]["memorisation"] < 0.65
    assert sound["coverage"] > 0.3
    assert 0 < sound["typed_gf"] <= paper["gf"] <= 1  # what contains a typed motif contains it without types
    assert np.mean(list(sound["contrast"].values())) > 0
    known, names = set(fingerprints(world.real.train)), fingerprints(world.real.held_out)
    assert sound["graphs"]["novelty"] == pytest.approx(np.mean([name not in known for name in names]))
    assert sound["graphs"]["uniqueness"] == pytest.approx(np.mean([names.count(name) == 1 for name in names]))


def test_the_floor_does_not_depend_on_the_candidates(held_out: dict[str, Any], further: dict[str, Any]) -> None:
    """Except that as many rows are compared as candidates have."""
    one, other = (dict(found["floor"]["sound"]) for found in (held_out, further))
    assert set(one.pop("features")) == set(other.pop("features"))
    assert one == other
    assert held_out["floor"]["paper"] == further["floor"]["paper"]


def test_floors_take_no_graph_twice(world: World) -> None:
    for several in _members_of_classes(world.reality):
        assert len({choice.graph for choice in several}) == len(several)


def test_floors_are_of_graphs_of_one_class(world: World) -> None:
    train, scores = world.reality.train, world.reality.train_scores
    for number, several in enumerate(_members_of_classes(world.reality)):
        assert 10 <= len(several) <= 50
        for choice in several:
            assert int(scores.graph[choice.score]) == choice.graph
            assert int(train.label[choice.graph, scores.node[choice.score]]) == number
            labels = train.label[choice.graph]
            assert set(labels[labels >= 0].tolist()) == {number}


def test_floors_do_not_begin_with_the_smallest_graphs(world: World) -> None:
    """Training graphs are ordered by size, and planted truth and coverage look at the first ten."""
    for several in _members_of_classes(world.reality):
        sizes = {int(world.reality.train.sizes[choice.graph]) for choice in several[:10]}
        assert sizes == {10, 12}


# -- candidates that are known ------------------------------------------------------------------------


def test_candidates_that_are_the_held_out_graphs_score_like_the_floor(held_out: dict[str, Any]) -> None:
    sound, floor = held_out["sound"], held_out["floor"]["sound"]
    assert sound["yield"] == 0.5
    assert all(value == pytest.approx(0, abs=1e-12) for value in sound["mmd"].values())  # from themselves
    assert sound["graphs"]["novelty"] == floor["graphs"]["novelty"]
    assert sound["graphs"]["uniqueness"] == floor["graphs"]["uniqueness"]
    assert sound["graphs"]["c2st"] <= 0.55
    assert held_out["paper"]["cosine"] == held_out["floor"]["paper"]["cosine"]
    assert held_out["paper"]["pf"] == pytest.approx(held_out["floor"]["paper"]["pf"], abs=0.05)
    for name in ("column_error", "pair_error"):
        assert sound["features"][name] < 1.3 * floor["features"][name]


def test_further_real_graphs_score_like_the_floor(further: dict[str, Any]) -> None:
    sound, floor = further["sound"], further["floor"]["sound"]
    for name in MMD - {"clustering"}:
        assert sound["mmd"][name] < 3 * floor["mmd"][name] + 1e-3
    assert sound["graphs"]["c2st"] == pytest.approx(floor["graphs"]["c2st"], abs=0.1)
    assert sound["graphs"]["uniqueness"] == pytest.approx(floor["graphs"]["uniqueness"], abs=0.1)
    assert 0 < sound["coverage"] <= floor["coverage"] + 0.1  # the surest ones cover less than random ones


def test_controls_are_told_apart(further: dict[str, Any]) -> None:
    trees, noise, shuffled, real = (
        further["control"][name]["sound"]
        for name in ("random_trees", "column_noise", "shuffled_rows", "real_subgraphs")
    )
    floor = further["floor"]["sound"]
    assert trees["graphs"]["c2st"] > floor["graphs"]["c2st"] + 0.2
    assert trees["mmd"]["degree"] > 2 * real["mmd"]["degree"]
    assert noise["features"]["pair_error"] > shuffled["features"]["pair_error"]
    assert noise["features"]["c2st"] > further["sound"]["features"]["c2st"]
    assert max(trees["planted"]["mean"]["motif_recall"], 0) < floor["planted"]["mean"]["motif_recall"]


# -- beside the contract ------------------------------------------------------------------------------


def test_every_rule_of_selection_is_shown(world: World, further: dict[str, Any]) -> None:
    assert set(further["selection"]) == RULES
    same, other = further["selection"]["highest"], further["selection"]["other"]
    assert same["gf"] == further["paper"]["gf"]
    assert same["probability"] == pytest.approx(further["paper"]["pf"])  # the paper's rule takes the highest
    assert other["probability"] < same["probability"]
    for name in ("typed_gf", "contrast", "coverage", "planted"):
        assert same[name] == further["sound"][name]


def test_details_sum_up_to_the_values(world: World, further: dict[str, Any]) -> None:
    details, classes = further["details"], world.dataset.schema.classes
    assert np.mean([details["gf"][name] for name in classes]) == pytest.approx(further["paper"]["gf"])
    assert np.mean([details["typed_gf"][name] for name in classes]) == pytest.approx(further["sound"]["typed_gf"])
    answer = world.answer(world.further)
    best = [several[:1] for several in answer.best()]
    assert list(details["gf"].values()) == class_faithfulness(best, world.reality.motifs, typed=False)
    shares = [details["coverage"][name]["10"]["share"] for name in classes]
    assert (
        np.mean(shares)
        == pytest.approx(details["coverage"]["mean"]["10"])
        == pytest.approx(further["sound"]["coverage"])
    )
    assert set(details["distinct"].values()) == {50}
    assert details["members"] == {
        name: len(members) for name, members in zip(classes, world.reality.members, strict=True)
    }


@pytest.mark.usefixtures("without_features")
def test_controls_are_scored_by_the_model(world: World) -> None:
    asked: list[int] = []

    def score(graphs: Any) -> Scores:
        asked.append(len(graphs))
        found = world.adapter.score(graphs)
        return replace(found, logits=torch.zeros_like(found.logits))

    graphs = world.further[:60]
    scores = world.adapter.score(graphs)
    answer = Answer(graphs, scores, select_highest(graphs, scores, 5))
    counts = {"valid": 60, "generated": 60}
    found = measure(answer, world.reality, counts, {}, score, seed=Seed(0))
    assert asked == [50] * 4
    assert {name: control["paper"]["pf"] for name, control in found["control"].items()} == dict.fromkeys(CONTROLS, 0.25)
