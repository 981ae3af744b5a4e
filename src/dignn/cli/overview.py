"""``dignn --help``: where to begin, and what there is."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

DESCRIPTION = "dignn explains trained graph neural networks: what does the model think a class looks like?"
GROUPS = {
    "Commands that explain": ("demo", "explain"),
    "Commands that take a finished run": ("report", "export", "evaluate"),
    "More commands": ("datasets", "train", "metrics"),
}
EXAMPLES = {
    "Begin here": {"dignn demo": "a report in about two minutes, without any download"},
    "Then": {
        "dignn explain dblp --download": "a data set by name, and dignn's own model of it",
        "dignn explain data.pt --model my_gnn.py:load --target author": "your own graphs and model",
    },
}
LAST = "`dignn COMMAND --help` explains a command, with an example. `dignn --version` says which dignn this is."


def overview(commands: Mapping[str, Callable[..., Any]], width: int) -> str:
    """What ``dignn`` can do, as text of a width."""
    lines = [*textwrap.wrap(DESCRIPTION, width), "", "usage: dignn COMMAND [OPTIONS]"]
    for title, examples in EXAMPLES.items():
        lines += ["", title]
        for example, what in examples.items():
            lines += [f"  {example}", *textwrap.wrap(what, width, initial_indent=" " * 6, subsequent_indent=" " * 6)]
    known = [name for names in GROUPS.values() for name in names]
    groups = {**GROUPS, "Other commands": tuple(name for name in commands if name not in known)}
    for title, names in groups.items():
        there = [name for name in names if name in commands]
        lines += ["", title] if there else []
        for name in there:
            first = (inspect.getdoc(commands[name]) or "").partition("\n")[0]
            lines += textwrap.wrap(first, width, initial_indent=f"  {name:<10}", subsequent_indent=" " * 12)
    return "\n".join([*lines, "", *textwrap.wrap(LAST, width)]) + "\n"
