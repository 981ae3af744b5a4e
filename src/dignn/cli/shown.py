"""What a command shows while it works."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from dignn.console import log_to_console
from dignn.console_progress import ConsoleProgress
from dignn.runtime.progress import Progress


@contextmanager
def working(quiet: bool, json: bool) -> Iterator[Progress]:
    """Progress of the work inside: none where only the result is wanted.

    With ``json`` standard output belongs to the result alone. A user's model may print what it likes: that goes to
    standard error.
    """
    log_to_console(quiet or json)
    progress = Progress() if quiet or json else ConsoleProgress()
    if not json:
        yield progress
        return
    with redirect_stdout(sys.stderr):
        yield progress
