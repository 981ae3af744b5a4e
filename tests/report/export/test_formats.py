"""Exports: other programs read back the graph that was written, whatever names are in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import networkx as nx
import pytest
from PIL import Image

import hand_made
import studied_by_hand
from dignn.core.errors import DignnError
from dignn.explanations.explanation import Explanation
from dignn.report.export.formats import FORMATS, export, export_all, file_stems
from dignn.report.safe_text import clean

READERS: dict[str, Callable[[Path], Any]] = {
    "graphml": lambda path: nx.read_graphml(path, node_type=int),
    "gexf": lambda path: nx.read_gexf(path, node_type=int),
}
EVERY = [
    pytest.param(hand_made.explanation(), id="complete"),
    pytest.param(hand_made.explanation(bare=True), id="bare"),
    pytest.param(hand_made.explanation(hostile=True), id="hostile"),
    pytest.param(hand_made.lone(), id="one node"),
    pytest.param(hand_made.lone(target=False), id="one graph"),
]


@pytest.mark.parametrize("format", READERS)
@pytest.mark.parametrize("explanation", EVERY)
def test_graph_tools_read_types_edges_and_features_back(format: str, explanation: Explanation, tmp_path: Path) -> None:
    read = READERS[format](export(explanation, tmp_path / f"graph.{format}"))
    summary = explanation.summary()
    assert sorted(read) == list(range(len(summary["nodes"])))
    for node, told in enumerate(summary["nodes"]):
        values = read.nodes[node]
        assert values["type"] == clean(told["type"])
        assert values["target"] is (node == explanation.node)
        assert values["features"] == clean("; ".join(f"{name}={value:g}" for name, value in told["features"]))
    joined = {(u, v) if values["directed"] else frozenset((u, v)): values for u, v, values in read.edges(data=True)}
    assert joined.keys() == {
        (e["source"], e["target"]) if e["directed"] else frozenset((e["source"], e["target"])) for e in summary["edges"]
    }
    assert sorted(values["relation"] for values in joined.values()) == sorted(
        clean(edge["relation"]) for edge in summary["edges"]
    )


@pytest.mark.parametrize("format", READERS)
def test_attributes_say_what_matters_and_what_it_is_called(format: str, tmp_path: Path) -> None:
    read = READERS[format](export(hand_made.explanation(), tmp_path / f"graph.{format}"))
    assert [read.nodes[node].get("importance") for node in range(4)] == [2.0, 0.5, None, None]
    assert [read.nodes[node]["label"] for node in range(4)] == ["paper", "paper", "author", "VLDB"]
    assert read.nodes[0]["paper: column 1"] == -2.0
    assert (read.nodes[2]["author: query"], read.nodes[2]["author: index"]) == (1.0, 0.0)
    assert read.edges[2, 0]["importance"] == 1.5
    assert read.edges[1, 0] == read.edges[1, 0] | {"relation": "cites", "directed": True, "importance": -0.25}
    assert "importance" not in read.edges[0, 3]  # nobody measured it
    assert not read.has_edge(0, 1)  # 1 cites 0, and not the other way round


def test_the_graph_tells_its_class(tmp_path: Path) -> None:
    shown = hand_made.explanation()
    told = nx.read_graphml(export(shown, tmp_path / "graph.graphml")).graph
    assert (told["class"], told["probability"], told["rank"]) == ("two", 0.75, 0)
    assert shown.evidence is not None
    assert told["text"] == shown.evidence.text
    described = export(shown, tmp_path / "graph.gexf").read_text()
    assert "class: two; probability: 0.75" in described


def test_columns_of_the_same_name_stay_apart(tmp_path: Path) -> None:
    read = nx.read_graphml(export(hand_made.explanation(hostile=True), tmp_path / "graph.graphml"), node_type=int)
    values = {name: value for name, value in read.nodes[2].items() if name.startswith("_hidden: ")}
    assert list(values.values()) == [1.0, 0.0, 1.0]


def test_exports_are_the_same_every_time(tmp_path: Path) -> None:
    for format in FORMATS:
        first, second = (export(hand_made.explanation(), tmp_path / f"{name}.{format}") for name in "ab")
        assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("explanation", EVERY)
def test_json_is_the_summary(explanation: Explanation, tmp_path: Path) -> None:
    text = export(explanation, tmp_path / "graph.json").read_text()
    assert json.loads(text) == json.loads(json.dumps(explanation.summary()))


@pytest.mark.parametrize("explanation", EVERY)
def test_svg_stands_alone(explanation: Explanation, tmp_path: Path) -> None:
    path = export(explanation, tmp_path / "graph.svg")
    root = ET.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg"
    assert {element.tag for element in root.iter()} <= {
        f"{space}{tag}" for tag in ("svg", "g", "rect", "text", "title", "line", "path", "circle", "polygon")
    }
    assert len(root.findall(f".//{space}g[@class='node']")) == int(explanation.graph.sizes[0])
    texts = [element.text for element in root.iter(f"{space}text")]
    kinds = {explanation.graph.schema.node_types[int(code)] for code in explanation.graph.node_type[0]}
    assert {clean(kind) for kind in kinds} <= set(texts)
    assert "href" not in path.read_text()


@pytest.mark.parametrize("explanation", EVERY)
def test_png_is_a_picture(explanation: Explanation, tmp_path: Path) -> None:
    with Image.open(export(explanation, tmp_path / "graph.png")) as picture:
        assert min(picture.size) > 500
        assert len(picture.convert("L").getcolors() or []) > 2  # something is drawn


@pytest.mark.parametrize(("name", "found"), [("graph.gml", "'.gml'"), ("graph", "no suffix")])
def test_other_suffixes_are_named_with_those_there_are(name: str, found: str, tmp_path: Path) -> None:
    with pytest.raises(DignnError, match=f"{found}.*choose from graphml, gexf, json, png, svg"):
        export(hand_made.explanation(), tmp_path / name)
    with pytest.raises(DignnError, match="choose from graphml"):
        export_all(hand_made.explanations(), tmp_path, "gml")
    assert not list(tmp_path.iterdir())


def test_every_explanation_has_a_file_in_the_folder_whatever_its_class_is_called(tmp_path: Path) -> None:
    shown = hand_made.explanations(hostile=True)
    folder = tmp_path / "new" / "folder"
    paths = export_all(shown, folder, ".JSON")
    assert len(set(paths)) == len(paths) == sum(len(several) for several in shown.values())
    assert sorted(paths) == sorted(folder.iterdir())
    told = [json.loads(path.read_text()) for path in paths]
    assert [(item["class"], item["rank"]) for item in told] == [
        (item.class_name, item.rank) for several in shown.values() for item in several
    ]


@pytest.mark.parametrize("there", [False, True], ids=["a new folder", "a folder with files"])
def test_where_one_file_fails_none_is_written(there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = hand_made.explanations()
    folder = tmp_path / "new" / "folder"
    if there:
        export_all(shown, folder, "json")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    last = [item for several in shown.values() for item in several][-1]

    def damaged(self: Explanation) -> dict[str, Any]:
        if self is last:
            raise TypeError("a damaged explanation")
        return {"new": "content"}

    monkeypatch.setattr(Explanation, "summary", damaged)
    with pytest.raises(TypeError, match="a damaged explanation"):
        export_all(shown, folder, "json")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert there or not list(tmp_path.iterdir())


@pytest.mark.parametrize("hostile", [False, True])
def test_what_the_model_goes_by_is_beside_the_graphs_as_json(hostile: bool, tmp_path: Path) -> None:
    shown = studied_by_hand.authors(hostile)
    paths = export_all(shown, tmp_path / "json", "json")
    assert [path.name for path in paths].count("goes_by.json") == 1
    told = json.loads((tmp_path / "json" / "goes_by.json").read_text())
    name = list(shown)[1]
    assert told["classes"][name]["sentence"] == clean(str(shown.sentence(name)))
    terms = told["classes"][name]["terms"]
    assert [(each["points"], each["decoy"]) for each in terms] == [(t.points, t.decoy) for t in shown.goes_by[name]]
    assert len(told["classes"][name]["rules"]) == 2
    assert told["fidelity"]["scorecard"] == shown.about["studied"]["scorecard"]
    assert "rule_list" not in told["fidelity"]
    assert "goes_by.json" not in [path.name for path in export_all(shown, tmp_path / "svg", "svg")]


def test_a_folder_in_the_way_of_a_file_is_named_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "two-2.json").mkdir()
    with pytest.raises(DignnError, match=r"two-2\.json is a folder"):
        export_all(hand_made.explanations(), tmp_path, "json")
    assert [path.name for path in tmp_path.iterdir()] == ["two-2.json"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DignnError, match="file.* cannot be written"):
        export_all(hand_made.explanations(), tmp_path / "file" / "folder", "json")


def test_a_failing_disk_is_told_with_the_name_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *_: Any, **__: Any) -> int:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(DignnError, match=rf"^{tmp_path}/made/two-1\.json could not be written \(disk full\)"):
        export_all(hand_made.explanations(), tmp_path / "made", "json")
    assert not list(tmp_path.iterdir())


def test_file_names_are_safe_and_distinct() -> None:
    names = ["Data Mining", "data mining", "data_mining", "a/b", "..", "", "é" * 300, "é" * 301, *hand_made.HOSTILE]
    stems = file_stems(names)
    assert stems["Data Mining"] == "Data_Mining"
    assert len({stem.casefold() for stem in stems.values()}) == len(names)
    for stem in stems.values():
        assert stem
        assert not set(stem) & set('/\\:*?"<>|\x00\r')
        assert not stem.startswith((".", "-"))
        assert len(stem.encode()) < 120
