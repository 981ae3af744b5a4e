"""Files with a line of JSON for every finished run: a command that was stopped goes on with what they lack."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dignn.core.errors import DignnError
from dignn.core.locks import locked

# What of a line is figures, and which of these are shares or probabilities, whatever they are of.
_FIGURES = ("paper", "sound", "candidates", "selection", "floor", "control", "details", "validity", "metrics")
_COSTS = ("seconds", "gib", "scored", "valid", "mean_nodes")
_OF_GRAPHS = ("pf", "pf_in_distribution", "gf", "typed_gf", "coverage", "probability", "yield", "novelty", "uniqueness")
_OF_PLANTED = ("motif_recall", "motif_precision", "keyword_recall", "keyword_precision")
_SHARES = (*_OF_GRAPHS, *_OF_PLANTED, "memorisation", "c2st", "auc")
# What has names of classes in it, which may be any, and what also says yes or no.
_BY_CLASS, _DETAILS = "contrast", "details"


def read_lines(path: Path, needed: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The finished runs that a file tells of; a last line that was cut off while it was written does not count.

    Args:
        path: the file, which need not be there.
        needed: what every line has.

    Raises:
        DignnError: the file cannot be read, or holds something else.
    """
    found = []
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            found.append(json.loads(line, parse_constant=_refused))
            if not isinstance(found[-1], dict):
                raise ValueError("it is no object")
            lacking = [name for name in needed if name not in found[-1]]
            if lacking:
                raise ValueError(f"it lacks {lacking[0]}")
            _check_figures(found[-1])
        except ValueError as error:
            raise DignnError(f"{path} is damaged (line {number}: {error}); delete that line and run again") from error
    return found


def append_line(path: Path, line: Mapping[str, Any]) -> None:
    """Adds a finished run, in one piece, whoever else adds one at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (json.dumps(line, allow_nan=False) + "\n").encode()
    with path.open("ab", buffering=0) as file, locked(path):
        there = path.read_bytes()
        last = there[there.rfind(b"\n") + 1 :]
        if _is_whole(last):
            text = b"\n" + text
        elif last:  # a line was cut off
            os.truncate(path, len(there) - len(last))
        file.write(text)


def _whole_lines(path: Path) -> list[str]:
    """The lines of a file that need not be there; the last without its end only where nothing else of it is lacking."""
    try:
        content = path.read_bytes() if path.is_file() else b""
        *whole, last = content.split(b"\n")
        return [line.decode() for line in (*whole, *([last] if _is_whole(last) else []))]
    except OSError as error:
        raise DignnError(f"{path} cannot be read ({error.strerror}); give another file") from error
    except UnicodeDecodeError as error:
        raise DignnError(f"{path} is no text in UTF-8 ({error.reason}); give a file of finished runs") from error


def _check_figures(line: Mapping[str, Any]) -> None:
    """Raises where a figure is no number, or a share or probability is not between 0 and 1."""
    for name in _FIGURES:
        if not isinstance(line.get(name), Mapping | None):
            raise ValueError(f"its {name} is no object of figures")
        _check_figure(line.get(name), (name,))
    for name in _COSTS:
        _check_figure(line.get(name), (name,))
    best = line.get("best")
    for number, one in best.items() if isinstance(best, Mapping) else ():
        if isinstance(one, Mapping):
            _check_figure(one.get("probability"), ("best", number, "probability"))


def _check_figure(found: Any, place: tuple[str, ...]) -> None:
    if isinstance(found, Mapping):
        for name, one in found.items():
            _check_figure(one, (*place, name))
    elif isinstance(found, list):
        for one in found:
            _check_figure(one, place)
    elif found is not None and not (isinstance(found, bool) and _DETAILS in place):
        if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
            raise ValueError(f"its {'.'.join(place)} is {json.dumps(found)}, which is no number")
        if any(name in _SHARES for name in place) and _BY_CLASS not in place and not 0 <= found <= 1:
            raise ValueError(f"its {'.'.join(place)} is {found}, which is not between 0 and 1")


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _is_whole(line: bytes) -> bool:
    """Whether a line was written to its end."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
