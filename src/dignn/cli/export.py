"""``dignn export``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from dignn.cli.console import say, say_json
from dignn.cli.finished_run import damage_told, explanations_of
from dignn.cli.options import Flag, Folder
from dignn.cli.working import working

Format = Literal["graphml", "gexf", "json", "png", "svg"]


def export(
    run: Path, /, *, format: Format = "graphml", out: Folder = None, quiet: Flag = False, json: Flag = False
) -> None:
    """Write every explanation of a run folder to a file of its own, for other programs.

    Files are called CLASS-NUMBER.FORMAT; the best explanation of a class has the number 1. "rank" inside the files
    counts from 0: that of the best is 0. As json, what the model goes by is in goes_by.json beside them.

    Example: dignn export runs/dblp --format gexf --out graphs

    Args:
        run: run folder of `dignn explain`.
        format: graphml or gexf (the graph with named features, for Gephi, yEd or networkx), json (as in
            explanations.json), png or svg (a drawing).
        out: the folder to write to; by default exports in the run folder.
        quiet: show only how many files there are, and where.
        json: print one JSON object with the names "run", "folder" and "files", and nothing else.
    """
    with working(quiet, json):
        folder = run / "exports" if out is None else out
        explanations = explanations_of(run)
        from dignn.report.export.formats import export_all

        with damage_told(run, f"No {format} files"):
            files = export_all(explanations, folder, format)
    if json:
        say_json({"run": str(run), "folder": str(folder), "files": [path.name for path in files]})
    elif files:
        example = f", for example {files[0].name}" if len(files) > 1 else f": {files[0].name}"
        say(f"{len(files)} {'file' if len(files) == 1 else 'files'} in {folder}{example}")
    else:
        say(f"{run} has no explanation, so there is nothing to write")
