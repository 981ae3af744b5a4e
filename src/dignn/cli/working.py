"""What a command shows while it works."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from importlib import import_module

from dignn.cli.console import log_to_console
from dignn.cli.console_progress import ConsoleProgress
from dignn.core.progress import Progress


@contextmanager
def working(quiet: bool, json: bool) -> Iterator[Progress]:
    """Progress of the work inside: none where only the result is wanted.

    With ``json`` standard output belongs to the result alone. A user's model may print what it likes: that goes to
    standard error.
    """
    log_to_console(quiet or json)
    progress = Progress() if quiet or json else ConsoleProgress()
    with redirect_stdout(sys.stderr) if json else nullcontext():
        yield progress


def load_torch(progress: Progress) -> None:
    """Shows that something happens in the first seconds of a command that needs PyTorch."""
    if "torch_geometric" not in sys.modules:
        with progress.stage("Loading PyTorch"):
            import_module("torch_geometric")
