"""Explanations: what they tell of their graph, and that files give back what was saved."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import hand_made
from dignn.core.errors import DignnError, RunFolderError
from dignn.explanations.explanation import TOLD_CLASSES, Explanation, Explanations, Standing
from dignn.explanations.explanation_files import EXPLANATIONS_FORMAT
from dignn.graphs import description as readable
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Layout, Relation, Schema
from dignn.report.reference import Reference
from strategies import batch_of

SCHEMA = Schema(
    node_types=("author", "paper"),
    relations=(Relation("author", "writes", "paper", "written_by"), Relation("paper", "cites", "paper", directed=True)),
    features=(FeatureSpec(FeatureKind.CONTINUOUS, 3, names=("age", "height", "luck")), FeatureSpec()),
    classes=("one", "two"),
    target="author",
)


def graph(luck: float = -4.0) -> GraphBatch:
    """An author of two papers, the second of which cites the first."""
    made = batch_of(SCHEMA, [0, 1, 1], {(0, 1): 1, (0, 2): 1, (2, 1): 2}, labels={0: 1})
    made.row[0, 0] = 0
    return replace(made, tables={"author": torch.tensor([[0.5, 0.0, luck]])}).check()


def explanation(rank: int = 0, **changes: object) -> Explanation:
    made = Explanation(
        class_index=1,
        class_name="two",
        rank=rank,
        probability=(0.25, 0.75),
        log_odds=1.1,
        graph=graph(rank - 4.0),
        node=0,
        candidate=17,
        standing=Standing(True, 0.5, 0.25),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_what_it_tells_of_its_graph() -> None:
    shown = explanation()
    assert shown.score == 0.75
    assert shown.composition() == "1 author, 2 paper"
    assert [(u, v, relation.name) for u, v, relation in shown.edges()] == [
        (0, 1, "writes"),
        (0, 2, "writes"),
        (2, 1, "cites"),
    ]
    assert shown.top_features(0) == [("luck", -4.0), ("age", 0.5)]  # by size, zeros left out
    assert shown.top_features(0, 1) == [("luck", -4.0)]
    assert shown.top_features(1) == []


def test_the_row_is_where_the_classified_node_stands_in_the_data() -> None:
    shown = hand_made.explanation()  # papers, an author, a venue
    assert (shown.node, shown.row) == (2, 0)
    row = shown.to_hetero_data()["author"].x[shown.row]
    assert row.tolist() == shown.graph.tables["author"][int(shown.graph.row[0, 2])].tolist()
    flat = replace(shown.graph.schema, layout=Layout.HOMOGENEOUS, type_in_x=True)
    assert (
        replace(shown, graph=replace(shown.graph, schema=flat)).row == 2
    )  # a Data has nodes of all types in one table
    assert explanation(node=None).row is None


def test_the_summary_is_json_and_says_how_it_stands() -> None:
    summary = json.loads(json.dumps(explanation().summary()))
    assert summary["standing"] == {"inside": True, "score_rank": 0.5, "distance_rank": 0.25}
    assert summary["probability"] == {"one": 0.25, "two": 0.75}
    assert (summary["target_node"], summary["candidate"], summary["evidence"]) == (0, 17, None)
    assert explanation(standing=None).summary()["standing"] is None


@pytest.mark.parametrize("standing", [None, Standing(False, 1.0, 0.125)])
def test_files_give_back_what_was_saved(tmp_path: Path, standing: Standing | None) -> None:
    saved = Explanations(
        {"one": [], "two": [explanation(0, standing=standing), explanation(1)]}, {"validity": {"a": 1}}
    )
    saved.save(tmp_path)
    loaded = Explanations.load(tmp_path)
    assert list(loaded) == ["one", "two"]
    assert loaded["one"] == []
    assert loaded.about == {"validity": {"a": 1}}
    for before, after in zip(saved["two"], loaded["two"], strict=True):
        assert after.standing == before.standing
        assert after.evidence is None
        assert after.summary() == before.summary()
        assert torch.equal(after.graph.features("author"), before.graph.features("author"))
        assert torch.equal(after.graph.edge, before.graph.edge)


def test_no_explanation_at_all(tmp_path: Path) -> None:
    Explanations({"one": [], "two": []}).save(tmp_path)
    assert dict(Explanations.load(tmp_path)) == {"one": [], "two": []}


def test_files_of_another_version_are_refused(tmp_path: Path) -> None:
    Explanations({"two": [explanation()]}).save(tmp_path)
    path = tmp_path / "explanations.json"
    content = json.loads(path.read_text())
    assert content["format"] == EXPLANATIONS_FORMAT
    path.write_text(json.dumps(content | {"format": "dignn.Explanations.1"}))
    remedy = "if it is older, `dignn evaluate .*` makes it anew; if it is newer, update dignn"
    with pytest.raises(RunFolderError, match=f"format dignn.Explanations.1, not {EXPLANATIONS_FORMAT}: {remedy}"):
        Explanations.load(tmp_path)


def test_nearest_real_graphs_are_saved_where_all_have_one(tmp_path: Path) -> None:
    example = graph(2.0)
    Explanations({"two": [explanation(0, example=example), explanation(1, example=graph(3.0))]}).save(tmp_path)
    loaded = Explanations.load(tmp_path)["two"]
    assert [float(item.example.features("author")[0, 2]) for item in loaded if item.example is not None] == [2.0, 3.0]
    assert loaded[0].example is not None
    assert torch.equal(loaded[0].example.edge, example.edge)


def test_explanations_of_some_classes_keep_their_class(tmp_path: Path) -> None:
    Explanations({"two": [explanation()]}).save(tmp_path)
    (loaded,) = Explanations.load(tmp_path)["two"]
    assert loaded.class_index == 1
    assert loaded.score == 0.75


def test_probabilities_go_by_name(tmp_path: Path) -> None:
    Explanations({"two": [explanation()]}).save(tmp_path)
    path = tmp_path / "explanations.json"
    content = json.loads(path.read_text())
    content["classes"]["two"][0]["probability"] = {"two": 0.75, "one": 0.25}
    path.write_text(json.dumps(content))
    assert Explanations.load(tmp_path)["two"][0].probability == (0.25, 0.75)


def test_of_very_many_classes_the_most_probable_ones_are_told(tmp_path: Path) -> None:
    count, own = 5 * TOLD_CLASSES, 3 * TOLD_CLASSES
    wide = replace(graph().schema, classes=tuple(f"class {number}" for number in range(count)))
    probability = torch.arange(count).double().add(1).log().softmax(0)
    probability[own] = 0.0
    given = explanation(
        class_index=own,
        class_name=wide.classes[own],
        probability=tuple(probability.tolist()),
        graph=replace(graph(), schema=wide),
    )
    told = given.summary()["probability"]
    assert list(told) == [wide.classes[own], *wide.classes[-TOLD_CLASSES + 1 :]]
    Explanations({name: [given] * (name == given.class_name) for name in wide.classes}).save(tmp_path)
    (found,) = Explanations.load(tmp_path)[given.class_name]
    assert [found.probability[wide.classes.index(name)] for name in told] == list(told.values())
    assert sum(found.probability) == pytest.approx(float(probability.sum().clamp_min(1.0)))
    assert found.summary()["probability"] == told
    path = tmp_path / "explanations.json"
    content = json.loads(path.read_text())
    (item,) = content["classes"][given.class_name]
    for damaged in (list(told.values()), {**told, "nobody": 0.0}, dict(list(told.items())[1:])):
        item["probability"] = damaged
        path.write_text(json.dumps(content))
        with pytest.raises(RunFolderError):
            Explanations.load(tmp_path)
    item["probability"] = dict(zip(wide.classes, probability.tolist(), strict=True))  # all of them are fine, too
    path.write_text(json.dumps(content))
    assert Explanations.load(tmp_path)[given.class_name][0].probability == given.probability


def test_what_was_there_before_does_not_stay(tmp_path: Path) -> None:
    Explanations({"two": [explanation(example=graph(2.0))]}, reference=Reference(graph(), graph(), {})).save(tmp_path)
    assert Explanations.load(tmp_path).reference is not None
    Explanations({"two": [explanation()]}).save(tmp_path)
    loaded = Explanations.load(tmp_path)
    assert loaded.reference is None
    assert loaded["two"][0].example is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("probability", {"one": "much", "two": 0.75}),
        ("probability", {"one": 0.25}),
        ("probability", [0.25, 0.75]),
        ("target_node", 3),
        ("target_node", "author"),
        ("log_odds", None),
        ("rank", "first"),
        ("standing", {"inside": True}),
        ("standing", 7),
        ("standing", {"inside": "yes", "score_rank": 0.5, "distance_rank": 0.5}),
        ("standing", {"inside": True, "score_rank": [1], "distance_rank": 0.5}),
        ("evidence", {"text": "Because"}),
        ("evidence", []),
    ],
)
def test_values_that_no_run_writes_are_named_as_damage(tmp_path: Path, key: str, value: object) -> None:
    Explanations({"two": [explanation()]}).save(tmp_path)
    path = tmp_path / "explanations.json"
    content = json.loads(path.read_text())
    content["classes"]["two"][0][key] = value
    path.write_text(json.dumps(content))
    with pytest.raises(RunFolderError, match="explanations.json is damaged .*; `dignn evaluate .*` makes it anew"):
        Explanations.load(tmp_path)


@pytest.mark.parametrize("classes", [[], {"two": 3}, {"two": ["x"]}, None])
def test_classes_that_are_none_are_named_as_damage(tmp_path: Path, classes: object) -> None:
    Explanations({"two": [explanation()]}).save(tmp_path)
    path = tmp_path / "explanations.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"classes": classes}))
    with pytest.raises(RunFolderError, match="explanations.json is damaged"):
        Explanations.load(tmp_path)


def test_graphs_of_other_explanations_are_refused(tmp_path: Path) -> None:
    Explanations({"two": [explanation(), explanation(1)]}).save(tmp_path)
    other = tmp_path / "other"
    Explanations({"two": [explanation()]}).save(other)
    (other / "explanations.safetensors").replace(tmp_path / "explanations.safetensors")
    with pytest.raises(
        RunFolderError, match="holds 1 graphs and explanations.json tells of 2; `dignn evaluate .*` makes both"
    ):
        Explanations.load(tmp_path)


@pytest.mark.parametrize("name", ["config", "metrics", "timings", "generation"])
def test_other_damaged_files_of_a_run_folder_are_named(tmp_path: Path, name: str) -> None:
    Explanations({"two": [explanation()]}).save(tmp_path)
    for content in ("[1, 2", "[1, 2]"):
        (tmp_path / f"{name}.json").write_text(content)
        with pytest.raises(RunFolderError, match=f"{name}.json is damaged"):
            Explanations.load(tmp_path)


def test_in_a_terminal_explanations_are_lines_and_no_tensors() -> None:
    assert repr(explanation()) == "Explanation('two', p = 0.75, 3 nodes: 1 author, 2 paper)"
    shown = repr(Explanations({"one": [], "two": [explanation(), explanation(1)]}))
    assert shown.count("Explanation('two'") == 2
    assert "'one': []" in shown
    assert max(map(len, shown.splitlines())) < 80
    assert "tensor" not in shown


def test_loading_from_a_folder_without_a_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="holds no explanations.json"):
        Explanations.load(tmp_path)


def test_an_unknown_class_names_the_known_ones() -> None:
    with pytest.raises(DignnError, match="no class called 'x'; choose from one, two"):
        Explanations({"one": [], "two": [explanation()]})["x"]
    with pytest.raises(DignnError, match="called 'tow' .did you mean 'two'"):
        Explanations({"one": [], "two": [explanation()]})["tow"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("text",), {"a": 1}),
        (("text",), None),
        (("own_columns", 0, "node_type"), "<b>x"),
        (("own_columns", 0, "column"), 99),
        (("own_columns", 0, "drop"), "much"),
        (("removal", "effects", 0, "nodes"), [17]),
        (("removal", "effects", 0, "drop"), [1]),
        (("removal", "probability"), "1"),
        (("nearest", "distance"), float("nan")),
    ],
)
def test_evidence_that_no_run_writes_is_named_as_damage(tmp_path: Path, path: tuple[Any, ...], value: object) -> None:
    hand_made.explanations().save(tmp_path)
    file = tmp_path / "explanations.json"
    content = json.loads(file.read_text())
    place = content["classes"]["two"][0]["evidence"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    file.write_text(json.dumps(content))
    with pytest.raises(RunFolderError, match="explanations.json is damaged .*; `dignn evaluate .*` makes it anew"):
        Explanations.load(tmp_path)


def test_graphs_that_are_missing_are_named(tmp_path: Path) -> None:
    Explanations({"two": [explanation()]}).save(tmp_path)
    (tmp_path / "explanations.safetensors").unlink()
    with pytest.raises(RunFolderError, match="explanations.safetensors is missing; `dignn evaluate .*` makes it anew"):
        Explanations.load(tmp_path)


@pytest.mark.parametrize("change", [{"label": -1}, {"label": 77}, {"predicted": "two"}, {"node": 999}, {"node": -1}])
def test_a_nearest_example_that_cannot_be_is_named_as_damage(tmp_path: Path, change: dict[str, object]) -> None:
    hand_made.explanations().save(tmp_path)
    path = tmp_path / "explanations.json"
    content = json.loads(path.read_text())
    content["classes"]["two"][0]["evidence"]["nearest"] |= change
    path.write_text(json.dumps(content))
    with pytest.raises(RunFolderError, match="explanations.json is damaged"):
        Explanations.load(tmp_path)


def test_edges_between_two_types_go_as_their_relation_is_named() -> None:
    known = hand_made.graph()
    named = [(u, v, relation.name) for u, v, relation in readable.edges(known)]
    assert sorted(named) == [(0, 3, "in"), (1, 0, "cites"), (2, 0, "writes"), (2, 1, "writes")]
