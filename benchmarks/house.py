"""Draws the house: rooms of ``src/dignn`` as layers, with the imports between them, read off the code.

    python -m benchmarks.house            # writes docs/images/house.svg

An arrow that others imply is left out: a room that imports from the one below may import from what lies under that.
"""

from __future__ import annotations

import re
import tomllib
from html import escape
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "house.svg"
WIDTH, BOX, GAP, WIDEST = 900, 50, 34, 330


def layers() -> list[list[str]]:
    """Rooms from top to bottom, as the contract in pyproject.toml has them."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = config["tool"]["importlinter"]["contracts"]
    return [[name.strip() for name in line.split("|")] for line in contract["layers"]]


def imports() -> dict[str, set[str]]:
    """Which rooms each room imports from."""
    graph = grimp.build_graph("dignn", exclude_type_checking_imports=True, cache_dir=None)
    found: dict[str, set[str]] = {}
    for module in graph.modules - {"dignn", "dignn.__main__"}:
        own = module.split(".")[1]
        others = {name.split(".")[1] for name in graph.find_modules_directly_imported_by(module) if "." in name}
        found.setdefault(own, set()).update(others - {own})
    return found


def reduced(found: dict[str, set[str]]) -> dict[str, set[str]]:
    """Without arrows that a longer way implies."""

    def reached(room: str) -> set[str]:
        return {below for other in found[room] for below in {other} | reached(other)}

    return {
        room: {other for other in others if not any(other in reached(way) for way in others - {other})}
        for room, others in found.items()
    }


def says(room: str) -> list[str]:
    """The first sentence of a room's docstring, in two lines at most."""
    text = (import_module(f"dignn.{room}").__doc__ or "").split("\n\n")[0].split(". ")[0].replace("\n", " ").rstrip(".")
    text = re.sub(r":\w+:`~?([^`]*)`", r"\1", text).replace("``", "")
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > WIDEST // 6 and len(lines) < 2:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    most = WIDEST // 6 + 6
    return [line if len(line) <= most else line[: most - 2].rsplit(" ", 1)[0] + " …" for line in lines]


def draw() -> str:
    """The picture as SVG."""
    place: dict[str, tuple[float, float, float]] = {}  # room -> left, top, width
    for row, rooms in enumerate(layers()):
        wide = min(WIDEST, (WIDTH - 40) / len(rooms) - 20)
        left = (WIDTH - len(rooms) * wide - (len(rooms) - 1) * 60) / 2
        for number, room in enumerate(rooms):
            place[room] = (left + number * (wide + 60), 10 + row * (BOX + GAP), wide)
    height = 10 + len(layers()) * (BOX + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" role="img">',
        "<title>The rooms of dignn; arrows are imports</title>",
        '<defs><marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#777"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    levels = [set(rooms) for rooms in layers()]
    for room, others in sorted(reduced(imports()).items()):
        for other in sorted(others):
            parts.append(_arrow(place[room], place[other], neighbours=_next_to(levels, room, other)))
    for room, (left, top, wide) in place.items():
        first, *rest = says(room)
        parts.append(
            f'<rect x="{left:.0f}" y="{top}" width="{wide:.0f}" height="{BOX}" rx="6" fill="#eef3f8" stroke="#4a6b8a"/>'
            f'<text x="{left + 10:.0f}" y="{top + 17}" font-size="14" font-weight="bold" fill="#123">{room}</text>'
        )
        for number, line in enumerate([first, *rest]):
            where = f'x="{left + 10:.0f}" y="{top + 31 + 13 * number}"'
            parts.append(f'<text {where} font-size="10" fill="#345">{escape(line)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _next_to(levels: list[set[str]], room: str, other: str) -> bool:
    return any(room in above and other in below for above, below in pairwise(levels))


def _arrow(one: tuple[float, float, float], other: tuple[float, float, float], *, neighbours: bool) -> str:
    """From the lower edge of a box to the upper edge of another; around the boxes between them."""
    x, y = one[0] + one[2] / 2, one[1] + BOX
    to_x, to_y = other[0] + other[2] / 2, other[1]
    if neighbours:
        return f'<path d="M{x:.0f} {y} L{to_x:.0f} {to_y}" fill="none" stroke="#777" marker-end="url(#to)"/>'
    on_left = other[0] + other[2] < WIDTH / 2 + 1
    start, end = (one[0], other[0]) if on_left else (one[0] + one[2], other[0] + other[2])
    far = 30 + (to_y - y) / 8
    aside = min(start, end) - far if on_left else max(start, end) + far
    middle = one[1] + BOX / 2, other[1] + BOX / 2
    points = ((start, middle[0]), (aside, middle[0]), (aside, middle[1]), (end, middle[1]))
    first, *others = (f"{across:.0f} {down:.0f}" for across, down in points)
    return f'<path d="M{first} C{" ".join(others)}" fill="none" stroke="#aaa" marker-end="url(#to)"/>'


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
    print(PICTURE.relative_to(ROOT))
