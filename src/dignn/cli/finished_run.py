"""The explanations of a run folder, or how far the run is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dignn.core.errors import DignnError, RunFolderError
from dignn.core.files import read_json
from dignn.core.presets import from_preset
from dignn.core.suggestions import did_you_mean
from dignn.explainers.registry import EXPLAINERS, presets_of

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanations

# What `dignn compare` writes beside the folders of its runs.
COMPARISON_LINES = "comparison.jsonl"
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
    if not run.is_dir():
        if run.exists():
            raise RunFolderError(f"{run} is a file; give the folder that `dignn explain` made")
        beside = [str(path.parent) for path in run.parent.glob("*/*.json") if path.stem in ("config", "explanations")]
        guess = did_you_mean(str(run), beside)
        raise RunFolderError(f"{run} does not exist{guess}; give a folder that `dignn explain` made")
    if not (run / "explanations.json").exists():
        raise _comparison(run) if (run / COMPARISON_LINES).exists() else _unfinished(run)
    from dignn import Explanations

    found = Explanations.load(run)
    about = found.about
    if "from_preset" not in about and about.get("explainer") in list(EXPLAINERS):  # it was made by an earlier version
        about["from_preset"] = from_preset(about.get("config"), presets_of(about["explainer"]), about.get("preset"))
    return found


@contextmanager
def damage_told(run: Path, what: str) -> Iterator[None]:
    """Says what cannot be made of a finished run where making it fails for reasons that nobody foresaw."""
    from jinja2 import TemplateRuntimeError

    try:
        yield
    except DignnError:
        raise
    except (TypeError, ValueError, KeyError, AttributeError, IndexError, TemplateRuntimeError) as error:
        raise RunFolderError(
            f"{what} can be made of {run} ({type(error).__name__}: {error}): a file in it is damaged, or dignn is "
            f"mistaken; `dignn evaluate {run}` makes metrics and explanations anew"
        ) from error


def _comparison(run: Path) -> RunFolderError:
    inside = sorted(path.parent.name for path in run.glob("*/explanations.json"))
    example = f", such as {run / inside[0]}" if inside else ""
    return RunFolderError(f"{run} is a comparison; give one of the runs in it{example}")


def _unfinished(run: Path) -> RunFolderError:
    """Says how far a run without explanations is, and how it is finished."""
    if not (run / "config.json").exists():
        return RunFolderError(f"{run} is not a run folder; give a folder that `dignn explain` made")
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
