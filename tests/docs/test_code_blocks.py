"""Every code block of README.md, CONTRIBUTING.md, docs/ and examples/README.md runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from docs.blocks import EXAMPLES, ROOT, BlockError, blocks, pages, run_page
from docs.stand_ins import as_reader, stand_in

pytestmark = pytest.mark.usefixtures("haste")
# The user's own model file, for pages that name one.
MY_GNN = """
import torch
from torch_geometric.nn import HeteroConv, Linear, SAGEConv


class GNN(torch.nn.Module):
    def __init__(self, data):
        super().__init__()
        torch.manual_seed(0)
        self.conv = HeteroConv({kind: SAGEConv((-1, -1), 8) for kind in data.edge_types})
        self.head = Linear(8, 2)

    def forward(self, x_dict, edge_index_dict):
        return self.head(self.conv(x_dict, edge_index_dict)["author"].relu())


def load(data):
    model = GNN(data)
    with torch.no_grad():
        model(data.x_dict, data.edge_index_dict)
    return model
"""


def own_files() -> dict[str, Any]:
    """data.pt and my_gnn.py as a reader would have them, and the same as ``model`` and ``data``."""
    data = stand_in("planted").data
    torch.save(data, "data.pt")
    Path("my_gnn.py").write_text(MY_GNN)
    own: dict[str, Any] = {}
    exec(MY_GNN, own)
    return {"data": data, "model": own["load"](data)}


def two_sets() -> dict[str, Any]:
    """REAL.json and GENERATED.json, graphs of another tool."""
    ring = {"n": 4, "edges": [[0, 1], [1, 2], [2, 3], [3, 0]], "types": [0, 1, 0, 1]}
    path = {"n": 4, "edges": [[0, 1], [1, 2], [2, 3]], "types": [0, 1, 0, 1]}
    Path("REAL.json").write_text(json.dumps({"graphs": [ring, path] * 5}))
    Path("GENERATED.json").write_text(json.dumps({"graphs": [path] * 10}))
    return {}


# What a page takes for granted. Pages that are not named here begin with nothing.
GIVEN: dict[str, tuple[Callable[[], dict[str, Any]], ...]] = {
    "README.md": (own_files, two_sets),
    "docs/faq.md": (own_files, two_sets),
    "docs/index.md": (own_files,),
    "docs/sanity.md": (own_files,),
}

# Makes a data set known, as a page may tell readers to.
NAMED = """
from dignn.zoo.datasets.registry import DATASETS
DATASETS.add("mine", DATASETS["planted"])
"""


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reader's folder, with the project's examples in it; environment and working folder come back."""
    as_reader(monkeypatch, tmp_path)
    return tmp_path


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# The page of the examples runs in test_examples.py, which looks at what it makes.
@pytest.mark.parametrize("page", [page for page in pages() if blocks(page) and page != EXAMPLES], ids=_name)
def test_every_block_of_a_page_runs(page: Path, reader: Path) -> None:
    given: dict[str, Any] = {}
    for provide in GIVEN.get(_name(page), ()):
        given |= provide()
    assert run_page(page, given) == len(blocks(page))


def test_pages_that_have_something_given_exist() -> None:
    assert set(GIVEN) <= {_name(page) for page in pages()}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("```python\nfrom dignn import Nothing\n```", "Nothing"),
        ("```python\nx = 1\n```\nand\n```python\nassert x == 2\n```", "page.md:5"),
        ("```\nls\n```", "language"),
        ("```bash\nls\n```", "bash"),
        ("```sh\nls\n```", "nothing checks the command 'ls'"),
        ("```sh\ndignn explain dbpl\n```", "ends with 2"),
        ("```sh\ndignn datasets --colour\n```", "ends with 2"),
        ("```sh\nmake breakfast\n```", "breakfast"),
        ("```sh\npip install '.[breakfast]'\n```", "breakfast"),
        ("```sh\npip install torch\n```", "torch"),
        ("```sh\npython -m benchmarks.words --breakfast\n```", "SystemExit"),
        ("```sh\npython -m pytest tests/test_breakfast.py\n```", "test_breakfast"),
        ("```json\n{'a': 1}\n```", "JSONDecodeError"),
        ("- item\n\n  ```python\n  1 / 0\n  ```", "ZeroDivisionError"),
        (f"```python\n{NAMED}```\n```sh\ndignn explain mine\n```", "dignn explain mine ends with 2"),
        ("```python\nx = 1", "no end"),
        ("Text:\n\n    dignn explain", "indent"),
    ],
)
def test_a_wrong_block_fails(text: str, told: str, reader: Path) -> None:
    page = reader / "page.md"
    page.write_text(text)
    with pytest.raises(BlockError, match=None) as caught:
        run_page(page, {})
    assert told in str(caught.value)


def test_python_keeps_the_names_that_a_shell_does_not_know(reader: Path) -> None:
    page = reader / "page.md"
    page.write_text(f"```python\n{NAMED}```\n```sh\ndignn datasets\n```\n```python\nassert 'mine' in DATASETS\n```\n")
    assert run_page(page, {}) == 3


def test_right_blocks_pass(reader: Path) -> None:
    page = reader / "page.md"
    page.write_text(
        "1. item\n\n    more of it\n\n    ```python\n    x = given\n    ```\n\n```python\nassert x == 3\n```\n"
        '```json\n{"a": 1}\n```\n```text\nwhatever\n```\n'
        "```sh\nexport A=b  # a comment\nmake \\\n    lint\npip install .\npython -m benchmarks.words\n```\n"
    )
    assert run_page(page, {"given": 3}) == 5
    assert os.environ["A"] == "b"
