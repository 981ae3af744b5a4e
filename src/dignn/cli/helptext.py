"""Help as plain text: headings for boxes, lines of a width that can be read, settings of generators only on demand."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

# Headings of the groups that tyro makes, in the order in which they are shown; others are settings of a part.
GIVE, OPTIONS, SETTINGS = "positional arguments", "options", "settings"
HEADINGS = {
    GIVE: "What to give",
    OPTIONS: "Options",
    "known options": "Options of data sets that dignn knows",
    "own options": "Options of a data file of your own",
    SETTINGS: "Settings, with the values of the preset",
}
# From this option on, options are settings of the run.
FIRST_SETTING = "--sizes"
# An option that is longer has a line of its own.
SHORT = 14
# How tyro writes what may be missing, and how people do.
PLAIN = {
    r"\{None\}\|\{?(\[INT \[INT \.\.\.\]\]|\w+)\}?": r"\1",
    r"^(--[\w.-]+) STR$": r"\1 NAME",
    r"\[(\w+) \[\w+ \.\.\.\]\]": r"\1 ...",
    r" ?\((default: (None)?|required)\)": "",
    "``": "`",
}


@dataclass
class _Group:
    """A box: what it says about itself, and its options with their texts."""

    title: str
    about: str = ""
    items: list[tuple[str, str]] = field(default_factory=list)

    @property
    def part(self) -> str:
        return self.title.removesuffix(" options")

    def lines(self, width: int) -> Iterator[str]:
        yield HEADINGS.get(self.title, f"Settings {self.part}")
        if self.about and self.title not in HEADINGS:
            yield from textwrap.wrap(self.about, width, initial_indent="  ", subsequent_indent="  ")
        for name, text in ((_plain(name), _plain(text)) for name, text in self.items):
            if len(name) > SHORT:
                yield f"  {name}"
            first = " " * (SHORT + 4) if len(name) > SHORT else f"  {name:<{SHORT}}  "
            yield from textwrap.wrap(text, width, initial_indent=first, subsequent_indent=" " * (SHORT + 4))


def plain_help(text: str, name: str, width: int, *, everything: bool) -> str:
    """The help of a command as tyro draws it, to be read.

    Args:
        text: as tyro draws it.
        name: of the command.
        width: of a line.
        everything: whether settings of the generators are shown, too.
    """
    beginning, groups = _taken_apart(text)
    if not groups:  # drawn in a way that is not known here
        return text
    shown = [_wrapped(line, width) for line in beginning]
    shown_titles = [*HEADINGS, *(group.title for group in groups if everything and group.title not in HEADINGS)]
    for title in shown_titles:
        for group in groups:
            if group.title == title:
                shown += ["", *group.lines(width)]
    hidden = sorted({group.part.partition(".")[0] for group in groups if group.title not in shown_titles})
    if hidden:
        more = f"Settings of {', '.join(hidden[:-1])} and {hidden[-1]} are shown by: dignn {name} --help-all"
        shown += ["", _wrapped(more, width)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(shown)) + "\n"


def words_in_boxes(text: str) -> str:
    """The first paragraph of what tyro says in a box, as one line."""
    inside: list[str] = []
    for line in text.splitlines():
        content = _inside(line)
        if content is None:
            continue
        if _is_rule(content):
            break
        inside.append(content.strip())
    return re.sub(r"\s+", " ", " ".join(inside) if inside else text).strip()


def _taken_apart(text: str) -> tuple[list[str], list[_Group]]:
    """The lines before the boxes, and the boxes."""
    beginning: list[str] = []
    groups: list[_Group] = []
    for line in text.splitlines():
        title = re.match(r"╭─ (.*?) ─*╮$", line)
        content = _inside(line)
        if title:
            groups.append(_Group(title[1]))
        elif not groups:
            beginning.append(line)
        elif content is not None:
            _add(groups, content)
    while beginning and not beginning[-1].strip():
        beginning.pop()
    return beginning, groups


def _add(groups: list[_Group], content: str) -> None:
    """A line of the last box: an option, more of its text, or the rule below what the box says about itself."""
    group = groups[-1]
    if _is_rule(content):
        group.about, group.items = " ".join(f"{name} {text}".strip() for name, text in group.items), []
        return
    if content.startswith(FIRST_SETTING):
        groups.append(_Group(SETTINGS))
        group = groups[-1]
    if content.startswith(" ") and group.items:
        name, so_far = group.items[-1]
        group.items[-1] = (name, f"{so_far} {content.strip()}".strip())
    elif content.strip():
        name, _, text = content.partition("  ")
        group.items.append((name, text.strip()))


def _plain(text: str) -> str:
    for pattern, instead in PLAIN.items():
        text = re.sub(pattern, instead, text)
    return text


def _inside(line: str) -> str | None:
    found = re.match(r"│ (.*) │$", line)
    return None if found is None else found[1].rstrip()


def _is_rule(content: str) -> bool:
    return bool(content) and not content.strip("─")


def _wrapped(line: str, width: int) -> str:
    """A paragraph; the rest of a long command line stands to the right."""
    return "\n".join(textwrap.wrap(line, width, subsequent_indent="    " if "dignn " in line[:40] else ""))
