"""Tables in Markdown, and numbers in them."""

from __future__ import annotations

from collections.abc import Sequence

from dignn.reproduce.tables_read import FilledCell


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; what stands in a cell must not end it."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def number(value: float, digits: int) -> str:
    """A number with so many digits behind the point, without a minus before nothing."""
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text


def shown_groups(cells: Sequence[FilledCell]) -> dict[str, list[FilledCell]]:
    """Cells by group, in the order of the table."""
    found: dict[str, list[FilledCell]] = {}
    for cell in cells:
        found.setdefault(cell["group"], []).append(cell)
    return found
