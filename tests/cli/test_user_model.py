"""Model files of users: which function is called, with what, and what is said when it fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from torch_geometric.data import Data

from dignn.cli.user_model import load_model
from dignn.core.errors import DignnError

DATA = Data()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_function_gets_the_data_only_if_it_asks(folder: Path) -> None:
    (folder / "m.py").write_text(
        "def model(data): ...\n"
        "def none(): return model\n"
        "def default(path='x'): return model\n"
        "def takes(data): return lambda graph: data\n"
        "def pair(): return model, lambda model, data: 3\n"
    )
    assert load_model("m.py:none", DATA).model.__name__ == "model"
    assert load_model("m.py:default", DATA).forward is None
    assert load_model("m.py:takes", DATA).model(None) is DATA
    forward = load_model("m.py:pair", DATA).forward
    assert forward is not None
    assert forward(None, None) == 3


def test_a_model_file_imports_its_neighbours_and_is_not_run_as_a_program(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "beside_it.py").write_text("def model(data): ...\n")
    (folder / "sub" / "m.py").write_text(
        "from dataclasses import dataclass\nimport beside_it\n"
        "@dataclass\nclass Settings:\n    width: 'int' = 3\n"
        "def load():\n    return beside_it.model\n"
        "if __name__ == '__main__':\n    raise RuntimeError\n"
    )
    before = list(sys.path)
    assert load_model("sub/m.py:load", DATA).model.__name__ == "model"
    assert sys.path == before


def test_a_module_is_found_from_the_users_folder(folder: Path) -> None:
    (folder / "package_of_mine").mkdir()
    (folder / "package_of_mine" / "nets.py").write_text("def load():\n    return len\n")
    assert load_model("package_of_mine.nets:load", DATA).model is len


@pytest.mark.parametrize(
    ("source", "given", "message"),
    [
        ("", "m.py", "'m.py' does not name a function; give FILE.py:FUNCTION"),
        ("", "m.py:", "does not name a function"),
        ("", ":load", "does not name a function"),
        ("", "other.py:load", "There is no model file other.py"),
        ("", "no.such.module:load", "There is no module called 'no.such.module'"),
        ("def loads(): ...", "m.py:load", "m.py has no function called 'load' .did you mean 'loads'"),
        ("load = 3", "m.py:load", "'load' of m.py is a int"),
        ("class Net: ...", "m.py:Net", "is a class, so its model would not be trained"),
        (
            "def load(a, b): ...",
            "m.py:load",
            "needs the arguments a, b; it must take none, or only the data: give the others default values, or name",
        ),
        ("def load(*, a): ...", "m.py:load", "needs the arguments a"),
        ("def load(): ...", "m.py:load", "m.py:load returns None; return the trained model"),
        ("def load(): return 3", "m.py:load", "returns a int"),
        ("def load(): return len, 3", "m.py:load", "returns a tuple"),
        ("\ndef load():\n    return 1 / 0", "m.py:load", "m.py, line 3 .ZeroDivisionError: division by zero"),
        ("\nraise OSError('no\\nluck')", "m.py:load", "m.py, line 2 .OSError: no luck"),
        ("def load(:", "m.py:load", "m.py, line 1 .SyntaxError"),
        ("import not_there_at_all", "m.py:load", "m.py, line 1 .ModuleNotFoundError"),
        ("def load():\n    import sys; sys.exit(3)", "m.py:load", "m.py, line 2 .SystemExit: 3"),
        ("import json\ndef load():\n    json.loads('{')", "m.py:load", "m.py, line 3 .JSONDecodeError"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(source: str, given: str, message: str, folder: Path) -> None:
    (folder / "m.py").write_text(source)
    with pytest.raises(DignnError, match=message) as refused:
        load_model(given, DATA)
    assert "\n" not in str(refused.value)
