"""``dignn benchmark known``: what it prints, that it goes on where it stopped, and one sentence for each mistake."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from dignn.cli.finished_lines import append_line, read_lines
from dignn.explainers.methods.random_real import RandomReal
from dignn.explanations.explanation import Explanations
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count
from dignn.goes_by.term_keys import predicate_json
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around
from dignn.zoo.known.known_model import FAILS, HOLDS, KnownModel

pytestmark = pytest.mark.usefixtures("haste")
ASKED = (
    "benchmark",
    "known",
    "--explainers",
    "random-tree",
    "random-real",
    "--models",
    "exclusive",
    "--preset",
    "smoke",
)
JUDGEMENT = ("satisfied", "patterns_found", "evidence_precision")
TERMS = ("term_precision", "term_recall", "decoys_named")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, haste: None) -> Path:
    """Where the runs are; not to be changed."""
    out = tmp_path_factory.mktemp("known")
    assert run(*ASKED, "--out", out, "--quiet") == 0
    return out


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_json_has_the_first_explainer_each_explainer_and_each_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*ASKED, "--out", folder, "--json") == 0
    found = told(capsys)
    assert set(found) == {*JUDGEMENT, *TERMS, "explainers", "models"}
    assert list(found["explainers"]) == ["random-tree", "random-real"]
    assert [(line["model"], line["explainer"], line["seed"]) for line in found["models"]] == [
        ("exclusive", "random-tree", 0),
        ("exclusive", "random-real", 0),
    ]
    for name in (*JUDGEMENT, *TERMS):
        assert found[name] == found["explainers"]["random-tree"][name] == found["models"][0][name]
    # Best of many random trees, by a model that is above one half exactly where its rule holds.
    assert found["models"][0]["holds"] == 1
    assert found["models"][0]["patterns_found"] == 1


def test_every_run_is_a_run_folder_and_a_line(folder: Path) -> None:
    lines = [json.loads(line) for line in (folder / "known.jsonl").read_text().splitlines()]
    assert len(lines) == 2
    for line in lines:
        at = folder / line["preset"] / line["model"] / line["explainer"] / str(line["seed"])
        assert (at / "report.html").exists()
        assert line["seconds"] > 0


def test_finished_runs_are_not_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def made(self: KnownModel, seed: int = 0) -> None:
        raise AssertionError("a finished run was made again")

    monkeypatch.setattr(KnownModel, "dataset", made)
    assert run(*ASKED, "--out", folder) == 0
    shown = capsys.readouterr().out
    for word in ("exclusive", "random-tree", "satisfied", "patterns", "evidence", "decoys", "known.jsonl"):
        assert word in shown


SAID: dict[str, Any] = {
    HOLDS: [
        {"predicate": predicate_json(Predicate(Count(Around("author"), (Holds(column),)))), "points": 1.0, "decoy": no}
        for column, no in ((5, False), (6, False), (0, True))  # query, remote, applied
    ],
    FAILS: [],
}


def test_terms_are_judged_where_an_explainer_says_what_the_model_goes_by(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second of two explainers does; the line of the first is one of a version that did not judge terms."""
    first = json.loads((folder / "known.jsonl").read_text().splitlines()[0])
    append_line(tmp_path / "known.jsonl", {name: value for name, value in first.items() if name not in TERMS})
    study = RandomReal.study

    def telling(self: RandomReal, **given: Any) -> Explanations:
        found = study(self, **given)
        return replace(found, about={**found.about, "goes_by": SAID, "studied": None})  # rules may say more

    monkeypatch.setattr(RandomReal, "study", telling)
    assert run(*ASKED, "--out", tmp_path, "--json") == 0
    found = told(capsys)
    assert [found[name] for name in TERMS] == [None, None, None]
    assert [found["explainers"]["random-real"][name] for name in TERMS] == [0.5, 0.5, 1 / 3]
    assert found["models"][1]["wrong"] == ["it has “remote”"]
    assert found["models"][1]["unnamed"] == ["neural"]
    assert run(*ASKED, "--out", tmp_path) == 0
    shown = capsys.readouterr().out
    assert [line.split("│")[1:6] for line in shown.splitlines() if "0.33" in line] == [
        [" exclusive   ", " random-real ", " 0.50      ", " 0.50   ", " 0.33   "],
        [" all         ", " random-real ", " 0.50      ", " 0.50   ", " 0.33   "],
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["knwon"], "'known'"),
        (["known", "--models", "degre"], "There is no known model called 'degre' (did you mean 'degree'?)"),
        (["known", "--explainers", "xgn"], "There is no explainer called 'xgn'"),
        (["known", "--preset", "fsat"], "There is no preset of dignnexplainer called 'fsat' (did you mean 'fast'?)"),
        (["known", "--seeds", "0"], "seeds is 0"),
    ],
)
def test_a_mistake_is_one_sentence(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("benchmark", *words, "--out", tmp_path / "out") == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert len(shown.err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_damaged_file_of_results_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "known.jsonl").write_text("{}\n")
    assert run(*ASKED, "--out", tmp_path) == 2
    assert "known.jsonl is damaged (line 1: it lacks model)" in capsys.readouterr().err
    assert run(*ASKED, "--out", tmp_path / "known.jsonl") == 2
    assert "known.jsonl is a file; choose another folder by --out" in capsys.readouterr().err


def test_a_line_that_was_cut_off_does_not_count(folder: Path, tmp_path: Path) -> None:
    whole = (folder / "known.jsonl").read_text()
    assert len(read_lines(folder / "known.jsonl")) == 2
    cut = tmp_path / "known.jsonl"
    cut.write_text(whole[: len(whole) - 20])
    assert len(read_lines(cut)) == 1
    append_line(cut, {"model": "degree"})
    assert [line["model"] for line in read_lines(cut)] == [json.loads(whole.splitlines()[0])["model"], "degree"]
