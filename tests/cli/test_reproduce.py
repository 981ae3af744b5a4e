"""``dignn reproduce``: what it plans, makes once, writes and shows, and what it says of mistakes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from dignn.cli import reproduce, reproduced_runs
from dignn.cli.finished_lines import append_line, read_lines
from dignn.cli.recorded_runs import recorded_runs
from dignn.cli.reproduced_runs import RUN_LINES, wanted_line
from dignn.core.errors import DignnError
from dignn.explainers import prepared
from dignn.explanations.explanation import Explanations
from dignn.reproduce.planning import Wanted
from dignn.reproduce.registry import TABLES
from dignn.reproduce.setups import Setup
from reproduce.hand_made_runs import values


def line_of(one: Wanted, made_at: str | None = "abc") -> dict[str, Any]:
    found = {"run": one.title, "setup": one.setup.as_json(), "preset": one.preset, "seed": one.seed}
    more = {"validity": {"generated": 9, "connected": 9, "valid": 9}, "mean_nodes": 5.0, "best": {}, "details": {}}
    return {**found, **({"commit": made_at} if made_at else {}), **values(0.9), **more}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lets runs be made at once; the titles of those that were asked for."""
    titles: list[str] = []

    def make(one: Wanted, folder: Path, download: bool) -> dict[str, Any]:
        titles.append(one.title)
        if one.setup.explainer == "graphvae":
            raise DignnError("it has no graphs")
        return line_of(one, "abc")

    monkeypatch.setattr(reproduced_runs, "wanted_line", make)
    monkeypatch.setattr(reproduced_runs, "_trained", lambda setup, seed, download: {})
    return titles


def words(folder: Path, *more: object) -> list[object]:
    return ["reproduce", "table3", "--dataset", "mutag", "--runs", 2, "--jobs", 1, "--out", folder, "--quiet", *more]


def test_a_table_is_written_from_runs_that_are_made_once(tmp_path: Path, asked: list[str]) -> None:
    assert run(*words(tmp_path)) == 0
    assert len(asked) == len(set(asked)) == 2 * (4 + 4)  # four explainers, each of two models; the GCN is one of them
    lines = read_lines(tmp_path / RUN_LINES)
    assert [line["run"] for line in lines] == asked
    assert [line["seed"] for line in lines] == [0] * 8 + [1] * 8
    assert {line["commit"] for line in lines} == {"abc"}
    found = json.loads((tmp_path / "table3.json").read_text())
    assert (found["name"], found["preset"], found["format"]) == ("table3", "fast", "dignn.Table.2")
    assert len(found["cells"]) == 161
    mutag = [cell for cell in found["cells"] if cell["group"] == "MUTAG"]
    assert all(cell["ours"]["runs"] == 2 and cell["ours"]["mean"] == 0.9 for cell in mutag)
    assert all(cell["ours"] is None for cell in found["cells"] if cell["group"] != "MUTAG")
    assert run(*words(tmp_path)) == 0
    assert len(asked) == 16  # nothing was made again


def test_it_goes_on_where_it_stopped(tmp_path: Path, asked: list[str]) -> None:
    assert run(*words(tmp_path)) == 0
    path, before = tmp_path / RUN_LINES, len(asked)
    cut = path.read_text().splitlines(keepends=True)
    path.write_text("".join(cut[:-2]) + cut[-2][:50])  # killed while a line was written
    assert run(*words(tmp_path)) == 0
    assert asked[before:] == asked[before - 2 : before]
    assert len(read_lines(path)) == 16


def test_more_seeds_make_what_is_missing(tmp_path: Path, asked: list[str]) -> None:
    assert run(*words(tmp_path)) == 0
    before = len(asked)
    assert run(*[3 if word == 2 else word for word in words(tmp_path)]) == 0
    assert {title.rpartition("-")[2] for title in asked[before:]} == {"2"}
    assert len(asked) - before == 8


def test_a_run_that_fails_stops_no_other(tmp_path: Path, asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    table1 = ["reproduce", "table1", *words(tmp_path)[2:]]
    assert run(*table1) == 2
    shown = capsys.readouterr()
    assert "mutag-graphvae-strong-fast-0: it has no graphs" in shown.err
    assert "4 of the runs failed" in shown.err
    assert (tmp_path / "table1.json").exists()
    assert len(read_lines(tmp_path / RUN_LINES)) == len(asked) - 4


def test_rendering_makes_no_run(tmp_path: Path, asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "results.md"
    assert run(*words(tmp_path / "out"), "--render", "--page", page, "--json") == 0
    assert asked == []
    told = json.loads(capsys.readouterr().out)
    assert told["tables"]["table3"]["not run"] == 126  # of the paper's
    assert {claim["verdict"] for claim in told["claims"]} == {"not measured"}
    assert page.read_text().startswith("# The paper's tables, reproduced")


def test_a_plan_says_what_is_missing_and_how_long_it_takes(
    tmp_path: Path, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words(tmp_path), "--plan", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["runs"], len(told["missing"]), told["unknown"], told["minutes"]) == (16, 16, 16, 0.0)
    one = Wanted(Setup("mutag"), "fast", 0, frozenset())
    append_line(tmp_path / RUN_LINES, line_of(one))
    assert run(*words(tmp_path), "--plan", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    # 10 s and 2 s to measure: of the same, and of the same method on the other model.
    assert [missing["seconds"] for missing in told["missing"]].count(12.0) == 3
    assert told["minutes"] == pytest.approx(0.6)
    assert run(*words(tmp_path / "new"), "--plan") == 0
    assert re.search(r"mutag\W+16\W+16 +. +- +. +16", capsys.readouterr().out)  # how long they take is not known
    assert run(*words(tmp_path), "--plan") == 0
    assert "15 of 16 runs are missing" in capsys.readouterr().out
    assert asked == []
    assert not (tmp_path / "table3.json").exists()


def test_the_page_has_all_tables_of_the_folder(tmp_path: Path, asked: list[str]) -> None:
    page = tmp_path / "results.md"
    assert run(*words(tmp_path)) == 0
    assert run("reproduce", "table7", "--render", "--out", tmp_path, "--page", page, "--quiet") == 0
    text = page.read_text()
    assert "## Table 3" in text
    assert "## Table 7" in text
    assert "## Table 1:" not in text


def test_nothing_is_written_where_a_page_cannot_be(
    tmp_path: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(tables: object) -> str:
        raise DignnError("no page")

    monkeypatch.setattr(reproduce, "results_page", fails)
    assert run(*words(tmp_path), "--render", "--page", tmp_path / "results.md") == 2
    assert not list(tmp_path.iterdir())


def test_a_damaged_table_beside_is_refused_before_anything_is_made(
    tmp_path: Path, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("reproduce", "table2", "--render", "--out", tmp_path) == 0
    content = json.loads((tmp_path / "table2.json").read_text())
    (tmp_path / "table2.json").write_text(json.dumps({**content, "cells": content["cells"][:5]}))
    assert run(*words(tmp_path)) == 2
    assert "table2.json is damaged, or of another version (it lacks " in " ".join(capsys.readouterr().err.split())
    assert asked == []
    assert not (tmp_path / "table3.json").exists()


def test_help_names_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("reproduce", "--help") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert all(f"{name} (" in said for name in TABLES)
    assert "or all: " in said


# -- runs of other commands ---------------------------------------------------------------------------


def test_runs_of_a_comparison_count_where_they_are_the_same(tmp_path: Path, asked: list[str]) -> None:
    recorded = tmp_path / "comparison.jsonl"
    common = {"dataset": "mutag", "preset": "fast", "form": "strong", "budget": 1536, "seed": 0, **values(0.4)}
    for names in (["xgnn"], ["xgnn-common"], ["random-tree", "random-tree-common"], ["dignnexplainer-gcn"]):
        append_line(recorded, {**common, "run": f"{names[0]}-0", "names": names, "commit": "def"})
    append_line(recorded, {**common, "run": "xgnn-0", "names": ["xgnn"], "dataset": "data.pt"})
    found = recorded_runs([recorded])
    assert [each.setup for each in found] == [
        Setup("mutag", "xgnn"),
        Setup("mutag", "random-tree"),
        Setup("mutag", "dignnexplainer", "paper"),  # nothing is converted: the paper's own model
    ]
    assert run(*words(tmp_path / "out"), "--recorded", recorded) == 0
    assert "mutag-xgnn-strong-fast-0" not in asked
    assert "mutag-xgnn-strong-fast-1" in asked
    cells = json.loads((tmp_path / "out" / "table3.json").read_text())["cells"]
    (mine,) = [cell for cell in cells if cell["run"] == "mutag-xgnn-strong" and cell["figure"] == "PF" and cell["ours"]]
    assert mine["ours"]["mean"] == pytest.approx((0.4 + 0.9) / 2)
    assert mine["ours"]["commits"] == ["abc", "def"]


def test_tables_are_not_written_without_values_that_they_have(
    tmp_path: Path, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder whose runs were recorded elsewhere loses nothing because somebody forgets to name the files."""
    out, recorded, line = (
        tmp_path / "out",
        tmp_path / "some.jsonl",
        line_of(Wanted(Setup("mutag"), "fast", 0, frozenset())),
    )
    append_line(recorded, line)
    assert run("reproduce", "table3", "--render", "--out", out, "--recorded", recorded) == 0
    before = (out / "table3.json").read_text()
    capsys.readouterr()
    assert run(*words(out)) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "out has values in table3.json of runs that neither its runs.jsonl nor --recorded tells of; give" in told
    assert (out / "table3.json").read_text() == before
    assert asked == []
    assert run("reproduce", "table1", "--render", "--out", out) == 0  # another table loses nothing
    assert run(*words(out), "--plan") == 0  # nor does one that is not written
    append_line(out / RUN_LINES, line)
    assert run("reproduce", "table3", "--render", "--out", out) == 0


def test_run_folders_are_beside_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Path] = []

    def make(one: Wanted, folder: Path, download: bool) -> dict[str, Any]:
        given.append(folder)
        return line_of(one)

    monkeypatch.setattr(reproduced_runs, "wanted_line", make)
    monkeypatch.setattr(reproduced_runs, "_trained", lambda setup, seed, download: {})
    assert run("reproduce", "table7", "--dataset", "mutag", "--runs", 1, "--jobs", 1, "--out", tmp_path) == 0
    folders = ["--folders", tmp_path / "elsewhere"]
    assert run("reproduce", "table7", "--dataset", "mutag", "--runs", 2, "--jobs", 1, "--out", tmp_path, *folders) == 0
    assert given == [tmp_path / "runs", tmp_path / "elsewhere"]


def test_a_gcn_of_converted_data_is_another_model_than_the_papers(tmp_path: Path) -> None:
    """Also of a data set that the paper does not have; of one kind of node nothing is converted."""
    path = tmp_path / "comparison.jsonl"
    common = {"preset": "fast", "form": "strong", "budget": 1536, "seed": 0, **values(0.4)}
    for name in ("planted", "imdb", "mutag"):
        for row in ("dignnexplainer-gcn", "xgnn-homogeneous"):
            append_line(path, {**common, "run": f"{row}-0", "names": [row], "dataset": name, "converted": True})
    forms = [(each.setup.dataset, each.setup.explainer, each.setup.form) for each in recorded_runs([path])]
    expected = {"planted": "gcn", "imdb": "gcn", "mutag": "paper"}
    assert forms == [(name, row, form) for name, form in expected.items() for row in ("dignnexplainer", "xgnn")]


def test_columns_are_the_same_in_any_order() -> None:
    assert Setup("dblp", columns=("paper=50", "author=50")) == Setup("dblp", columns=("author=50", "paper=50"))


def test_runs_of_benchmarks_are_read(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    metrics = {**values(0.4), "details": {"motifs": {"by_class": [{"occur": 3}]}, "distinct": {}, "coverage": {}}}
    metrics["sound"]["features"] = {"c2st": 0.5, "by_type": {"author": {}}}
    valid = {"generated": 9, "connected": 9, "valid": 9}
    explained = {"dataset": "dblp-50", "seed": 1, "metrics": metrics, "validity": valid}
    append_line(path, {**explained, "timings": {"WALL": 10.0, "EVAL": 4.0}})
    append_line(path, {**explained, "timings": None})
    append_line(path, {"dataset": "dblp", "seed": 0, "generated": {"frontier": {}}, "floor": {"auc": 1}})
    append_line(path, {"dataset": "dblp, 50 columns", "seed": 0, "methods": {}, "accuracy": 0.8})
    timed, untimed, scorecards, features = recorded_runs([path])
    assert timed.setup == Setup("dblp", columns=("author=50", "paper=50"))
    assert (timed.seed, timed.values["seconds"]) == (1, 6.0)
    assert "by_type" not in timed.values["sound"]["features"]
    assert timed.values["details"]["motifs"]["by_class"] == {"0": {"occur": 3}}
    assert not {"seconds", "timings"} & untimed.values.keys()
    assert (scorecards.setup.explainer, scorecards.values["real"]) == ("scorecards", {"auc": 1})
    assert features.setup == Setup("dblp", "features-alone", columns=("author=50", "paper=50"))


def test_the_files_of_this_repository_can_be_read() -> None:
    folder = Path(__file__).parents[2] / "docs" / "benchmarks"
    found = recorded_runs([folder / f"{name}.jsonl" for name in ("comparison", "explanations", "fidelity")])
    assert {each.setup.dataset for each in found} >= {"dblp", "imdb", "mutag", "planted"}


# -- mistakes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["table9"], "There is no table called 'table9' (did you mean 'table"),
        (["table3", "--dataset", "mutagg"], "(did you mean 'mutag'?)"),
        (["table7", "--dataset", "planted"], "There is no data set of these tables called 'planted'"),
        (["table3", "--runs", "0"], "runs"),
        (["table3", "--jobs", "0"], "jobs"),
        (["table3", "--preset", "fats"], "There is no preset of dignnexplainer called 'fats' (did you mean 'fast'?)"),
        (["table3", "--plan", "--render"], "--plan and --render exclude each other"),
        (["table3", "--page", "results.pdf"], "--page results.pdf is neither Markdown nor HTML"),
        (["table3", "--recorded", "nowhere.jsonl"], "nowhere.jsonl is not there"),
        (["table3", "--out", "pyproject.toml"], "pyproject.toml is a file; choose another folder by --out"),
    ],
)
def test_mistakes_are_refused(given: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("reproduce", *given) == 2
    assert told in " ".join(capsys.readouterr().err.split())


def test_a_mistake_is_answered_without_loading_torch() -> None:
    code = "import sys; from dignn.cli.main import main; assert main(['reproduce', 'table9']) == 2"
    code += "; assert 'torch' not in sys.modules"
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert asked.returncode == 0, asked.stderr


def test_tables_of_another_preset_are_not_written_over(
    tmp_path: Path, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words(tmp_path), "--render") == 0
    assert run(*words(tmp_path), "--render", "--preset", "smoke") == 2
    assert "is of preset fast, not smoke; choose another --out" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("line", ['{"setup": {"dataset": "dblp"}, "preset": "fast", "seed": 0}', '{"world": 1}', "[1]"])
def test_lines_of_another_kind_are_refused(tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(line + "\n")
    assert run("reproduce", "table3", "--render", "--out", tmp_path / "out", "--recorded", path) == 2
    assert "line 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"seed": "1"}, "its seed is no whole number"),
        ({"seed": True}, "its seed is no whole number"),
        ({"seconds": "10"}, 'its seconds is "10", which is no number'),
        ({"candidates": {"paper": {"pf": "high"}}}, 'its candidates.paper.pf is "high", which is no number'),
        ({"candidates": {"paper": {"pf": 17}}}, "its candidates.paper.pf is 17, which is not between 0 and 1"),
        ({"candidates": {"paper": {"pf": True}}}, "its candidates.paper.pf is true, which is no number"),
        ({"candidates": 3}, "its candidates is no object of figures"),
        ({"selection": "x"}, "its selection is no object of figures"),
        ({"selection": {"highest": {"probability": -0.1}}}, "its selection.highest.probability is -0.1, which is not"),
        ({"details": {"coverage": {"mean": {"10": 1.5}}}}, "its details.coverage.mean.10 is 1.5, which is not between"),
        ({"best": {"1": {"probability": 2}}}, "its best.1.probability is 2, which is not between 0 and 1"),
        ({"mean_nodes": "many"}, 'its mean_nodes is "many", which is no number'),
        ({"timings": {"GGT": 1.0}}, "its timings are no numbers, WALL among them"),
        ({"timings": {"GGT": "1", "WALL": 2.0}}, "its timings are no numbers"),
        ({"best": [1]}, "its best explanations are no object"),
        ({"best": {"1": {}}}, "the best explanation of class 1 is not told"),
        ({"best": {"one": {}}}, "the best explanation of class one is not told"),
        ({"preset": 1}, "its preset is no text"),
        ({"commit": 1}, "its commit is no text"),
        ({"machine": "mine"}, "its machine is no object"),
        ({"setup": {"dataset": 1, "explainer": "xgnn", "form": "strong"}}, "its dataset is no text"),
        ({"mean_nodes": float("nan")}, "NaN is no number of JSON"),
    ],
)
def test_lines_that_tables_cannot_be_made_of_are_refused(
    tmp_path: Path, changed: dict[str, Any], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "some.jsonl"
    good = line_of(Wanted(Setup("mutag"), "fast", 0, frozenset()))
    path.write_text(f"{json.dumps(good)}\n{json.dumps(good | changed)}\n")
    assert run("reproduce", "all", "--render", "--out", tmp_path / "out", "--recorded", path) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "line 2" in said
    assert told in said


def test_a_file_that_is_no_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(b"\xff\n")
    assert run("reproduce", "table3", "--render", "--out", tmp_path / "out", "--recorded", path) == 2
    assert "is no text in UTF-8" in " ".join(capsys.readouterr().err.split())


# -- a real run ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("haste")
def test_a_line_tells_what_the_run_folder_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "commit", lambda: "abc")
    one = Wanted(Setup("planted", "random-tree", changes=(("candidates", 48),)), "smoke", 3, frozenset())
    line = wanted_line(one, tmp_path, False)
    monkeypatch.setattr(prepared, "commit", lambda: "def")
    assert wanted_line(one, tmp_path, False)["commit"] == "abc"  # what is there was made by other code
    folder = tmp_path / "planted-random-tree-strong-candidates=48-smoke-3"
    metrics = json.loads((folder / "metrics.json").read_text())
    assert line["candidates"]["paper"]["pf"] == pytest.approx(metrics["candidates"]["paper"]["pf"], abs=1e-6)
    assert line["setup"] == {
        "dataset": "planted",
        "explainer": "random-tree",
        "form": "strong",
        "changes": {"candidates": 48},
    }
    assert line["validity"]["generated"] == 48
    assert 10 <= line["mean_nodes"] <= 15
    assert line["commit"] == "abc"
    assert "floor" not in line  # that of our method's run stands for all
    told = json.loads((folder / "explanations.json").read_text())["classes"]
    for best in line["best"].values():
        first = told[best["class"]][0]
        assert (best["nodes"], best["edges"]) == (len(first["nodes"]), len(first["edges"]))
        own = [name for name, value in first["nodes"][first["target_node"]]["features"] if value]
        assert set(best["keywords"]) <= set(own)
    explanations = Explanations.load(folder)
    assert explanations.reference is not None
    for first in (several[0] for several in explanations.values()):
        assert first.node is not None
        # Of planted authors: the share that carries a word, among those of the class and among all.
        names, profile = first.graph.schema.spec("author").names, explanations.reference.profiles["author"]
        assert names is not None
        more = dict(zip(names, (profile.present[first.class_index] - profile.present[-1]).tolist(), strict=True))
        said = [more[word] for word in line["best"][str(first.class_index)]["keywords"]]
        assert said == sorted(said, reverse=True)
        assert len(said) > 1
    assert json.loads(json.dumps(line)) == line
