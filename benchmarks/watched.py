"""Commands that are watched: how long they take, how much memory they and what they start hold, and an end in time."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

from dignn.core.machine import LOOK_EVERY, memory_of


@dataclass(frozen=True)
class Watched:
    """What became of a command.

    Args:
        code: its exit code; None if it was ended because it took too long.
        output: its standard output.
        gib: the most memory that it and all processes it started held at once, pages that they share counted once;
            0.0 where the system does not tell.
    """

    code: int | None
    output: str
    gib: float


def watch(command: Sequence[str], limit: float) -> Watched:
    """Runs a command; ends it, and all that it started, after ``limit`` seconds."""
    begin, most = time.perf_counter(), 0.0
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, start_new_session=True)
        try:
            while process.poll() is None and time.perf_counter() - begin < limit:
                most = max(most, memory_of(process.pid))
                time.sleep(LOOK_EVERY)
            code = process.poll()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output.seek(0)
        return Watched(code, output.read(), most)
