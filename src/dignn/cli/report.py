"""``dignn report``."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from dignn.cli.console import err, say_json, say_path
from dignn.cli.finished_run import damage_told, explanations_of
from dignn.cli.options import File, Flag
from dignn.cli.working import working
from dignn.core.errors import DignnError

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


def report(run: Path, /, *, out: File = None, open: Flag = False, quiet: Flag = False, json: Flag = False) -> None:
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
        explanations = explanations_of(run)
        with damage_told(run, "No page"):
            explanations.report(path)
        missing = [name for name in OPTIONAL if not (run / name).exists()]
        if missing and not quiet and not json:
            parts = ", ".join(f"{OPTIONAL[name]} ({name})" for name in missing)
            err.print(f"The folder lacks {parts}, and the page shows what is there", soft_wrap=True, markup=False)
        if open and not webbrowser.open(path.resolve().as_uri()):
            err.print("There is no browser to open the page with; open the file yourself", soft_wrap=True)
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
