"""The summary at the end of a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hand_made
import studied_by_hand
from dignn.cli.console import out
from dignn.cli.summary import figure, print_summary, summary
from dignn.explanations.explanation import Explanations
from dignn.report.lookup import number_at

MMD = {"node_type": 0.02, "degree": 0.03, "clustering": 0.0, "spectral": None}
FLOOR = {"node_type": 0.01, "degree": 0.01, "clustering": 0.0, "spectral": 0.01}


def test_a_value_that_is_not_there_is_none() -> None:
    metrics = {
        "sound": {"typed_gf": 0.5, "features": None, "planted": {"a": 1}, "yield": float("nan"), "coverage": True}
    }
    assert number_at(metrics, "sound.typed_gf") == 0.5
    assert number_at(metrics, ("sound", "typed_gf")) == 0.5
    assert number_at(metrics, "sound.yield") is None
    assert number_at(metrics, "sound.coverage") is None
    for path in ("sound.contrast", "sound.features.c2st", "paper.pf", "sound.planted", "sound.typed_gf.more"):
        assert number_at(metrics, path) is None


def test_the_ratio_leaves_out_what_has_no_floor_or_no_value() -> None:
    paths, floor = [f"sound.mmd.{name}" for name in MMD], {"sound": {"mmd": FLOOR}}
    assert figure({"sound": {"mmd": MMD}}, floor, paths) == pytest.approx((2 + 3) / 2)
    assert figure(floor, floor, paths) == pytest.approx(1)
    assert figure({}, floor, paths) is None


def test_figures_stand_beside_floor_and_controls(capsys: pytest.CaptureFixture[str]) -> None:
    metrics = {
        "paper": {"pf": 0.91, "gf": None},
        "sound": {"mmd": MMD, "typed_gf": 0.81},
        "floor": {"paper": {"pf": 0.92}, "sound": {"mmd": FLOOR, "typed_gf": 0.82}},
        "control": {"random_trees": {"paper": {"pf": 0.93}, "sound": {"mmd": FLOOR}}},
    }
    print_summary(Explanations({"ring": []}, {"metrics": metrics, "timings": {"WALL": 12.34}}))
    lines = capsys.readouterr().out.splitlines()
    pf = next(line for line in lines if "PF" in line)
    assert [cell.strip() for cell in pf.split("│")[2:5]] == ["0.910", "0.920", "0.930"]
    typed = next(line for line in lines if "GF with types" in line)
    assert [cell.strip() for cell in typed.split("│")[2:5]] == ["0.810", "0.820", "-"]
    assert not any("motifs contained" in line for line in lines)
    assert any("no candidate" in line for line in lines)
    assert "12.3 s, without loading and training the model" in lines


def test_both_columns_of_a_run_are_shown_and_told_apart(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    metrics = {
        "paper": {"pf": 0.91},
        "sound": {"mmd": MMD},
        "candidates": {"paper": {"pf": 0.95}},
        "floor": {"paper": {"pf": 0.92}, "sound": {"mmd": FLOOR}},
    }
    explanations = Explanations({"ring": []}, {"metrics": metrics})
    print_summary(explanations)
    shown = capsys.readouterr().out
    pf = next(line for line in shown.splitlines() if "PF" in line)
    assert [cell.strip() for cell in pf.split("│")[2:5]] == ["0.910", "0.950", "0.920"]
    assert "refined: all candidates, refined where need be, from which the explanations shown are chosen" in " ".join(
        shown.split()
    )
    figures = summary(explanations, tmp_path)["figures"]
    assert figures["pf"] == {"value": 0.91, "candidates": 0.95, "floor": 0.92}
    assert figures["mmd_ratio"]["value"] == pytest.approx(2.5)


def test_a_run_that_was_not_measured_shows_its_classes(capsys: pytest.CaptureFixture[str]) -> None:
    print_summary(Explanations({"ring": []}))
    assert "Main figures" not in capsys.readouterr().out


def test_an_accepted_difference_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = "The model goes by edge_weight, which generated graphs do not have; " + "explain another " * 20
    explanations = Explanations({"ring": []}, {"difference": told})
    print_summary(explanations)
    assert f"Warning: {told}" in capsys.readouterr().out.splitlines()
    assert summary(explanations, tmp_path)["difference"] == told
    print_summary(Explanations({"ring": []}))
    assert "Warning" not in capsys.readouterr().out
    assert summary(Explanations({"ring": []}), tmp_path)["difference"] is None


def test_names_of_users_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_summary(Explanations({"[red]ring[/red]": []}))
    assert "[red]ring[/red]" in capsys.readouterr().out


def test_a_row_says_in_words_what_the_graph_is_and_what_would_be_missed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(out, "_width", 150)  # whatever terminal there is, if any
    monkeypatch.setattr(out, "_height", 50)
    print_summary(hand_made.explanations())
    shown = capsys.readouterr().out
    assert "features the model would miss most" in shown
    row = next(line for line in shown.splitlines() if line.startswith("│ two"))
    assert [cell.strip() for cell in row.split("│")[4:6]] == ["1 author, 2 papers, 1 venue", "graph"]
    print_summary(Explanations({"two": [hand_made.explanation(bare=True)]}))
    assert "would miss" not in capsys.readouterr().out


def test_long_names_leave_rows_low(capsys: pytest.CaptureFixture[str]) -> None:
    print_summary(Explanations({"x" * 200: [], "many\nlines\n" * 20: []}))
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) < 12
    assert "…" in shown


def test_agreement_of_marks_is_told_where_there_are_some(capsys: pytest.CaptureFixture[str]) -> None:
    told = {"agreement": 0.25, "explanations": 12, "random": -0.004, "random_high": 0.125}
    nothing = dict.fromkeys(told, None) | {"explanations": 0}
    found = Explanations({"ring": []}, {"marks": {"gnnexplainer": told, "captum": nothing}})
    print_summary(found)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    rows = {cells[0]: cells[1:5] for line in lines if (cells := [cell.strip() for cell in line.split("│")[1:-1]])}
    assert rows["gnnexplainer"] == ["0.250", "-0.004", "0.125", "12"]
    assert rows["captum"] == ["-", "-", "-", "0"]
    assert summary(found, Path("run"))["marks"]["gnnexplainer"] == told
    print_summary(Explanations({"ring": []}, {}))
    assert "Marks" not in capsys.readouterr().out
    assert summary(Explanations({"ring": []}, {}), Path("run"))["marks"] == {}


def test_what_the_model_goes_by_is_told_after_the_explanations(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(out, "_width", 80)
    monkeypatch.setattr(out, "_height", 50)
    shown = studied_by_hand.authors()
    print_summary(shown)
    lines = capsys.readouterr().out.splitlines()
    assert (
        "The model goes by, for two: a venue two steps away is “KDD” (+3.1), it has none of “query” and “index” (each "
        "+1.2 to +2.4), fewer than three papers are next to it (+1.6) and 2 more"
    ) in lines  # a line however narrow the terminal is, which wraps it by itself
    assert (
        lines.count("This reproduces 84 % of its answers on real authors (mean over classes), beside 50 % by guessing.")
        == 1
    )
    assert max(len(line) for line in lines if line.startswith(("│", "┃", "┏"))) <= 80
    found = json.loads(json.dumps(summary(shown, tmp_path)))
    assert found["goes_by"] == {name: shown.sentence(name) for name in shown}
    assert found["fidelity"]["scorecard"] == {"value": 0.84, "interval": [0.81, 0.87], "floor": 0.86, "noise": 0.54}
    assert {name: found["fidelity"][name] for name in ("majority", "places", "things", "level")} == {
        "majority": 0.5,
        "places": 412,
        "things": 60,
        "level": "fair",
    }


def test_what_was_not_sought_is_not_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    print_summary(hand_made.explanations())
    assert "goes by" not in capsys.readouterr().out
    found = summary(hand_made.explanations(), tmp_path)
    assert (found["goes_by"], found["fidelity"]) == ({}, None)
    doubtful = studied_by_hand.molecules(0.55)
    print_summary(doubtful)
    told = capsys.readouterr().out
    assert "The model may go by, for harmless: the graph has no N node (+2.0)" in told
    assert "for mutagen" not in told  # nothing speaks for it
    tested = "55 % of its answers on real graphs (mean over classes), beside 50 % by guessing: do not rely on it."
    assert f"This reproduces only {tested}" in told
