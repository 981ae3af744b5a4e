"""Which code runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from dignn.core.code_version import commit


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c", *words], check=True)


def test_the_commit_is_that_of_the_code_and_of_no_other_repository(tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "__init__.py").touch()
    (tmp_path / "results.jsonl").touch()
    git(tmp_path, "init", "--quiet")
    assert commit(code) is None  # as where the library is installed inside of somebody's repository
    assert commit(tmp_path / "nowhere") is None
    git(tmp_path, "add", "code", "results.jsonl")
    git(tmp_path, "commit", "--quiet", "-m", "it")
    first = commit(code)
    assert first is not None
    (tmp_path / "results.jsonl").write_text("a line more")
    assert commit(code) == first  # the code is the same
    (code / "__init__.py").write_text("changed")
    assert commit(code) == f"{first}-dirty"
