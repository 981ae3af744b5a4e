"""Reads a JSON file with names of feature columns, and with what they hold."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dignn.core.errors import DignnError

EXAMPLE = '{"author": ["mining", "query"]}'
KINDS_EXAMPLE = '{"kinds": {"paper": {"year": "count"}, "user": "categorical"}}'


@dataclass(frozen=True)
class Named:
    """What a file says of columns.

    Args:
        names: names of the columns by node type.
        kinds: by node type a kind for all columns, or a kind by name or number of a column.
    """

    names: dict[str, list[str]] = field(default_factory=dict)
    kinds: dict[str, str | dict[str, str]] = field(default_factory=dict)


def load_names(path: Path | str) -> Named:
    """Names of feature columns by node type, from a JSON file such as ``{"author": ["mining", "query"]}``.

    Its entry ``kinds``, where that is no list of names of a type so called, says what columns hold:
    ``{"author": ["age", "mining"], "kinds": {"author": {"age": "count"}}}``.

    Raises:
        DignnError: it cannot be read, or holds something else.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DignnError(f"{path} cannot be read ({error.strerror or error}); give a JSON file with names") from error
    except ValueError as error:  # not JSON, or not text
        raise DignnError(f"{path} is not JSON ({error}); write, for example, {EXAMPLE}") from error
    kinds: Any = {}
    if isinstance(content, dict) and isinstance(content.get("kinds"), dict):
        kinds = content.pop("kinds")
    fits = isinstance(content, dict) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names) for names in content.values()
    )
    if not fits:
        raise DignnError(f"{path} must hold a list of names by node type, for example {EXAMPLE}")
    for said in kinds.values():
        by_column = isinstance(said, dict) and all(isinstance(kind, str) for kind in said.values())
        if not (isinstance(said, str) or by_column):
            raise DignnError(f"The kinds of {path} must be texts by node type, or by column: {KINDS_EXAMPLE}")
    return Named(content, kinds)
