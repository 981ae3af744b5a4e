"""Which code runs: its commit, where it is in a checkout of git."""

from __future__ import annotations

import subprocess
from pathlib import Path

# Behind a commit: the code was changed since, so that the commit does not say which code it was.
DIRTY = "-dirty"


def commit(home: Path | None = None) -> str | None:
    """The commit of this library's code, with a mark if that was changed since; None where no checkout has it.

    Other files of the checkout, results among them, may have changed. An installed copy inside of somebody's repository
    is none of its files.

    Args:
        home: the folder of the code, if not this library's.
    """
    folder = home or Path(__file__).parents[1]
    if _git(folder, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    changed = _git(folder, "status", "--porcelain", "--", ".")
    return f"{_git(folder, 'describe', '--always')}{DIRTY if changed else ''}"


def _git(folder: Path, *arguments: str) -> str | None:
    """What git says; None where it is not there or says no."""
    try:
        asked = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True)
    except OSError:
        return None
    return asked.stdout.strip() if asked.returncode == 0 else None
