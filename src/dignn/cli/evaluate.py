"""``dignn evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from dignn.cli.rebuild import noted, subject_of
from dignn.cli.summary import print_summary
from dignn.console import ConsoleProgress, log_to_console, out
from dignn.runtime.progress import Progress


def evaluate(
    run: Annotated[Path, tyro.conf.Positional],
    data: Path | None = None,
    model: Annotated[str | None, tyro.conf.arg(metavar="FILE.py:FUNCTION")] = None,
    trust: bool = False,
    json: bool = False,
    download: bool = False,
    quiet: bool = False,
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
        json: print metrics.json and nothing else.
        download: fetch the data set if it is not on this machine.
        quiet: show only the result.
    """
    from dignn.runtime.files import read_json

    log_to_console(quiet or json)
    found = noted(run)
    progress = Progress() if quiet or json else ConsoleProgress()
    subject = subject_of(found, progress, data=data, model=model, trust=trust, download=download)
    explainer = subject.explainer(found.config, found.seed, run, found.preset, progress).fit()
    explanations = explainer.explain(measure_again=True)
    if json:
        import json as writer

        text = writer.dumps(read_json(run / "metrics.json"), indent=1)
        out.print(text, markup=False, highlight=False, soft_wrap=True)
        return
    print_summary(explanations)
    out.print(f"Report: {run / 'report.html'}", soft_wrap=True, markup=False)
