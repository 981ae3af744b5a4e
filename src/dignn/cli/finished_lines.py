"""Files with a line of JSON for every finished run: a command that was stopped goes on with what they lack."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dignn.core.errors import DignnError
from dignn.core.files import write_text


def read_lines(path: Path, needed: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The finished runs that a file tells of; a line that was cut off while it was written does not count.

    Args:
        path: the file, which need not be there.
        needed: what every line has.

    Raises:
        DignnError: the file holds something else.
    """
    if not path.is_file():
        return []
    found = []
    *whole, _ = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(whole, start=1):
        try:
            found.append(json.loads(line))
            lacking = [name for name in needed if name not in found[-1]]
            if lacking:
                raise ValueError(f"it lacks {lacking[0]}")
        except (ValueError, TypeError) as error:
            raise DignnError(f"{path} is damaged (line {number}: {error}); delete that line and run again") from error
    return found


def append_line(path: Path, line: Mapping[str, Any]) -> None:
    """Adds a finished run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if not text.endswith("\n") and text:  # a line was cut off
        write_text(path, text[: text.rfind("\n") + 1])
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, allow_nan=False) + "\n")
