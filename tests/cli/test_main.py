"""The command line as a user meets it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import run
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Schema
from dignn.zoo.models.recipes import DEFAULTS
from small_runs import small_config

pytestmark = pytest.mark.usefixtures("haste")
FEW = ("--candidates", "24")


@pytest.mark.parametrize("preset", ["smoke", pytest.param("fast", marks=pytest.mark.slow)])
def test_demo_writes_a_report_and_names_it(
    preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(PRESETS._items, "smoke", small_config())
    assert run("demo", "--preset", preset, "--out", str(tmp_path / "demo"), "--quiet") == 0
    shown = capsys.readouterr().out
    for name in ("database self-citer", "database duo", "learning self-citer", "learning duo"):
        assert name in shown
    page = (tmp_path / "demo" / "report.html").read_text()
    assert "database duo" in page


def test_explain_takes_every_setting_of_a_preset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["--preset", "smoke", "--features", "independent", "--top-k", "1", "--sizes", "8", "9", "--seed", "0"]
    assert run("explain", "planted", "--out", str(tmp_path / "run"), *settings, "--subgraphs-per-size", "10") == 0
    captured = capsys.readouterr()
    assert "Best explanation per class" in captured.out
    assert "Generating features" in captured.err
    config = (tmp_path / "run" / "config.json").read_text()
    assert '"independent"' in config
    assert '"candidates": 96' in config


def test_explain_takes_settings_of_the_feature_generators(tmp_path: Path) -> None:
    settings = ["--preset", "smoke", "--sizes", "8", "--continuous", "tabddpm", "--one-model-per-class", *FEW]
    settings += [
        "--ditabddpm.noise",
        "marginal",
        "--ditabddpm.marginal-training.steps",
        "7",
        "--tabddpm.prediction",
        "noise",
    ]
    assert run("explain", "planted", "--out", str(tmp_path / "run"), *settings) == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())["config"]
    assert config["ditabddpm"]["marginal_training"]["steps"] == 7
    assert (config["ditabddpm"]["noise"], config["tabddpm"]["prediction"]) == ("marginal", "noise")
    assert (config["continuous"], config["one_model_per_class"]) == ("tabddpm", True)
    learned = json.loads((tmp_path / "run" / "generation.json").read_text())["features"]
    assert set(learned["author"]) == {*("database self-citer", "database duo", "learning self-citer", "learning duo")}
    assert learned["paper"]["noise"] == "marginal"
    assert learned["term"]["generator"] == "tabddpm"


def test_fewer_columns_for_the_model_and_the_generator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DIGNN_CACHE", str(tmp_path / "cache"))
    short = replace(DEFAULTS["strong"]["hetero"], epochs=3, pool=60, held_out=60)
    monkeypatch.setitem(DEFAULTS["strong"], "hetero", short)
    chosen = ["--columns", "author=9", "paper=4", "--columns-by", "frequency", "--words-only"]
    settings = ["--preset", "smoke", "--features", "independent", "--sizes", "8", "--out", str(tmp_path / "run"), *FEW]
    assert run("explain", "planted", *settings, *chosen, "--json") == 0
    captured = capsys.readouterr()
    first = json.loads(captured.out)  # nothing else was printed, though the model was trained first
    assert captured.err == ""
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["columns"] == {"chosen": {"author": 9, "paper": 4}, "by": "frequency", "words_only": True}
    schema = Schema.from_json((tmp_path / "run" / "schema.json").read_text())
    assert [spec.width for spec in schema.features] == [9, 4, 12, 1]
    graphs = GraphBatch.load(tmp_path / "run" / "candidates.safetensors")
    assert graphs.tables["author"].size(1) == 9
    # The same command goes on; another selection is another run.
    assert run("explain", "planted", *settings, *chosen, "--json") == 0
    captured = capsys.readouterr()
    told = json.loads(captured.out)
    assert {**told, "seconds": first["seconds"]} == first
    assert (told["run"], told["report"]) == (str(tmp_path / "run"), str(tmp_path / "run" / "report.html"))
    assert told["seconds"] > 0
    best = told["classes"]["database duo"]
    assert 0 < best["probability"] <= 1
    assert "database duo" in best["text"]
    assert best["inside"] in (True, False)
    assert sum(best["nodes"].values()) == 8
    assert set(told["figures"]["pf"]) == {"value", "candidates", "floor"}
    assert "Learning" not in captured.err
    assert run("explain", "planted", *settings, "--columns", "author=8", "--quiet") == 2
    assert "is a run with columns.chosen.author 9, not 8" in capsys.readouterr().err
    assert run("train", "planted", *chosen, "--out", str(tmp_path / "model"), "--quiet") == 0
    assert "9 columns of author, 4 columns of paper" in " ".join(capsys.readouterr().out.split())
    card = json.loads((tmp_path / "model" / "card.json").read_text())
    assert {name: len(numbers) for name, numbers in card["columns"].items()} == {"author": 9, "paper": 4}


def test_train_shows_accuracies_and_saves_the_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("train", "planted", "--out", str(tmp_path / "model"), "--quiet") == 0
    assert "HeteroSAGE on planted" in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "model").iterdir()} == {"model.safetensors", "card.json"}
    assert run("train", "planted", "--json") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["architecture"] == "HeteroSAGE"
    assert captured.err == ""


def test_datasets_lists_all_with_licence_and_source(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DIGNN_DATA", str(tmp_path))
    monkeypatch.setenv("DIGNN_CACHE", str(tmp_path))
    assert run("datasets") == 0
    shown = capsys.readouterr().out
    for name in (
        "dblp",
        "imdb",
        "mutag",
        "mutag-untyped",
        "ba-shapes",
        "tree-cycle",
        "tree-grids",
        "ba-3motif",
        "planted",
    ):
        assert name in shown
    assert "dblp  (not here; get it with --download)" in shown
    assert "ba-3motif  (not here)" in shown
    assert shown.count("licence:") == shown.count("from:") == 9
    assert run("datasets", "--json") == 0
    told = json.loads(capsys.readouterr().out)["datasets"]
    assert {info["name"]: info["available"] for info in told}["dblp"] is False
    assert run("datasets", "--quiet") == 0
    assert capsys.readouterr().out.split() == [info["name"] for info in told]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "dlbp"], "no data set called 'dlbp' (did you mean 'dblp'?)"),
        (["explain", "planted", "--preset", "fas"], "no preset of dignnexplainer called 'fas' (did you mean 'fast'?)"),
        (["explain", "planted", "--structure", "x"], "no structure generator called 'x'"),
        (["explain", "planted", "--candidates", "0"], "candidates is 0; it must be at least 1"),
        (["explain", "planted", "--features", "ditabdpm"], "no feature generator called 'ditabdpm' (did you mean"),
        (["explain", "planted", "--sizes", "0"], "sizes is [0]; it must be"),
        (["explain", "planted", "--columns", "author"], "'author' does not say how many columns"),
        (["train", "planted", "--columns", "author=x"], "Unknown node type 'x'"),
        (["train", "planted", "--columns", "author=0"], "'author' cannot have 0 columns"),
        (["train", "planted", "--columns", "autor=5"], "Unknown node type 'autor' (did you mean 'author'?)"),
        (["explain", "planted", "--words-only"], "--columns-by and --words-only need columns to choose"),
    ],
)
def test_a_users_mistake_gives_one_sentence_and_exit_code_2(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*arguments, "--quiet") == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert "Traceback" not in captured.err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ditabddpm.dropout", "1"], "ditabddpm: dropout is 1.0; it must be at least 0 and below 1"),
        (["--ditabddpm.denoiser", "paper"], "choose noise 'marginal'"),
        (["--tabddpm.sampler-steps", "0"], "sampler_steps is 0; it must be at least 1"),
    ],
)
def test_a_setting_of_a_generator_that_makes_no_sense_is_named(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("explain", "planted", "--out", str(tmp_path / "run"), *arguments) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert len(shown.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_missing_data_set_gives_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DIGNN_DATA", str(tmp_path))
    monkeypatch.setenv("DIGNN_CACHE", str(tmp_path / "cache"))
    assert run("explain", "dblp", "--out", str(tmp_path / "run")) == 2
    assert "DBLP is not on this machine" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


# Runs commands, each in a copy of a process that has loaded the command line and nothing else, and writes for each its
# exit code, the seconds of a core that it took with loading, and whether torch was loaded.
WATCHED = """
import json, os, sys, time
from dignn.cli.main import main
loaded = time.process_time()
for line in json.load(sys.stdin):
    child = os.fork()
    if not child:
        sys.stdout = sys.stderr = open(os.devnull, "w")
        code = main(line.split())
        told = json.dumps([line, code, loaded + time.process_time(), "torch" in sys.modules])
        os.write(1, (told + chr(10)).encode())
        os._exit(0)
    os.waitpid(child, 0)
"""
LINES = [
    "--help",
    "explain --help-all",
    "datasets",
    "explian planted",
    "explain planted --sede 3",
    "explain planted --seed x",
    "explain planted --preset fsat",
    "explain planted --top-k 0",
    "explain planted --node-growth.width 0",
    "explain planted --structure node-grwth",
    "explain planted --features x",
    "explain planted --columns author",
    "explain planted --words-only",
    "explain planted --model gnn.py:load",
    "explain planted --out data.pt",
    "explain dlbp",
    "explain dta.pt",
    "explain data.pt",
    "explain data.pt --form paper --model gnn.py:load",
    "explain data.pt --model gnn.py",
    "explain data.pt --model gn.py:load",
    "explain data.pt --model gnn.py:load --names nowhere.json",
    "demo --preset fsat",
    "demo --out data.pt",
    "train dlbp",
    "report runs/none",
    "export runs/none",
    "evaluate runs/none",
    "evaluate unfinished",
    "report unfinished",
    "metrics real.json",
    "metrics nowhere.json data.pt",
    "metrics --features nowhere.npz data.pt",
]


@pytest.fixture(scope="module")
def watched(furnished: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, float, bool]]:
    """Exit code, seconds of a core and whether torch was loaded, by command line."""
    folder = tmp_path_factory.mktemp("mistakes")
    shutil.copytree(furnished, folder, dirs_exist_ok=True)
    (folder / "unfinished").mkdir()
    (folder / "unfinished" / "config.json").write_text("{}")
    ended = subprocess.run(
        [sys.executable, "-c", WATCHED], cwd=folder, input=json.dumps(LINES), capture_output=True, text=True, check=True
    )
    return {line: found for line, *found in map(json.loads, ended.stdout.splitlines())}


@pytest.mark.parametrize("line", LINES)
def test_a_mistake_is_answered_at_once_and_without_torch(
    line: str, watched: dict[str, tuple[int, float, bool]]
) -> None:
    code, seconds, torch = watched[line]
    assert code == (0 if line in ("--help", "explain --help-all", "datasets") else 2)
    assert not torch
    assert seconds < 2  # about .5


@pytest.mark.parametrize("command", [["explain", "--help"], ["datasets"]])
def test_whoever_reads_the_output_may_stop_reading(command: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # nobody reads from the beginning, so that no buffer can hide it
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "dignn", *command], stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60
        )
    finally:
        os.close(writing)
    assert ended.stderr == b""
    assert ended.returncode in (1, 141)
