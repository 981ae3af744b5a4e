"""Reads a JSON file with names of feature columns."""

from __future__ import annotations

import json
from pathlib import Path

from dignn.core.errors import DignnError

EXAMPLE = '{"author": ["mining", "query"]}'


def load_names(path: Path | str) -> dict[str, list[str]]:
    """Names of feature columns by node type, from a JSON file such as ``{"author": ["mining", "query"]}``."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DignnError(f"{path} cannot be read ({error.strerror or error}); give a JSON file with names") from error
    except ValueError as error:  # not JSON, or not text
        raise DignnError(f"{path} is not JSON ({error}); write, for example, {EXAMPLE}") from error
    fits = isinstance(content, dict) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names) for names in content.values()
    )
    if not fits:
        raise DignnError(f"{path} must hold a list of names by node type, for example {EXAMPLE}")
    return content
