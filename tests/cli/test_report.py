"""``dignn report``: the page of a run folder, from what is in it; what is wrong with a folder is one sentence."""

from __future__ import annotations

import json
import webbrowser
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

from command_line import run
from dignn.core.errors import RunFolderError
from dignn.core.run_folder import STAGES, WALL
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.explanations.explanation import Explanation, Explanations, Standing
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Relation, Schema
from strategies import batch_of

SCHEMA = Schema(
    node_types=("author", "paper"),
    relations=(Relation("author", "writes", "paper", "written_by"),),
    features=(FeatureSpec(FeatureKind.CONTINUOUS, 1, names=("age",)), FeatureSpec()),
    classes=("one", "two"),
    target="author",
)
CONFIG = {"dataset": "planted", "form": "strong", "preset": "smoke", "explainer": "dignnexplainer", "seed": 0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A finished run as an earlier version leaves it: without a reference and nearest examples."""
    graph = batch_of(SCHEMA, [0, 1, 1], {(0, 1): 1, (0, 2): 1}, labels={0: 1})
    graph.row[0, 0] = 0
    graph.tables["author"] = torch.tensor([[40.0]])
    best = Explanation(1, "two", 0, (0.25, 0.75), 1.1, graph.check(), 0, 17, Standing(True, 0.5, 0.25))
    made = tmp_path / "run"
    Explanations({"one": [], "two": [best]}).save(made)
    (made / "config.json").write_text(json.dumps({**CONFIG, "config": {}, "versions": {"dignn": "0.1.0"}}))
    (made / "timings.json").write_text(json.dumps(dict.fromkeys([*STAGES, WALL], 1.5)))
    (made / "generation.json").write_text("{}")
    layer = {"paper": {"pf": 0.9}, "sound": {"yield": 1.0}}
    (made / "metrics.json").write_text(json.dumps({**layer, "floor": layer, "control": {}}))
    return made


def test_the_page_is_written_anew_and_missing_parts_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("report", folder) == 0
    shown = capsys.readouterr()
    assert shown.out == f"Report: {folder / 'report.html'}\n"
    assert "nearest real examples (nearest.safetensors)" in shown.err
    assert "metrics" not in shown.err
    assert len(shown.err.splitlines()) == 1
    assert "two" in (folder / "report.html").read_text()


def test_a_folder_of_an_earlier_version_tells_its_command_too(folder: Path) -> None:
    config = replace(PRESETS["smoke"], candidates=97)
    (folder / "config.json").write_text(json.dumps({**CONFIG, "config": asdict(config)}))
    assert run("report", folder) == 0
    line = "dignn explain planted --preset smoke --candidates 97 --seed 0"
    assert line in (folder / "report.html").read_text()


def test_for_programs(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "metrics.json").unlink()
    page = tmp_path / "elsewhere" / "page.html"
    assert run("report", folder, "--out", page, "--json") == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {
        "run": str(folder),
        "report": str(page),
        "missing": ["metrics.json", "backdrop.safetensors", "nearest.safetensors"],
    }
    assert shown.err == ""
    assert page.exists()
    assert not (folder / "report.html").exists()


def test_the_browser_is_asked_to_open_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: bool(opened.append(address)))
    assert run("report", folder, "--open", "--quiet") == 0
    assert opened == [(folder / "report.html").as_uri()]
    shown = capsys.readouterr()
    assert "open the file yourself" in shown.err
    assert shown.out == f"Report: {folder / 'report.html'}\n"


@pytest.mark.parametrize(
    ("there", "told"),
    [
        (None, "does not exist; give a folder that `dignn explain` made"),
        ({}, "is not a run folder; give a folder that `dignn explain` made"),
        (
            {"config.json": "{}"},
            "it has no learned structure, learned features, candidates, explanations yet; call fit",
        ),
        ({"config.json": "[", "structure.safetensors": ""}, "config.json is damaged"),
        (
            {"config.json": json.dumps(CONFIG), "structure.safetensors": ""},
            "is not finished: it has learned structure, but no learned features, candidates, explanations; finish it "
            "by `dignn evaluate RUN`",
        ),
        (
            {"config.json": json.dumps({**CONFIG, "own": {}}), "candidates.safetensors": ""},
            "finish it by `dignn evaluate RUN --model FILE.py:FUNCTION`",
        ),
        ({"comparison.jsonl": ""}, "RUN is a comparison; give one of the runs in it"),
    ],
)
def test_a_folder_without_explanations_is_called_what_it_is(
    there: dict[str, str] | None, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs").mkdir()
    other = tmp_path / "runx"
    if there is not None:
        other = tmp_path / "runs" / "dblp"
        other.mkdir()
        for name, content in there.items():
            (other / name).write_text(content)
    assert run("report", other) == 2
    shown = capsys.readouterr().err
    assert told.replace("RUN", str(other)) in shown
    assert len(shown.splitlines()) == 1
    assert not (other / "report.html").exists()


def test_only_runs_are_suggested(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = folder.parent / "runx"
    other.with_name("runs").mkdir()
    assert run("report", other) == 2
    assert f"{other} does not exist (did you mean '{folder}'?)" in capsys.readouterr().err


def test_settings_that_cannot_be_read_cost_nobody_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config.json").write_text("[1]")
    for command in ("report", "export"):
        assert run(command, folder) == 2
        assert "config.json is damaged (it lacks an object); mend the file or delete it" in capsys.readouterr().err
    (folder / "config.json").unlink()
    assert run("report", folder) == 0


def test_a_file_is_no_run_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("report", folder / "config.json") == 2
    assert "config.json is a file; give the folder" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "told"), [("run", "is a folder; give a file"), ("metrics.json", "ends with .html")])
def test_nothing_but_a_page_is_written_over(
    name: str, told: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder.parent)
    before = (folder / "metrics.json").read_bytes()
    assert run("report", folder, "--out", name if name == "run" else folder / name) == 2
    assert told in capsys.readouterr().err
    assert (folder / "metrics.json").read_bytes() == before


@pytest.mark.parametrize(
    "name",
    ["explanations.json", "explanations.safetensors", "metrics.json", "config.json", "timings.json", "generation.json"],
)
@pytest.mark.parametrize("damage", ["cut off", "a list"])
def test_a_damaged_file_is_named_and_the_old_page_stays(
    name: str, damage: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "report.html").write_text("old")
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2] if damage == "cut off" else b"[1]")
    if content == b"{}" and damage == "cut off":
        (folder / name).write_bytes(b"{")
    assert run("report", folder) == 2
    shown = capsys.readouterr().err
    assert f"{folder / name} is damaged" in shown
    assert len(shown.splitlines()) == 1
    assert (folder / "report.html").read_text() == "old"
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("value", ["much", [1], {"x": {}}])
def test_a_value_of_a_wrong_kind_is_no_traceback(
    value: object, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Either the page can do without it, or the folder is called damaged."""
    path = folder / "metrics.json"
    content = json.loads(path.read_text())
    for part in ("paper", "sound", "floor", "control"):
        path.write_text(json.dumps({**content, part: value}))
        left = run("report", folder)
        shown = capsys.readouterr()
        assert left == 0 or (left == 2 and "damaged" in shown.err and len(shown.err.splitlines()) == 1)


def test_what_no_page_can_be_made_of_is_named_with_the_remedy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(self: Explanations, path: Path) -> Path:
        raise KeyError("pf")

    monkeypatch.setattr(Explanations, "report", broken)
    assert run("report", folder) == 2
    said = capsys.readouterr().err
    assert "(KeyError: 'pf'): a file in it is damaged, or dignn is mistaken" in said
    assert f"`dignn evaluate {folder}` makes metrics and explanations anew" in said


def test_another_version_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "explanations.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": "dignn.Explanations.99"}))
    assert run("report", folder) == 2
    assert "has the format dignn.Explanations.99" in capsys.readouterr().err
    with pytest.raises(RunFolderError):
        Explanations.load(folder)
