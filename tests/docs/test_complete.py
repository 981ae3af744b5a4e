"""No page has a place that waits to be filled."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.blocks import pages

COMMENT = re.compile(r"<!--\s*(.*?)\s*-->", re.DOTALL)
# Tables that a command writes stand between two comments; any other comment is a note to whoever writes the page.
WRITTEN = re.compile(r"(\w+): written by python -m [\w.]+ --table")
WAITS = re.compile(r"\b(TODO|FIXME|TBD|XXX|filled (in )?from|to be (filled|written|measured)|coming soon)\b")
# A fenced block, in which a line may begin with '#' and end with ':'.
FENCED = re.compile(r"^ *(```+|~~~+).*?^ *\1 *$", re.DOTALL | re.MULTILINE)


def gaps(text: str) -> list[str]:
    """What is missing in a page, in words."""
    text = FENCED.sub("(a block)", text)
    comments = COMMENT.findall(text)
    begun = {found[1] for comment in comments if (found := WRITTEN.fullmatch(comment))}
    known = {f"end of {name}" for name in begun}
    found = [f"a note: {comment}" for comment in comments if not WRITTEN.fullmatch(comment) and comment not in known]
    found += [f"a table without an end: {name}" for name in sorted(begun) if f"end of {name}" not in comments]
    found += [f"it says: {match[0]}" for match in WAITS.finditer(COMMENT.sub("", text))]
    lines = [line for line in COMMENT.sub("", text).splitlines() if line.strip()]
    for line, after in zip(lines, [*lines[1:], "# the end"], strict=True):
        if _level(after) and (line.endswith(":") or _level(line) >= _level(after)):
            found.append(f"nothing follows: {line}")
    return found


def _level(line: str) -> int:
    """That of a heading, from 1; 0 for any other line."""
    heading = re.match(r"#+(?= )", line)
    return len(heading[0]) if heading else 0


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_nothing_is_missing_in_a_page(page: Path) -> None:
    assert gaps(page.read_text()) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# A\nMeasured by a command:\n\n<!-- filled from the command's output -->\n", "filled from"),
        ("# A\nMeasured by a command:\n\n## B\ntext\n", "nothing follows: Measured"),
        ("# A\n## B\n## C\ntext\n", "nothing follows: ## B"),
        ("# A\ntext\n## B\n", "nothing follows: ## B"),
        ("# A\n<!-- tables: written by python -m benchmarks.pages --table -->\n| a |\n", "tables"),
        ("# A\nTime: TBD\n", "TBD"),
    ],
)
def test_gaps_are_found(text: str, told: str) -> None:
    assert any(told in gap for gap in gaps(text))


def test_a_complete_page_has_none() -> None:
    table = "<!-- tables: written by python -m benchmarks.pages --table -->\n| a |\n<!-- end of tables -->"
    assert gaps(f"# A\n## B\n{table}\n### C\nLike this:\n```sh\n# TODO:\n```\n## D\ntext\n") == []
