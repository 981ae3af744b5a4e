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


def shortened(name: str, most: int) -> str:
    """A name on one line, of at most so many characters."""
    line = " ".join(name.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
