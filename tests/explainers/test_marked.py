"""Runs whose explanations are marked: by request, again later without generating anything, and never by default."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
import torch
from torch import Tensor

from command_line import run
from dignn import DignnError, DiGNNExplainer, Explanations
from dignn.evidence import registry
from dignn.explainers import base
from dignn.explainers.marked import chosen_markers
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from small_runs import short_smoke
from tiny_models import TinyHetero

pytestmark = pytest.mark.usefixtures("haste")
MARKER = "gnnexplainer"


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


def explainer(dataset: Dataset, folder: Path | None = None, model: object = None) -> DiGNNExplainer:
    settings = replace(
        short_smoke(),
        sizes=(8,),
        subgraphs_per_size=10,
        candidates=24,
        top_k=1,
        features="bootstrap",
        refined=0.0,
    )
    return DiGNNExplainer(
        TinyHetero(dataset.schema) if model is None else model,
        dataset.data,
        schema=dataset.schema,
        config=settings,
        seed=0,
        folder=folder,
        about={"dataset": "planted", "form": "strong", "preset": "smoke"},
    )


@pytest.fixture(scope="module")
def plain(planted: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run without marks, not to be changed."""
    folder = tmp_path_factory.mktemp("plain") / "run"
    explainer(planted, folder).fit().explain(measure=False)
    return folder


@pytest.fixture(scope="module")
def marked(planted: Dataset, plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run that was marked later."""
    folder = tmp_path_factory.mktemp("marked") / "run"
    folder.mkdir()
    for path in plain.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    with mock.patch.object(DiGNNExplainer, "candidates", side_effect=AssertionError("nothing is made again")):
        explainer(planted, folder).fit().explain(marks=[MARKER], measure=False)
    return folder


def content(folder: Path) -> dict:
    found: dict = json.loads((folder / "explanations.json").read_text())
    return found


def test_a_run_is_not_marked_unless_asked(plain: Path) -> None:
    assert "marks" not in content(plain)
    assert all("marks" not in item["evidence"] for several in content(plain)["classes"].values() for item in several)
    assert "GNNExplainer" not in (plain / "report.html").read_text()


def test_a_finished_run_gets_marks_and_is_otherwise_the_same(plain: Path, marked: Path) -> None:
    one, other = content(plain), content(marked)
    told = other.pop("marks")
    assert other["call"].pop("marks") == [MARKER]
    items = [item for several in other["classes"].values() for item in several]
    assert items
    for item in items:
        marks = item["evidence"].pop("marks")[MARKER]
        assert len(marks["nodes"]) == len(item["nodes"])
        assert len(marks["edges"]) == len(item["edges"])
        assert any(value for value in marks["nodes"])
    assert one == other
    assert (plain / "candidates.safetensors").read_bytes() == (marked / "candidates.safetensors").read_bytes()
    assert (plain / "config.json").read_bytes() == (marked / "config.json").read_bytes()
    assert told.keys() == {MARKER}
    assert told[MARKER]["explanations"] <= len(items)


def test_they_are_read_back_and_shown(marked: Path) -> None:
    found = Explanations.load(marked)
    assert all(
        item.evidence is not None and item.evidence.marks.keys() == {MARKER} for s in found.values() for item in s
    )
    page = (marked / "report.html").read_text()
    assert "Here larger or thicker is what GNNExplainer marks more." in page
    assert found.report(marked.parent / "again.html").read_text() == page


def test_the_same_seed_gives_the_same_marks_and_they_stay(planted: Dataset, marked: Path) -> None:
    before = content(marked)
    again = explainer(planted, marked).fit().explain(measure=False)  # nobody asks, the folder has them
    assert content(marked) == before
    assert again.about["marks"] == before["marks"]


def test_none_can_be_asked_for(planted: Dataset, marked: Path) -> None:
    before = {path: path.read_bytes() for path in marked.iterdir()}
    explainer(planted, marked).fit().explain(marks=(), measure=False)
    assert "marks" not in content(marked)
    for path, held in before.items():
        path.write_bytes(held)


def test_marks_that_cannot_be_made_here_any_more_are_left_out_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "explanations.json").write_text(json.dumps({"marks": {"captum": {}, MARKER: {}, "unknown": {}}}))
    monkeypatch.setattr(registry, "find_spec", lambda _name: None)
    with caplog.at_level(logging.WARNING):
        assert chosen_markers(None, tmp_path) == (MARKER,)
    assert "captum" in caplog.text
    (tmp_path / "explanations.json").write_text("{")
    assert chosen_markers(None, tmp_path) == ()
    assert chosen_markers(None, None) == ()


def test_what_cannot_be_marked_is_refused_before_any_work(planted: Dataset, tmp_path: Path) -> None:
    tiny = TinyHetero(planted.schema)

    def closed(x_dict: dict[str, Tensor], edge_index_dict: dict) -> Tensor:
        with torch.no_grad():
            return tiny(x_dict, edge_index_dict)

    folder = tmp_path / "run"
    with pytest.raises(DignnError, match="answers have a gradient"):
        explainer(planted, folder, closed).check(marks=[MARKER])
    assert not folder.exists()
    for wrong in (["gnn"], "gnnexplainer", 3, [3]):
        with pytest.raises(DignnError, match="; (give|choose)|did you mean|choose from"):
            explainer(planted).check(marks=wrong)  # type: ignore[arg-type]


def test_the_command_refuses_a_wrong_name_at_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with mock.patch("dignn.cli.explain.of_dataset", side_effect=AssertionError("nothing is loaded")):
        assert run("explain", "planted", "--marks", "gnnexplaner", "--out", tmp_path / "run") != 0
    assert "gnnexplainer" in capsys.readouterr().err


def test_the_command_marks_and_tells(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ["--preset", "smoke", "--sizes", "8", "--subgraphs-per-size", "10", "--candidates", "24", "--top-k", "1"]
    words += ["--features", "bootstrap", "--refined", "0", "--out", folder, "--quiet"]
    nothing = {"paper": {}, "sound": {}, "floor": {}, "control": {}}
    with mock.patch.object(base.Explainer, "_measured", return_value=nothing):
        assert run("explain", "planted", *words, "--marks", MARKER) == 0
        told = capsys.readouterr().out
        assert "Marks beside the evidence" in told
        assert MARKER in told
    assert all(item["evidence"]["marks"] for several in content(folder)["classes"].values() for item in several)


def test_a_further_marker_takes_none_away(tmp_path: Path) -> None:
    (tmp_path / "explanations.json").write_text(json.dumps({"marks": {MARKER: {}}}))
    other = next(name for name in registry.MARKED_BY if name != MARKER and registry.available(name))
    assert chosen_markers([other], tmp_path) == (MARKER, other)
    assert chosen_markers([MARKER], tmp_path) == (MARKER,)
    assert chosen_markers((), tmp_path) == ()
