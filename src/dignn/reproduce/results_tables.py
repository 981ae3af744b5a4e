"""Tables in Markdown, and numbers in them."""

from __future__ import annotations

from collections.abc import Sequence

from dignn.reproduce.table_files import FilledCell

# Digits behind the point of what is almost nothing.
_MOST_DIGITS = 7


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; what stands in a cell must not end it."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def number(value: float, digits: int) -> str:
    """A number with so many digits behind the point, more where these would all be 0."""
    if value and not round(value, digits):
        digits = next((more for more in range(digits, _MOST_DIGITS) if round(value, more)), digits)
    text = f"{value:,.{digits}f}"
    text = text.removesuffix(".0") if digits == 1 else text
    return text if text.strip("-0.,") else text.removeprefix("-")


def told_apart(one: float, other: float, digits: int) -> tuple[str, str]:
    """Two numbers with so many digits behind the point, or as many more as it takes to tell them apart."""
    for more in range(digits, _MOST_DIGITS + 1):
        texts = number(one, more), number(other, more)
        if texts[0] != texts[1]:
            break
    return (number(one, digits), number(other, digits)) if texts[0] == texts[1] else texts


def shown_groups(cells: Sequence[FilledCell]) -> dict[str, list[FilledCell]]:
    """Cells by group, in the order of the table."""
    found: dict[str, list[FilledCell]] = {}
    for cell in cells:
        found.setdefault(cell["group"], []).append(cell)
    return found
