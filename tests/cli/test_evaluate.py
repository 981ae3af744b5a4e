"""``dignn evaluate RUN``: measured again, from what the folder says of itself."""

from __future__ import annotations

import json
import shutil
from contextlib import chdir
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch

from command_line import run
from dignn.cli.options import Known
from dignn.cli.rebuild import known_from
from dignn.core.errors import DignnError
from dignn.core.json_types import restored
from dignn.explainers.methods.dignnexplainer.settings import PRESETS, Config

pytestmark = pytest.mark.usefixtures("haste")

# What makes the model is code, so it is named each time.
MODEL = ("--model", "gnn.py:load")
IMPORT = "from torch_geometric.nn import MaxAggregation\n"
MADE = ("metrics.json", "explanations.json", "explanations.safetensors", "candidates.safetensors", "config.json")


@pytest.fixture(scope="module")
def once(furnished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the user's own graphs, not to be changed."""
    folder = tmp_path_factory.mktemp("once")
    with chdir(furnished):
        arguments = ["--preset", "smoke", "--candidates", 24, "--quiet", "--out", folder / "run"]
        assert run("explain", "data.pt", "--model", "gnn.py:load", *arguments) == 0
    return folder / "run"


@pytest.fixture
def finished(once: Path, home: Path) -> Path:
    """A finished run in the user's folder."""
    return Path(shutil.copytree(once, home / "run"))


def _bytes(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in MADE}


def test_a_finished_run_is_measured_again_with_the_same_result(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _bytes(finished)
    content = json.loads(before["metrics.json"])
    content["paper"]["pf"] = -1.0  # what is written there is not believed
    (finished / "metrics.json").write_text(json.dumps(content))
    (finished / "report.html").unlink()
    capsys.readouterr()
    assert run("evaluate", finished, *MODEL) == 0
    assert _bytes(finished) == before
    assert (finished / "report.html").exists()
    assert "Best explanation per class" in capsys.readouterr().out


def test_json_is_printed_alone(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run("evaluate", finished, *MODEL, "--json") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == json.loads((finished / "metrics.json").read_text())
    assert captured.err == ""


@pytest.mark.parametrize("lost", [("metrics.json",), ("candidates.safetensors", "metrics.json", "explanations.json")])
def test_what_a_stopped_run_lacks_is_made(lost: tuple[str, ...], finished: Path) -> None:
    before = _bytes(finished)
    for name in lost:
        (finished / name).unlink()
    assert run("evaluate", finished, *MODEL, "--quiet") == 0
    assert _bytes(finished) == before


def test_nothing_is_lost_when_data_or_model_are_missing(
    finished: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _bytes(finished)
    (home / "elsewhere").mkdir()
    shutil.move(home / "data.pt", home / "elsewhere" / "data.pt")
    assert run("evaluate", finished, *MODEL) == 2
    assert "The data file data.pt of" in capsys.readouterr().err
    assert _bytes(finished) == before
    shutil.move(home / "gnn.py", home / "elsewhere" / "gnn.py")
    assert run("evaluate", finished, "--data", "elsewhere/data.pt", *MODEL) == 2
    assert "There is no model file gnn.py" in capsys.readouterr().err
    moved = ("--data", "elsewhere/data.pt", "--model", "elsewhere/gnn.py:load", "--quiet")
    assert run("evaluate", finished, *moved) == 0
    assert _bytes(finished) == before
    # Other data under the old name are noticed.
    torch.save(torch.load(home / "elsewhere" / "data.pt", weights_only=False)[:30], home / "data.pt")
    assert run("evaluate", finished, "--model", "elsewhere/gnn.py:load") == 2
    assert "is a run with data" in capsys.readouterr().err
    assert _bytes(finished) == before


def test_another_model_is_refused_and_nothing_is_lost(
    finished: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _bytes(finished)
    other = "def load_max():\n    model = load()\n    model.conv.aggr_module = MaxAggregation()\n    return model\n"
    source = (home / "gnn.py").read_text().replace("import torch\n", "import torch\n" + IMPORT, 1)
    (home / "gnn.py").write_text(f"{source}\n{other}")
    again = ("explain", "data.pt", "--preset", "smoke", "--candidates", 24, "--out", finished)
    for command in (("evaluate", finished), again):
        assert run(*command, "--model", "gnn.py:load_max") == 2
        shown = capsys.readouterr().err
        assert "is a run with own.model 'gnn.py:load', not 'gnn.py:load_max'; choose another folder" in shown
    # Under the old name it is told by its answers.
    renamed = f"{source}\n{other}".replace("load()", "first()").replace("load_max()", "load()")
    (home / "gnn.py").write_text(renamed)
    for command in (("evaluate", finished), again):
        assert run(*command, *MODEL) == 2
        shown = capsys.readouterr().err
        assert "is a run of another model: of 2 answers to real graphs" in shown
        assert len(shown.strip().splitlines()) == 1
    assert _bytes(finished) == before


def test_the_old_figures_stay_when_measuring_fails(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _bytes(finished)

    def fail(*_: object, **__: object) -> None:
        raise DignnError("no memory left")

    monkeypatch.setattr("dignn.explainers.base.Measuring.measure", fail)
    assert run("evaluate", finished, *MODEL, "--quiet") == 2
    assert _bytes(finished) == before


def test_no_code_is_run_that_only_the_folder_names(
    finished: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _bytes(finished)
    trap = "from pathlib import Path\nPath('sprung').touch()\nfrom gnn import load\n"
    (home / "trap.py").write_text(trap)
    content = json.loads(before["config.json"])
    content["own"]["model"] = "trap.py:load"
    (finished / "config.json").write_text(json.dumps(content))
    capsys.readouterr()
    assert run("evaluate", finished, "--trust") == 2
    assert "config.json is damaged or was altered" in capsys.readouterr().err
    (finished / "checksums.json").unlink()  # who wants to set a trap does that
    assert run("evaluate", finished) == 2
    shown = capsys.readouterr().err
    assert "the code trap.py:load that its config.json names would be run" in shown
    assert "add --model trap.py:load" in shown
    assert len(shown.strip().splitlines()) == 1
    assert run("evaluate", finished, *MODEL) == 2  # the code that is named here is run instead
    assert "is a run with own.model 'trap.py:load', not 'gnn.py:load'" in capsys.readouterr().err
    assert not (home / "sprung").exists()
    assert run("evaluate", finished, "--trust", "--quiet") == 0
    assert (home / "sprung").exists()


def test_trust_is_asked_for_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = torch.load(home / "data.pt", weights_only=False)
    data[0].path = Path("somewhere")
    torch.save(data, home / "data.pt")
    options = ["--preset", "smoke", "--candidates", 16, "--quiet", "--out", "run"]
    assert run("explain", "data.pt", "--model", "gnn.py:load", "--trust", *options) == 0
    assert run("evaluate", "run", *MODEL) == 2
    assert "add --trust" in capsys.readouterr().err
    assert run("evaluate", "run", "--trust", "--quiet") == 0


def test_a_run_of_a_data_set(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--preset", "smoke", "--features", "independent", "--sizes", 8, "--candidates", 24, "--out", "run"]
    assert run("explain", "tree-cycle", *options, "--quiet") == 0
    before = _bytes(home / "run")
    assert run("evaluate", "run", "--quiet") == 0
    assert _bytes(home / "run") == before
    assert run("evaluate", "run", "--data", "data.pt") == 2
    assert "is of the data set tree-cycle" in capsys.readouterr().err


@pytest.mark.parametrize(
    "known", [Known(), Known("paper", ("director=movie", "movie=9")), Known("strong", ("a=1",), "frequency", True)]
)
def test_the_options_of_a_data_set_come_back(known: Known) -> None:
    assert known_from(json.loads(json.dumps(known.about()))) == known


def test_a_folder_that_is_no_run_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "empty").mkdir()
    for place, message in (("none", "does not exist"), ("empty", "is not a run folder"), ("data.pt", "is a file")):
        assert run("evaluate", place) == 2
        shown = capsys.readouterr().err
        assert f"{place} {message}; give a folder that `dignn explain` made" in shown
        assert len(shown.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda config: config.pop("seed"), "is damaged (it lacks"),
        (lambda config: config["config"].pop("candidates"), "settings that this version of dignn does not have"),
        (lambda config: config["config"].update(colour="red"), "settings that this version of dignn does not have"),
        (lambda config: config["config"].update(candidates=0), "settings that this version of dignn does not have"),
        (lambda config: config.update(config=[]), "settings that this version of dignn does not have"),
        (lambda config: config.update(explainer="other"), "is a run of 'other'"),
        (lambda config: config.update(seed="zero"), "config.json is damaged (seed is 'zero'"),
        (lambda config: config.update(seed=None), "config.json is damaged (seed is None"),
        (lambda config: config.update(seed=1.5), "config.json is damaged (seed is 1.5"),
        (lambda config: config.update(preset="fas"), "config.json is damaged (preset is 'fas'"),
        (lambda config: config.update(preset=["fast"]), "config.json is damaged (preset is ['fast']"),
        (lambda config: config.update(dataset=3), "config.json is damaged (dataset is 3"),
        (lambda config: config.update(form=config.pop("own")), "config.json is damaged (form is {"),
        (lambda config: (config.pop("own"), config.update(form="weak")), "config.json is damaged (form is 'weak'"),
        (lambda config: config.update(columns=["author"]), "config.json is damaged (columns is ['author']"),
        (lambda config: config.update(columns={"by": "x"}), "config.json is damaged (columns is {'by': 'x'}"),
        (lambda config: config.pop("own"), "was made from Python"),
        (lambda config: config["own"].pop("data"), "config.json is damaged"),
        (lambda config: config["own"].update(colour="red"), "config.json is damaged"),
    ],
)
def test_a_damaged_folder_or_one_of_another_version_is_named(
    change: Any, message: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home / "run"
    folder.mkdir()
    config = {
        "dataset": "data.pt",
        "own": {"data": "data.pt", "model": "gnn.py:load"},
        "preset": "smoke",
        "explainer": "dignnexplainer",
        "seed": 0,
        "config": json.loads(json.dumps(asdict(PRESETS["smoke"]))),
    }
    change(config)
    (folder / "config.json").write_text(json.dumps(config))
    assert run("evaluate", "run") == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert len(shown.strip().splitlines()) == 1
    (folder / "config.json").write_text("{")
    assert run("evaluate", "run") == 2
    assert "is damaged" in capsys.readouterr().err


@pytest.mark.parametrize("preset", ["fast", "thorough", "paper", "smoke"])
def test_settings_come_back_from_json(preset: str) -> None:
    assert restored(Config, json.loads(json.dumps(asdict(PRESETS[preset])))) == PRESETS[preset]
