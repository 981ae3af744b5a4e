"""``dignn report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dignn.cli.options import File, Flag, Run
from dignn.cli.shown import working
from dignn.console import err, say_json, say_path
from dignn.errors import DignnError, RunFolderError
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
# What a page can do without, in words: folders of earlier versions and explanations saved from Python lack some.
OPTIONAL = {
    "metrics.json": "metrics",
    "generation.json": "training curves",
    "backdrop.safetensors": "real and generated graphs beside each other",
    "nearest.safetensors": "nearest real examples",
    "timings.json": "timings",
    "config.json": "settings",
}
PAGES = (".html", ".htm")


def report(
    run: Run,
    out: File = None,
    open: Flag = False,
    quiet: Flag = False,
    json: Flag = False,
) -> None:
    """Write the page of a run folder anew, from what is in the folder: no data, no model.

    `dignn explain` writes it by itself. Use this after an update of dignn, or for a copy somewhere else.

    Example: dignn report runs/dblp --open

    Args:
        run: run folder of `dignn explain`.
        out: the page, an .html file; by default report.html in the run folder.
        open: open it in the browser.
        quiet: show only where the page is.
        json: print one JSON object with the names "run", "report" and "missing", and nothing else.
    """
    with working(quiet, json):
        path = _page(run, out)
        explanations = _loaded(run)
        _write(explanations, run, path)
        missing = [name for name in OPTIONAL if not (run / name).exists()]
        if missing and not quiet and not json:
            parts = ", ".join(f"{OPTIONAL[name]} ({name})" for name in missing)
            err.print(f"The folder lacks {parts}, and the page shows what is there", soft_wrap=True, markup=False)
        if open:
            _open(path)
    if json:
        say_json({"run": str(run), "report": str(path), "missing": missing})
    else:
        say_path("Report", path)


def _page(run: Path, out: Path | None) -> Path:
    """Where the page goes. Only pages are written over, so that a slip of the hand costs no file of a run."""
    if out is None:
        return run / "report.html"
    if out.is_dir():
        raise DignnError(f"{out} is a folder; give a file, for example --out {out / 'report.html'}")
    if out.suffix.lower() not in PAGES:
        raise DignnError(f"--out {out} is no name of a page; give one that ends with .html")
    return out


def _loaded(run: Path) -> Explanations:
    from dignn.explanation import Explanations

    if not run.is_dir():
        if run.exists():
            raise RunFolderError(f"{run} is a file; give the folder that `dignn explain` made")
        beside = [str(other) for other in run.parent.glob("*") if other.is_dir()] if run.parent.is_dir() else []
        guess = did_you_mean(str(run), beside)
        raise RunFolderError(f"{run} does not exist{guess}; give a folder that `dignn explain` made")
    if not (run / "explanations.json").exists():
        raise _unfinished(run)
    return Explanations.load(run)


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


def _write(explanations: Explanations, run: Path, path: Path) -> None:
    try:
        explanations.report(path)
    except DignnError:
        raise
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:  # a value that no run writes
        raise RunFolderError(
            f"No page can be made of {run}, because something in it is damaged ({type(error).__name__}: {error}); "
            f"make metrics and explanations anew by `dignn evaluate {run}`"
        ) from error


def _open(path: Path) -> None:
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        err.print("There is no browser to open the page with; open the file yourself", soft_wrap=True)
