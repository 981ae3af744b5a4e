"""Docstrings name things as :class:`~dignn.Config`, which Markdown does not know: here they become links."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|meth|func|data|mod|attr):`(~?)([\w.]+)`")


def _link(found: re.Match[str]) -> str:
    """A link where the API pages have the thing, else its name alone; with ``~`` only the last part is shown."""
    short, name = found.groups()
    shown = name.rpartition(".")[2] if short else name
    return f'<autoref identifier="{name}" optional><code>{shown}</code></autoref>'


class Roles(griffe.Extension):
    """Rewrites roles in every docstring."""

    def on_object(self, *, obj: griffe.Object, **rest: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = _ROLE.sub(_link, obj.docstring.value)
