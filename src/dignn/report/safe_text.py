"""Names of users as texts that can be shown: without characters that not every file can hold, and short."""

from __future__ import annotations

import re

# What XML 1.0 cannot hold, and carriage returns, which its readers turn into something else.
_FORBIDDEN = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """The text with U+FFFD, the replacement character, for each character that XML cannot hold.

    These are control characters and halves of surrogate pairs, which no text file can hold either.
    """
    return _FORBIDDEN.sub("\ufffd", text)


def distinct(name: str, used: set[str], again: str = "{}_{}") -> str:
    """The name, or with a number where it is used, whatever its capitals; from now on it is used, too."""
    found, number = name, 2
    while found.casefold() in used:
        found, number = again.format(name, number), number + 1
    used.add(found.casefold())
    return found


def shortened(name: str, most: int) -> str:
    """A name on one line, of at most so many characters."""
    line = " ".join(name.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
