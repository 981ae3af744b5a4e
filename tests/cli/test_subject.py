"""``dignn explain FILE``: a user's data and model, from the command line to the run folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

from command_line import run
from dignn.explanations.explanation import Explanations

pytestmark = pytest.mark.usefixtures("haste")
SMOKE = ("--preset", "smoke", "--quiet")
GRAPHS = ("explain", "data.pt", "--model", "gnn.py:load")


def test_graphs_of_a_user_are_explained_and_a_run_goes_on(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*GRAPHS, *SMOKE, "--classes", "path", "ring", "--candidates", 24) == 0
    shown = capsys.readouterr().out
    assert "Best explanation per class" in shown
    assert "Main figures" in shown
    assert " s, without loading and training the model" in shown
    folder = home / "runs" / "data"
    config = json.loads((folder / "config.json").read_text())
    assert config["dataset"] == "data.pt"
    assert config["own"] == {
        "data": "data.pt",
        "model": "gnn.py:load",
        "classes": ["path", "ring"],
    }
    assert set(Explanations.load(folder)) == {"path", "ring"}
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert run(*GRAPHS, *SMOKE, "--classes", "path", "ring", "--candidates", 24) == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    # Where the files are does not matter, what they hold does: other weights are another run.
    absolute = ("explain", home / "data.pt", "--model", f"{home / 'gnn.py'}:load")
    assert run(*absolute, *SMOKE, "--classes", "path", "ring", "--candidates", 24, "--out", folder) == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    (home / "gnn.py").write_text((home / "gnn.py").read_text().replace("manual_seed(0)", "manual_seed(1)"))
    assert run(*GRAPHS, *SMOKE, "--classes", "path", "ring", "--candidates", 24) == 2
    assert "is a run with model" in capsys.readouterr().err


def test_a_forward_function_and_names_of_columns(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "pair.py").write_text(
        "def model(sums):\n    return sums[:, :2] - sums[:, 2:]\n"
        "def load(data):\n"
        "    def forward(model, graphs):\n"
        "        return model(graphs['author'].x @ data['author'].x.new_tensor([[9, 0, 0, 0], [0, 9, 0, 0]] * 2))\n"
        "    return model, forward\n"
    )
    (home / "names.json").write_text('{"author": ["query", "pixel", "join", "image"]}')
    options = ["--target", "author", "--names", "names.json", "--sizes", 6, "--features", "independent"]
    assert run("explain", "authors.pt", "--model", "pair.py:load", *options, "--candidates", 16, *SMOKE) == 0
    assert "query" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["dat.pt", "--model", "gnn.py:load"],
            "no data set called 'dat.pt' (did you mean 'data.pt'?) and no such file",
        ),
        (["."], ". is a folder; give a data file"),
        (["data.pt"], "data.pt needs a model; add --model FILE.py:FUNCTION"),
        (["gnn.py", "--model", "gnn.py:load"], "gnn.py is damaged or was not written by torch.save"),
        (["data.pt", "--model", "gnn.py:lod"], "gnn.py has no function called 'lod' (did you mean 'load'?)"),
        (
            ["data.pt", "--model", "gnn.py:load", "--columns", "author=5"],
            "--columns, --form and --download are of data",
        ),
        (["data.pt", "--model", "gnn.py:load", "--form", "paper"], "--columns, --form and --download are of data sets"),
        (["data.pt", "--model", "gnn.py:load", "--download"], "--columns, --form and --download are of data sets"),
        (["data.pt", "--model", "gnn.py:load", "--target", "node"], "A list of graphs is classified as graphs"),
        (["data.pt", "--model", "gnn.py:load", "--classes", "ring"], "1 class names were given"),
        (["data.pt", "--model", "gnn.py:load", "--names", "none.json"], "none.json cannot be read"),
        (["authors.pt", "--model", "gnn.py:load"], "Say which node type of authors.pt is classified: --target one of"),
        (["authors.pt", "--model", "gnn.py:load", "--target", "autor"], "autor"),
        (["authors.pt", "--model", "gnn.py:load", "--target", "author"], "model"),
        (["planted", "--model", "gnn.py:load"], "--model needs a data file, and planted is a data set"),
        (["planted", "--trust", "--target", "author"], "--target, --trust needs a data file"),
    ],
)
def test_a_mistake_gives_one_sentence_and_leaves_no_folder(
    arguments: list[str], message: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("explain", *arguments, *SMOKE) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert len(shown.strip().splitlines()) == 1
    assert not (home / "runs").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("classes=2", "classes=3"), "The model scores 3 classes, but the data has 2"),
        (("GCNConv(1, 8)", "GCNConv(5, 8)"), "The model fails on the data's own graphs"),
        (("x, edge_index, batch)", "x, edge_index, batch, temperature)"), "needs temperature"),
        (("return self.head(", "return float('nan') * self.head("), "NaN or infinite"),
        (("return self.head(", "raise KeyError('gone') or self.head("), "The model fails on the data's own graphs"),
        (("return GNN()", "return GNN().state_dict()"), "returns a OrderedDict; return the trained model"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_before_any_work(
    change: tuple[str, str], message: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "gnn.py").write_text((home / "gnn.py").read_text().replace(*change))
    assert run(*GRAPHS, *SMOKE) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown
    assert not (home / "runs").exists()


@pytest.mark.parametrize("command", [("explain", "planted"), ("train", "planted"), ("demo",)])
def test_a_seed_that_is_none_is_refused_before_a_model_is_trained(
    command: tuple[str, ...], home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def trained(*_: object, **__: object) -> None:
        raise AssertionError("a model was trained")

    monkeypatch.setattr("dignn.zoo.models.checkpoint.trained_model", trained)
    assert run(*command, "--seed", -1) == 2
    assert "seed is -1; it must be at least 0" in capsys.readouterr().err
    assert not (home / "runs").exists()


def test_a_data_file_with_more_than_graphs_needs_trust(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = torch.load(home / "data.pt", weights_only=False)
    data[0].path = Path("somewhere")  # harmless, but only its writer knows
    torch.save(data, home / "data.pt")
    assert run(*GRAPHS, *SMOKE) == 2
    assert "add --trust" in capsys.readouterr().err
    assert isinstance(data[0], Data)
    assert run(*GRAPHS, *SMOKE, "--trust", "--candidates", 16) == 0
