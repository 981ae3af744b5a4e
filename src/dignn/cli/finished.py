"""The explanations of a run folder, or how far the run is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dignn.errors import RunFolderError
from dignn.suggestions import did_you_mean

if TYPE_CHECKING:
    from dignn.explanation import Explanations

# What a run makes, in this order; a run that has the last is finished.
MADE = {
    "structure.safetensors": "learned structure",
    "features.safetensors": "learned features",
    "candidates.safetensors": "candidates",
    "explanations.json": "explanations",
}


def explanations_of(run: Path) -> Explanations:
    """What a finished run found.

    Raises:
        RunFolderError: it is no run folder, is not finished, is damaged, or is of another version.
    """
    from dignn.explanation import Explanations

    if not run.is_dir():
        if run.exists():
            raise RunFolderError(f"{run} is a file; give the folder that `dignn explain` made")
        guess = did_you_mean(str(run), _runs_beside(run))
        raise RunFolderError(f"{run} does not exist{guess}; give a folder that `dignn explain` made")
    if not (run / "explanations.json").exists():
        raise _unfinished(run)
    return Explanations.load(run)


def _runs_beside(run: Path) -> list[str]:
    """Folders that `dignn explain` made, where ``run`` was looked for."""
    return [str(path.parent) for name in ("config.json", "explanations.json") for path in run.parent.glob(f"*/{name}")]


def _unfinished(run: Path) -> RunFolderError:
    """Says how far a run without explanations is, and how it is finished."""
    if not (run / "config.json").exists():
        return RunFolderError(f"{run} is not a run folder; give a folder that `dignn explain` made")
    from dignn.runtime.files import read_json

    content = read_json(run / "config.json")
    there = [words for name, words in MADE.items() if (run / name).exists()]
    missing = [words for name, words in MADE.items() if not (run / name).exists()]
    far = f"it has {', '.join(there)}, but no {', '.join(missing)}" if there else f"it has no {', '.join(missing)} yet"
    if "preset" not in content:
        remedy = "call fit and explain again in Python, with this folder"
    else:
        code = " --model FILE.py:FUNCTION" if "own" in content else ""
        remedy = f"finish it by `dignn evaluate {run}{code}`"
    return RunFolderError(f"{run} is not finished: {far}; {remedy}")
