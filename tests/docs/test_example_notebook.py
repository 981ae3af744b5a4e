"""The example notebook runs from top to bottom and shows what it promises; what it shows in the repository is kept."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dignn

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed; pip install '.[dev]'")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed; pip install '.[dev]'")

PATH = Path(__file__).parents[2] / "examples" / "explain_a_model.ipynb"
LARGEST = 600_000
LESS = """
from dataclasses import replace

from dignn import PRESETS
from small_runs import less_work, small_config

less = less_work()
less.__enter__()
PRESETS._items["smoke"] = replace(small_config(), features="bootstrap")
"""


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """The notebook after a run with the smallest preset, and the folder in which it ran."""
    pytest.importorskip("ipykernel", reason="ipykernel is not installed; pip install '.[dev]'")
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.read(PATH, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    # After the first cell, which hides a warning: less of what has tests of its own. It shows nothing.
    first = next(place for place, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    notebook.cells.insert(first + 1, nbformat.v4.new_code_cell(LESS))
    # The last cell shows that a figure shows itself once also where pyplot has been set up for notebooks.
    notebook.cells.append(
        nbformat.v4.new_code_cell("import matplotlib.pyplot as plt\nplt.gcf()\nplt.close()\nbest.plot()")
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIGNN_PRESET", "smoke")
        for source in (Path(dignn.__file__).parents[1], Path(__file__).parents[1]):
            patch.setenv("PYTHONPATH", str(source), prepend=os.pathsep)  # the kernel starts in another folder
        patch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
        client = nbclient.NotebookClient(
            notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
        )
        client.execute()  # raises where a cell fails
    return notebook, folder


def outputs(notebook: Any, source: str) -> list[Any]:
    """Of the cell that ends with ``source``, without what is written to the terminal."""
    (cell,) = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.endswith(source)]
    return [output for output in cell.outputs if output.output_type != "stream"]


@pytest.mark.parametrize(("source", "kind"), [("\nexplanations", "text/html"), ("\nbest", "text/html")])
def test_explanations_show_themselves(executed: tuple[Any, Path], source: str, kind: str) -> None:
    (shown,) = outputs(executed[0], source)
    assert "<svg" in shown["data"][kind]
    assert "Explanation" in shown["data"]["text/plain"]


@pytest.mark.parametrize("source", ["explanations.plot()", "plt.close()\nbest.plot()"])
def test_a_figure_shows_itself_exactly_once(executed: tuple[Any, Path], source: str) -> None:
    (shown,) = outputs(executed[0], source)
    assert "image/png" in shown["data"]


def test_nothing_is_written_to_the_error_stream(executed: tuple[Any, Path]) -> None:
    streams = [
        output for cell in executed[0].cells for output in cell.get("outputs", []) if output.get("name") == "stderr"
    ]
    assert not [stream["text"] for stream in streams]


def test_report_and_exports_are_there(executed: tuple[Any, Path]) -> None:
    folder = executed[1] / "runs" / "notebook"
    assert (folder / "report.html").stat().st_size > 10_000
    assert (folder / "best.svg").exists()
    assert len(list((folder / "graphs").glob("*.graphml"))) >= 3


def texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, but pictures."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield "".join(value) if all(isinstance(item, str) for item in value) else ""
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if not name.startswith("image/"):
                yield from texts(item)


def test_the_notebook_in_the_repository_has_outputs_and_tells_no_path_of_a_machine() -> None:
    notebook = nbformat.read(PATH, as_version=4)
    nbformat.validate(notebook)
    assert PATH.stat().st_size < LARGEST
    ran = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in ran] == list(range(1, len(ran) + 1))
    shown = [output for cell in ran for output in cell.outputs]
    assert not [output for output in shown if output.output_type == "error"]
    assert {"text/html", "image/png"} <= {kind for output in shown for kind in output.get("data", {})}
    for text in texts([dict(output) for output in shown]):
        assert not re.search(r"(?<![\w.<])/(home|tmp|usr|work|root|Users|mnt|opt|var)/", text)
