"""``dignn export RUN``: a file per explanation, from the folder alone."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest

import hand_made
from command_line import run
from dignn.explanations.explanation import Explanation, Explanations


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two explanations of one class, and none of the other."""
    monkeypatch.chdir(tmp_path)
    hand_made.explanations().save(tmp_path / "run")
    return Path("run")


def test_graphs_go_to_the_run_folder_by_default(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("export", saved) == 0
    assert sorted(path.name for path in (saved / "exports").iterdir()) == ["two-1.graphml", "two-2.graphml"]
    assert nx.read_graphml(saved / "exports" / "two-1.graphml").graph["class"] == "two"
    assert capsys.readouterr().out == "2 files in run/exports, for example two-1.graphml\n"


@pytest.mark.parametrize("format", ["gexf", "json", "png", "svg"])
def test_format_and_folder_can_be_chosen(saved: Path, format: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("export", saved, "--format", format, "--out", "else", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"run": "run", "folder": "else", "files": [f"two-1.{format}", f"two-2.{format}"]}
    assert sorted(path.name for path in Path("else").iterdir()) == told["files"]
    assert not (saved / "exports").exists()


def test_a_run_without_explanations_says_so(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Explanations({"one": []}).save("empty")
    assert run("export", "empty") == 0
    assert "nothing to write" in capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "told"), [(["none"], "none"), (["run", "--format", "gml"], "graphml")])
def test_wrong_input_is_named(saved: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("export", *arguments) == 2
    assert told in capsys.readouterr().err


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("export", "--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "dignn export runs/dblp --format gexf" in shown
    assert 'the number 1. "rank" inside the files counts from 0' in shown


def test_what_no_file_can_be_made_of_is_named_with_the_remedy(
    saved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(self: Explanation) -> dict[str, object]:
        raise KeyError("pf")

    monkeypatch.setattr(Explanation, "summary", broken)
    assert run("export", saved, "--format", "json") == 2
    said = capsys.readouterr().err
    assert "No json files can be made of run (KeyError: 'pf')" in said
    assert "`dignn evaluate run` makes metrics and explanations anew" in said
    assert not (saved / "exports").exists()
