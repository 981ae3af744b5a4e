"""The house: every module has a room, rooms say what lives there, and imports point one way, those in strings too."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import dignn

ROOT = Path(__file__).parents[1]
SOURCE = Path(dignn.__file__).parent
ROOMS = sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__")
# Names that mean the same in every room: what is to be implemented, its settings, where it is found by name.
CONVENTIONAL = {"__init__", "base", "settings", "registry", "generator", "explainer"}


@pytest.fixture(scope="module", autouse=True)
def _benchmarks() -> Iterator[None]:
    sys.path.insert(0, str(ROOT))
    yield
    sys.path.remove(str(ROOT))


def sources() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def test_there_are_few_rooms_and_no_loose_module() -> None:
    from benchmarks.house import layers

    assert len(ROOMS) <= 17
    assert {path.name for path in SOURCE.iterdir() if path.is_file()} == {"__init__.py", "__main__.py", "py.typed"}
    assert sorted(room for rooms in layers() for room in rooms) == ROOMS


@pytest.mark.parametrize(
    "path", [path for path in sources() if path.name == "__init__.py"], ids=lambda p: p.parent.name
)
def test_a_room_says_what_lives_there_and_holds_nothing_else(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert len((ast.get_docstring(tree) or "").splitlines()) > 1, path  # what lives there, and how to go in
    public = {SOURCE, SOURCE / "cli", SOURCE / "report" / "charts"}  # whose names are imported from the folder
    if path.parent not in public:
        assert len(tree.body) == 1, path


def test_a_file_name_has_one_meaning() -> None:
    count = Counter(path.stem for path in sources())
    assert {name for name, number in count.items() if number > 1} <= CONVENTIONAL


def constants() -> Iterator[tuple[str, Path]]:
    """Public names that modules assign; a variable of types means something only where it is used."""
    for path in sources():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.Assign | ast.AnnAssign) or "TypeVar(" in ast.unparse(node):
                continue
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name) and not name.id.startswith("_"):
                        yield name.id, path


def test_a_constant_has_one_meaning() -> None:
    homes: dict[str, list[str]] = {}
    for name, path in constants():
        homes.setdefault(name, []).append(str(path.relative_to(SOURCE)))
    several = {name: paths for name, paths in homes.items() if len(paths) > 1}
    # A module's own logger, in all of them, the presets of every method that is a folder, and the table of a file of
    # tables.
    assert several.keys() <= {"log", "PRESETS", "TABLE"}, several


def strings() -> Iterator[tuple[str, str]]:
    """(module, name of a module in a string of it); the top of the package may name everything."""
    for path in sources():
        if path.parent == SOURCE:
            continue
        module = ".".join(("dignn", *path.relative_to(SOURCE).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            if re.fullmatch(r"dignn\.[a-z_]+(\.\w+)*", text) and _is_module(text):
                yield module, text


def _is_module(name: str) -> bool:
    path = SOURCE.joinpath(*name.split(".")[1:])
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def test_module_names_in_strings_point_downwards_too() -> None:
    from benchmarks.house import layers

    level = {room: number for number, rooms in enumerate(layers()) for room in rooms}
    found = list(strings())
    assert found  # registries name modules that are imported when they are asked for
    for module, named in found:
        above, below = module.split(".")[1], named.split(".")[1]
        assert above == below or level[above] < level[below], f"{module} names {named}"


def test_the_picture_is_of_todays_imports() -> None:
    from benchmarks.house import PICTURE, draw

    assert PICTURE.read_text(encoding="utf-8") == draw(), "run `python -m benchmarks.house`"


# What a fresh process has loaded after an explanation, and after all modules of selection besides.
LOADS = """
import sys, pkgutil, importlib, json, dignn.selection as room
import dignn.explanations.explanation
explanation = sorted(sys.modules)
for found in pkgutil.walk_packages(room.__path__, "dignn.selection."): importlib.import_module(found.name)
print(json.dumps([explanation, sorted(sys.modules)]))
"""


def test_no_room_loads_what_few_need() -> None:
    """Whoever plots loads what draws, and selection loads no data set."""
    found = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=True)
    explanation, selection = json.loads(found.stdout)
    assert "dignn.explanations.explanation" in explanation
    assert not {"matplotlib", "igraph"} & set(explanation)
    assert "dignn.selection.ranking" in selection
    assert not [name for name in selection if name.startswith(("dignn.zoo", "dignn.explainers"))]


@pytest.mark.parametrize("name", ["settings", "registry"])
def test_settings_and_names_load_nothing_heavy(name: str) -> None:
    modules = [
        ".".join(("dignn", *path.relative_to(SOURCE).with_suffix("").parts)) for path in sources() if path.stem == name
    ]
    assert modules
    loads = (
        f"import sys, importlib\nfor name in {modules}: importlib.import_module(name)\nprint('torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_what_the_package_exports_is_there() -> None:
    for name in dignn.__all__:
        assert getattr(dignn, name) is not None
        home = import_module(f"dignn.{dignn._HOMES[name]}")
        assert hasattr(home, name)
