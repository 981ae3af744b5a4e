"""Commands that are watched: how long they take, how much memory they and what they start hold, and an end in time."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Seconds between two looks at memory. A look goes through all pages of a process, which takes time of the machine.
LOOK_EVERY = 1.0
_KIB_IN_GIB = 1024**2


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
                most = max(most, sum(map(_gib, _family(process.pid))))
                time.sleep(LOOK_EVERY)
            code = process.poll()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output.seek(0)
        return Watched(code, output.read(), most)


def _family(pid: int) -> list[int]:
    """A process and all that it started, directly or not."""
    found = [pid]
    for parent in found:
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += map(int, children.read_text().split())
            except OSError:  # it has just ended
                continue
    return found


def _gib(pid: int) -> float:
    """Memory of a process, its part of what it shares with others; 0.0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / _KIB_IN_GIB
