"""Docstrings as Markdown takes them: names such as :class:`~dignn.Config` become links, examples become code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|meth|func|data|mod|attr):`(~?)([\w.]+)`")
_EXAMPLE = re.compile(r"(?:^>>> .*\n?)+", re.MULTILINE)


def _link(found: re.Match[str]) -> str:
    """A link where the API pages have the thing, else its name alone; with ``~`` only the last part is shown."""
    short, name = found.groups()
    shown = name.rpartition(".")[2] if short else name
    return f'<autoref identifier="{name}" optional><code>{shown}</code></autoref>'


def _code(found: re.Match[str]) -> str:
    """Lines of an interactive session as a block, without prompts and remarks for doctest."""
    lines = [line.removeprefix(">>> ").split("# doctest:")[0].rstrip() for line in found[0].splitlines()]
    return "\n".join(["```python", *lines, "```", ""])


class Docstrings(griffe.Extension):
    """Rewrites every docstring."""

    def on_object(self, *, obj: griffe.Object, **rest: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(_code, _ROLE.sub(_link, obj.docstring.value))
