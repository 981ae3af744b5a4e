"""``dignn datasets``."""

from __future__ import annotations

from dignn.console import out


def datasets() -> None:
    """List the data sets: what they are, whether they are on this machine, how to get them.

    Example: dignn datasets
    """
    from dignn.data import DATASETS

    for info in DATASETS.values():
        missing = "not here; get it with --download" if info.downloadable else "not here"
        here = "generated, always here" if info.local is None else "here" if info.available else missing
        out.print(f"[bold]{info.name}[/bold]  ({here})")
        for line in (info.summary, f"{info.task}; {info.size}", f"from: {info.source}", f"licence: {info.licence}"):
            out.print(f"    {line}", soft_wrap=True)
