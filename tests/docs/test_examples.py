"""The examples run, from Python and by the commands of their page, and both ways give the same."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest

from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from docs.blocks import EXAMPLES, blocks, run_page
from docs.stand_ins import TINY, as_reader

pytestmark = pytest.mark.usefixtures("haste")
CLASSES = {
    "heterogeneous": ["databases", "networks", "vision"],
    "homogeneous": ["chess", "football", "music"],
    "graph_classifier": ["chain", "ring"],
}


@pytest.fixture(scope="module")
def ran(haste: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which every block of the page ran, and what was shown."""
    folder, shown = tmp_path_factory.mktemp("examples"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(shown):
        as_reader(patch, folder)
        for name in PRESETS:
            patch.setitem(PRESETS._items, name, replace(TINY, top_k=3))  # as many as examples ask for
        assert run_page(EXAMPLES, {}) == len(blocks(EXAMPLES))
    return folder / "runs", shown.getvalue()


def test_they_show_what_was_found(ran: tuple[Path, str]) -> None:
    """Of each example the accuracy of its model, something of every class, and where the report is."""
    shown = ran[1]
    assert all(float(rest.split()[0]) > 0.9 for rest in shown.split("trained on: ")[1:])
    assert shown.count("Accuracy") == len(CLASSES)
    for name, classes in CLASSES.items():
        assert f"runs/examples/{name}/run/report.html" in shown
        assert all(f"{each}: " in shown for each in classes)


@pytest.mark.parametrize("name", CLASSES)
def test_python_and_the_command_line_give_the_same(name: str, ran: tuple[Path, str]) -> None:
    """Data, weights and names are the same both ways, so the explanations are too."""
    found, from_python = (
        json.loads((ran[0] / place / "explanations.json").read_text()) for place in (name, f"examples/{name}/run")
    )
    assert list(found["classes"]) == CLASSES[name]
    assert found["classes"] == from_python["classes"]


def test_the_readme_names_every_example_and_its_command() -> None:
    text = EXAMPLES.read_text()
    assert {path.stem for path in EXAMPLES.parent.glob("*.py")} == set(CLASSES)
    for name in CLASSES:
        assert f"[{name}.py]({name}.py)" in text
        assert f"runs/examples/{name}/data.pt --model examples/{name}.py:load" in text
