"""``dignn datasets``."""

from __future__ import annotations

from dignn.cli.console import out, say, say_json
from dignn.cli.options import Flag
from dignn.zoo.datasets.registry import DATASETS


def datasets(*, quiet: Flag = False, json: Flag = False) -> None:
    """List the data sets: what they are, whether they are on this machine, how to get them.

    Example: dignn datasets

    Args:
        quiet: print only the names, one on each line.
        json: print one JSON object with the list "datasets", and nothing else.
    """
    if json:
        told = ("name", "summary", "task", "size", "source", "licence", "available", "downloadable")
        say_json({"datasets": [{name: getattr(info, name) for name in told} for info in DATASETS.values()]})
        return
    for info in DATASETS.values():
        if quiet:
            say(info.name)
            continue
        missing = "not here; get it with --download" if info.downloadable else "not here"
        here = "generated, always here" if info.files is None else "here" if info.available else missing
        out.print(f"[bold]{info.name}[/bold]  ({here})")
        for line in (info.summary, f"{info.task}; {info.size}", f"from: {info.source}", f"licence: {info.licence}"):
            say(f"    {line}")
