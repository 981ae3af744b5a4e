"""``dignn evaluate``."""

from __future__ import annotations

from pathlib import Path

from dignn.cli.console import say_json, say_path
from dignn.cli.options import File, Flag, Function
from dignn.cli.rebuild import noted, subject_of
from dignn.cli.summary import print_summary
from dignn.cli.working import working
from dignn.core.files import read_json


def evaluate(
    run: Path,
    /,
    *,
    data: File = None,
    model: Function = None,
    trust: Flag = False,
    download: Flag = False,
    quiet: Flag = False,
    json: Flag = False,
) -> None:
    """Measure a run folder again, and write its metrics, explanations and report anew.

    Data and model are those that the folder's config.json names. A model of your own is made by running code, and no
    folder may decide which: name it again by --model, or let the folder decide by --trust. What a run that was stopped
    lacks is made first.

    Example: dignn evaluate runs/dblp

    Your own: dignn evaluate runs/data --model my_gnn.py:load

    Args:
        run: run folder of `dignn explain`.
        data: where the data file is now, if not where it was (a run of your own data).
        model: the function that returns your trained model, as in `dignn explain`. THAT CODE IS RUN.
        trust: run the model's code that the folder names, if --model names none, and read the data file even if it
            holds more than graphs. THIS CAN RUN ANY CODE of whoever wrote the folder or the data file.
        download: fetch the data set if it is not on this machine.
        quiet: show only the result.
        json: print metrics.json, one JSON object, and nothing else.
    """
    with working(quiet, json) as progress:
        content, config = noted(run)
        subject = subject_of(run, content, progress, data=data, model=model, trust=trust, download=download)
        name, seed, preset = (content[key] for key in ("explainer", "seed", "preset"))
        explainer = subject.explainer(name, config, seed, run, preset, progress)
        explanations = explainer.fit().explain(measure_again=True)
    if json:
        say_json(read_json(run / "metrics.json"))
        return
    print_summary(explanations)
    say_path("Report", run / "report.html")
