"""The examples run, and their command lines work."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import run
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from docs.stand_ins import TINY

pytestmark = pytest.mark.usefixtures("haste")
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "options", "classes"),
    [
        (
            "heterogeneous",
            ["--target", "author", "--names", "{folder}/names.json"],
            ["databases", "networks", "vision"],
        ),
        ("homogeneous", ["--target", "person", "--names", "{folder}/names.json"], ["chess", "football", "music"]),
        ("graph_classifier", ["--type-names", "C", "N", "O"], ["chain", "ring"]),
    ],
)
def test_an_example_runs_from_python_and_from_the_command_line(
    name: str,
    options: list[str],
    classes: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(PRESETS._items, "smoke", replace(TINY, top_k=3))
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.main("smoke")
    shown = capsys.readouterr().out
    for wanted in (*classes, "Accuracy", "report.html"):
        assert wanted in shown
    accuracy = float(shown.split("trained on: ")[1].split()[0])
    assert accuracy > 0.9
    folder = Path("runs/examples") / name
    command = [str(folder / "data.pt"), "--model", f"{EXAMPLES / name}.py:load", "--classes", *classes]
    command += [option.format(folder=folder) for option in options]
    assert run("explain", *command, "--preset", "smoke", "--quiet", "--out", "run") == 0
    # Data, weights and names are the same both ways, so the explanations are too.
    found, from_python = (
        json.loads((place / "explanations.json").read_text()) for place in (Path("run"), folder / "run")
    )
    assert found["classes"] == from_python["classes"]


def test_the_readme_names_every_example_and_its_command() -> None:
    text = (EXAMPLES / "README.md").read_text()
    for path in EXAMPLES.glob("*.py"):
        assert f"[{path.name}]({path.name})" in text
        assert f"runs/examples/{path.stem}/data.pt --model examples/{path.name}:load" in text
