"""metrics.json: every name of the contract, columns on equal footing, floors that real graphs reach."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from dignn.core.processes import map_processes
from dignn.graphs.batch import GraphBatch
from dignn.graphs.isomorphism import fingerprints
from dignn.metrics.feature_rows import RealRows
from dignn.metrics.measures.faithfulness import class_faithfulness
from dignn.metrics.measures.feature_errors import VALUES
from dignn.metrics.run import drawn, random_members
from dignn.model.adapter import GNNAdapter
from dignn.model.scores import Scores
from dignn.selection.motifs.sets import MotifSets
from dignn.selection.settings import SELECTIONS
from dignn.zoo.datasets.registry import load
from metrics.small_world import World, sampled, small_world
from small_runs import Means

MMD = {"node_type", "degree", "clustering", "spectral"}
PAPER = {"mmd", "cosine", "pf", "gf"}
SOUND = {
    *("yield", "mmd", "features", "graphs", "typed_gf", "contrast", "pf_in_distribution", "coverage", "planted"),
    "missing_rates",
    "fidelity",
}
CONTROLS = {"real_subgraphs", "random_trees", "column_noise", "shuffled_rows"}
# Graphs of a column.
NUMBER, FEW = 200, 30


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dignn.metrics.boosted_trees.boosted_trees", lambda rows, trees, state: Means())
        patch.setattr("dignn.metrics.told_apart.WORTH_ROWS", 10**9)
        patch.setattr("dignn.metrics.c2st.FOLDS", 2)
        patch.setattr("dignn.metrics.run.COMPARED", NUMBER)
        yield


@pytest.fixture
def without_classifiers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Features and classifiers take most of the time, and tests that do not look at them do without."""
    monkeypatch.setattr(RealRows, "compared_with", lambda *_, **__: {})
    monkeypatch.setattr("dignn.metrics.told_apart.area", lambda *_: None)


@pytest.fixture
def few(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The world where columns rest on few graphs, and that has measured nothing yet."""
    monkeypatch.setattr("dignn.metrics.run.COMPARED", FEW)
    return anew(world)


def anew(world: World) -> World:
    return replace(world, measuring=replace(world.measuring))


@pytest.fixture(scope="module")
def world() -> World:
    return small_world()


@pytest.fixture(scope="module")
def held_out(world: World) -> dict[str, Any]:
    """Candidates that are the held-out graphs themselves; as many more were not valid."""
    return world.run(world.real.held_out, failed=len(world.real.held_out))


@pytest.fixture(scope="module")
def further(world: World) -> dict[str, Any]:
    """Candidates that are as good as can be: further real graphs."""
    return world.run(world.further)


@pytest.fixture(scope="module")
def of_few(world: World) -> dict[str, Any]:
    """A few candidates, compared with as few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dignn.metrics.run.COMPARED", FEW)
        return anew(world).run(world.further[: 2 * FEW], failed=7)


def columns(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {"run": found, "candidates": found["candidates"], "floor": found["floor"], **found["control"]}


# -- the contract -------------------------------------------------------------------------------------


def test_every_name_of_the_contract_is_everywhere(further: dict[str, Any]) -> None:
    assert set(further) == {"paper", "sound", "candidates", "floor", "control", "fresh", "selection", "details"}
    assert set(further["control"]) == CONTROLS
    assert further["fresh"] is None
    for found in columns(further).values():
        assert {"paper", "sound"} <= set(found)
        assert set(found["paper"]) == PAPER
        assert set(found["sound"]) == SOUND
        assert set(found["paper"]["mmd"]) == set(found["sound"]["mmd"]) == MMD
        assert set(found["sound"]["graphs"]) == {"novelty", "uniqueness", "c2st"}
    noise, shuffled = (further["control"][name] for name in ("column_noise", "shuffled_rows"))
    for found in (further, further["candidates"], further["floor"], noise, shuffled):
        assert set(found["sound"]["features"]) == {*VALUES, "by_type"}
        assert set(found["sound"]["features"]["by_type"]) == {"author", "paper", "term"}
    for name in ("real_subgraphs", "random_trees"):  # rows are real ones: nothing to measure
        assert further["control"][name]["sound"]["features"] is None


def test_values_are_numbers_that_json_has(further: dict[str, Any]) -> None:
    assert json.loads(json.dumps(further, allow_nan=False)) == further
    for found in columns(further).values():
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


@pytest.mark.usefixtures("without_classifiers")
def test_without_truth_or_classes_that_motifs_tell_apart(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = MotifSets.shared(world.reality.motifs.by_class[0], 4)
    bare = replace(world, measuring=replace(world.measuring, truth=None))
    monkeypatch.setattr("dignn.selection.motifs.mining.Parts.motifs", lambda *_: shared)
    monkeypatch.setattr("dignn.selection.motifs.mining.Parts.class_typed", lambda _: shared)
    found = bare.run(world.further[:40])
    for column_ in columns(found).values():
        assert column_["sound"]["planted"] is None
        assert column_["sound"]["contrast"] is None
    assert found["details"]["motifs"]["common"]


@pytest.mark.usefixtures("without_classifiers")
def test_no_candidates(world: World) -> None:
    found = world.run(world.further[:0], failed=10)
    assert found["sound"]["yield"] == 0
    assert found["control"] == {}
    for name in ("pf", "gf", "cosine"):
        assert found["paper"][name] is None
    for name in ("typed_gf", "pf_in_distribution", "coverage"):
        assert found["sound"][name] is None
    assert set(found["paper"]["mmd"].values()) == {None}
    assert set(found["floor"]["paper"]) == PAPER
    json.dumps(found, allow_nan=False)
    assert world.run(world.further[:0])["sound"]["yield"] is None  # nothing was made


def test_same_bytes_each_time(few: World, of_few: dict[str, Any]) -> None:
    assert json.dumps(few.run(few.further[: 2 * FEW], failed=7)) == json.dumps(of_few)


# -- equal footing ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("without_classifiers")
def test_every_column_rests_on_as_many_graphs_and_one_rule_chooses(few: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ranked: list[tuple[str, int]] = []
    for rule in ("highest", "typical"):
        own = few.by(rule)  # type: ignore[arg-type]
        rank = type(own.measuring.ranker).rank

        def noted(ranker: Any, graphs: GraphBatch, scores: Scores, rank: Any = rank) -> Any:
            ranked.append((ranker.rule, len(graphs)))
            return rank(ranker, graphs, scores)

        with monkeypatch.context() as patch:
            patch.setattr(type(own.measuring.ranker), "rank", noted)
            own.run(few.further[: 2 * FEW])
        # all candidates, ours, and the four controls
        assert ranked == [(rule, 2 * FEW)] + [(rule, FEW)] * 5
        ranked.clear()
    assert len(few.measuring.floor[0].plain) == FEW


@pytest.mark.usefixtures("without_classifiers")
def test_few_real_graphs_leave_all_columns_as_few(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dignn.metrics.run.COMPARED", 10_000)
    few = anew(world)
    number = len(world.real.train)
    assert few.measuring.number == number
    many = GraphBatch.cat([world.further, world.further])
    assert len(drawn(many, world.measuring.seed, few.measuring.number)) == number
    assert len(few.measuring.floor[0].plain) == number


@pytest.mark.usefixtures("without_classifiers")
def test_ours_are_the_unrefined_and_candidates_the_refined_ones(world: World, further: dict[str, Any]) -> None:
    """Refinement that makes the model surer shows in one column only."""
    sure = world.ranking(world.further).chosen
    best = world.further[[several[0].graph for several in sure]]
    found = world.run(GraphBatch.cat([world.further[:NUMBER], best]), unrefined=world.further[:NUMBER])
    assert found["candidates"]["paper"]["pf"] > found["paper"]["pf"]
    assert found["candidates"]["paper"]["pf"] == pytest.approx(further["candidates"]["paper"]["pf"])
    assert found["selection"]["highest"]["gf"] == found["candidates"]["paper"]["gf"]


def test_another_seed_draws_other_graphs(few: World, of_few: dict[str, Any]) -> None:
    other = replace(few, measuring=replace(few.measuring, seed=few.measuring.seed.child("other")))
    found = other.run(few.further[: 2 * FEW], failed=7)
    assert found["sound"]["mmd"] != of_few["sound"]["mmd"]
    assert found["floor"]["sound"]["mmd"] != of_few["floor"]["sound"]["mmd"]
    assert found["sound"]["features"]["c2st"] != of_few["sound"]["features"]["c2st"]


# -- fresh data ---------------------------------------------------------------------------------------


def test_fresh_data_has_a_column_and_a_floor_of_its_own(world: World, further: dict[str, Any]) -> None:
    found = world.run(world.further, fresh=sampled(load("planted", seed=5), 3))
    assert set(found["fresh"]) == set(found["floor"]["fresh"]) == SOUND
    for sound in (found["fresh"], found["floor"]["fresh"]):
        assert set(sound["features"]["by_type"]) == {"author", "paper", "term"}
        assert all(abs(sound["mmd"][name]) < 0.1 for name in MMD)
        assert 0 < sound["coverage"] <= 1
    assert found["fresh"]["graphs"]["novelty"] == found["sound"]["graphs"]["novelty"]  # nobody learned from fresh data
    assert found["fresh"]["mmd"] != found["sound"]["mmd"]
    # all else is as it is without
    assert {name: found[name] for name in ("paper", "sound", "control")} == {
        name: further[name] for name in ("paper", "sound", "control")
    }


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
    known = set(fingerprints(world.real.train))
    few = world.real.held_out[np.unique(np.linspace(0, len(world.real.held_out) - 1, NUMBER).astype(int)).tolist()]
    assert sound["graphs"]["novelty"] == pytest.approx(np.mean([name not in known for name in fingerprints(few)]))
    names = world.measuring.floor[0].names
    assert sound["graphs"]["uniqueness"] == pytest.approx(np.mean([names.count(name) == 1 for name in names]))


def test_the_floor_does_not_depend_on_the_candidates(held_out: dict[str, Any], further: dict[str, Any]) -> None:
    assert held_out["floor"] == further["floor"]


@pytest.fixture
def members(world: World) -> tuple[GraphBatch, Scores, list[list[Any]]]:
    train, scores = world.real.train, world.measuring.train_scores
    return train, scores, random_members(train, scores, world.measuring.seed)


def test_floors_are_of_graphs_of_one_class(members: tuple[GraphBatch, Scores, list[list[Any]]]) -> None:
    train, scores, chosen = members
    for number, several in enumerate(chosen):
        assert 10 <= len(several) <= 50
        assert len({choice.graph for choice in several}) == len(several)  # none twice
        for choice in several:
            assert int(scores.graph[choice.score]) == choice.graph
            assert int(train.label[choice.graph, scores.node[choice.score]]) == number
            labels = train.label[choice.graph]
            assert set(labels[labels >= 0].tolist()) == {number}


def test_floors_do_not_begin_with_the_smallest_graphs(members: tuple[GraphBatch, Scores, list[list[Any]]]) -> None:
    """Training graphs are ordered by size, and planted truth and coverage look at the first ten."""
    train, _, chosen = members
    for several in chosen:
        assert {int(train.sizes[choice.graph]) for choice in several[:10]} == {10, 12}


# -- candidates that are known ------------------------------------------------------------------------


def test_candidates_that_are_the_held_out_graphs_score_like_the_floor(held_out: dict[str, Any]) -> None:
    """All of them are compared, and a hundred of them are compared with."""
    shown, floor = held_out["candidates"], held_out["floor"]
    sound = shown["sound"]
    assert sound["yield"] == held_out["sound"]["yield"] == 0.5
    assert all(value < 0.02 for value in sound["mmd"].values())
    assert sound["graphs"]["novelty"] == floor["sound"]["graphs"]["novelty"]
    assert sound["graphs"]["c2st"] <= 0.6
    assert shown["paper"]["cosine"] == floor["paper"]["cosine"]
    assert shown["paper"]["pf"] == pytest.approx(floor["paper"]["pf"], abs=0.05)
    for name in ("column_error", "pair_error"):
        assert sound["features"][name] < 1.3 * floor["sound"]["features"][name]


def test_further_real_graphs_score_like_the_floor(further: dict[str, Any]) -> None:
    sound, floor = further["sound"], further["floor"]["sound"]
    for name in MMD - {"clustering"}:
        assert sound["mmd"][name] < 3 * floor["mmd"][name] + 1e-3
    assert sound["graphs"]["c2st"] == pytest.approx(floor["graphs"]["c2st"], abs=0.15)
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


def test_every_rule_of_selection_is_shown(further: dict[str, Any]) -> None:
    """Of all candidates, like the explanations that are shown."""
    assert set(further["selection"]) == set(SELECTIONS)
    shown, same, other = further["candidates"], further["selection"]["highest"], further["selection"]["typical"]
    assert same["gf"] == shown["paper"]["gf"]
    assert same["probability"] == pytest.approx(shown["paper"]["pf"])  # the paper's rule takes the highest
    assert other["probability"] < same["probability"]
    assert set(same) == {"probability", "gf", "typed_gf", "contrast", "coverage", "planted"}
    for name in ("typed_gf", "contrast", "coverage", "planted"):
        assert same[name] == shown["sound"][name]


def test_details_sum_up_to_the_values(world: World, further: dict[str, Any]) -> None:
    details, classes, shown = further["details"], world.dataset.schema.classes, further["candidates"]
    assert np.mean([details["gf"][name] for name in classes]) == pytest.approx(shown["paper"]["gf"])
    assert np.mean([details["typed_gf"][name] for name in classes]) == pytest.approx(shown["sound"]["typed_gf"])
    best = world.measured(world.further).first()
    assert list(details["gf"].values()) == class_faithfulness(best, world.reality.motifs, typed=False)
    shares = [details["coverage"][name]["10"]["share"] for name in classes]
    assert (
        np.mean(shares) == pytest.approx(details["coverage"]["mean"]["10"]) == pytest.approx(shown["sound"]["coverage"])
    )
    assert set(details["distinct"].values()) == {50}
    assert details["members"] == {
        name: len(members) for name, members in zip(classes, world.reality.members, strict=True)
    }
    assert details["overlap"] == world.real.overlap()
    assert details["compared"] == NUMBER


def test_controls_are_scored_by_the_model(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    score = GNNAdapter.score

    def indifferent(adapter: GNNAdapter, graphs: GraphBatch) -> Scores:
        asked.append(len(graphs))
        found = score(adapter, graphs)
        return replace(found, logits=torch.zeros_like(found.logits))

    monkeypatch.setattr(GNNAdapter, "score", indifferent)
    monkeypatch.setattr(RealRows, "compared_with", lambda *_, **__: {})
    found = world.run(world.further[:60])
    assert asked[-4:] == [60] * 4
    assert {name: control["paper"]["pf"] for name, control in found["control"].items()} == dict.fromkeys(CONTROLS, 0.25)


def test_classifiers_that_learn_beside_change_no_figure(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    few, foreseen = world.further[:60], []

    def in_a_thread(function: Any, arguments: list[Any], **options: Any) -> list[Any]:
        foreseen.append(len(arguments))
        return map_processes(function, arguments, workers=0, **options)

    one = world.run(few, fresh=sampled(load("planted", seed=1), 2))
    monkeypatch.setattr("dignn.metrics.told_apart.cores", lambda: 2)
    monkeypatch.setattr("dignn.metrics.told_apart.WORTH_ROWS", 1)
    monkeypatch.setattr("dignn.metrics.told_apart.map_processes", in_a_thread)
    monkeypatch.setattr("dignn.metrics.told_apart.computed", lambda what, _: pytest.fail(f"{what} was not foreseen"))
    assert world.run(few, fresh=sampled(load("planted", seed=1), 2)) == one
    # Five sets of graphs and five of features of three types; two sets of both against fresh data.
    assert foreseen == [5 + 5 * 3 + 2 + 2 * 3]
