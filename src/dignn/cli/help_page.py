"""Help as plain text: headings, one option after the other, lines of a width that can be read."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from cyclopts.help import HelpEntry, HelpPanel
from rich.console import Console, ConsoleOptions
from rich.text import Text

# A name that is longer has a line of its own: of an option, of a command.
SHORT = {"parameter": 14, "command": 9}
# No text is so long that it is broken before we do it.
UNBROKEN = 100_000


class HelpPage:
    """Draws the help of a command for the parser; styles are for terminals alone."""

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        console.print(f"usage: {_plain(console, usage)}", soft_wrap=True, markup=False)

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:
        for paragraph in _plain(console, description).split("\n\n"):
            console.print()
            lines = paragraph.split("\n") if "\n  " in paragraph else [paragraph]
            for line in lines:
                indent = " " * (len(line) - len(line.lstrip()))
                rest = "    " if ": dignn " in line else indent  # of a long command
                console.print("\n".join(_wrapped(line, options.max_width, indent, rest)), soft_wrap=True, markup=False)

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Draws a group of options or of commands."""
        if not panel.entries:
            return
        console.print()
        console.print(Text(str(panel.title), "bold"), soft_wrap=True)
        about = _plain(console, panel.description)
        if about:
            console.print("\n".join(_wrapped(about, options.max_width, "  ", "  ")), soft_wrap=True, markup=False)
        for entry in panel.entries:
            for line in _entry(entry, _plain(console, entry.description), SHORT[panel.format], options.max_width):
                console.print(line, soft_wrap=True)


def _entry(entry: HelpEntry, text: str, short: int, width: int) -> Iterator[Text]:
    """The lines of an option or command: its name, and beside or below it what it is."""
    value = f"{{{','.join(entry.choices)}}}" if entry.choices else entry.metavar
    name = ", ".join(entry.display_labels)
    if value and not entry.positional_label:
        name = f"{name} {value}"
    if entry.default is not None:
        text = f"{text} (default: {entry.default})"
    beside = len(name) <= short
    if not beside:
        yield Text.assemble("  ", (name, "cyan"))
    indent = " " * (short + 4)
    for number, line in enumerate(_wrapped(text, width, indent, indent)):
        first = number == 0 and beside
        yield Text.assemble("  ", (f"{name:<{short}}", "cyan"), f"  {line.lstrip()}") if first else Text(line)


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    words = " ".join(text.split()).replace("``", "`")
    return textwrap.wrap(words, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def _plain(console: Console, shown: Any) -> str:
    """What something says, without styles and line breaks of the console's making."""
    options = console.options.update(width=UNBROKEN)
    return "".join(segment.text for segment in console.render(shown, options)).strip("\n")
