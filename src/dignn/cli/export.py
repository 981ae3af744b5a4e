"""``dignn export``."""

from __future__ import annotations

from typing import Annotated, Literal

import tyro

from dignn.cli.finished import explanations_of
from dignn.cli.options import Flag, Folder, Run
from dignn.cli.shown import working
from dignn.console import say, say_json

Format = Annotated[Literal["graphml", "gexf", "json", "png", "svg"], tyro.conf.arg(help_behavior_hint="")]


def export(
    run: Run,
    format: Format = "graphml",
    out: Folder = None,
    quiet: Flag = False,
    json: Flag = False,
) -> None:
    """Write every explanation of a run folder to a file of its own, for other programs.

    Files are called CLASS-RANK.FORMAT; the best explanation of a class has rank 1.

    Example: dignn export runs/dblp --format gexf --out graphs

    Args:
        run: run folder of `dignn explain`.
        format: graphml or gexf (the graph with named features, for Gephi, yEd or networkx), json (as in
            explanations.json), png or svg (a drawing); by default graphml.
        out: the folder to write to; by default exports in the run folder.
        quiet: show only how many files there are, and where.
        json: print one JSON object with the names "run", "folder" and "files", and nothing else.
    """
    with working(quiet, json):
        from dignn.export import export_all

        folder = run / "exports" if out is None else out
        files = export_all(explanations_of(run), folder, format)
    if json:
        say_json({"run": str(run), "folder": str(folder), "files": [path.name for path in files]})
    elif files:
        example = f", for example {files[0].name}" if len(files) > 1 else f": {files[0].name}"
        say(f"{len(files)} {'file' if len(files) == 1 else 'files'} in {folder}{example}")
    else:
        say(f"{run} has no explanation, so there is nothing to write")
