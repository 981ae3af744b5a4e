"""An explanation as an SVG file of its own: the drawing with a title and a legend, for browsers and Inkscape."""

from __future__ import annotations

from markupsafe import Markup

from dignn.evidence.grammar import percent
from dignn.explanation import Explanation
from dignn.report.characters import clean, shortened
from dignn.report.legend import entries
from dignn.report.svg import INK, LETTER, svg

# Sizes in pixels.
WIDTH, HEIGHT = 480, 400
TITLE = 52  # height of the two lines above the drawing
LINE_HEIGHT = 24  # of a line of the legend
MARGIN = 16
LONGEST_TITLE, LONGEST_NAME = 52, 40
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


def standalone_svg(explanation: Explanation) -> str:
    """The text of an SVG file: valid XML, and nothing in it needs anything from outside."""
    drawing = svg(explanation, WIDTH, HEIGHT)
    inside = Markup('<svg x="0" y="{}" width="{}" height="{}" ').format(TITLE, WIDTH, HEIGHT) + drawing.removeprefix(
        Markup("<svg ")
    )
    legend, lines = _legend(explanation)
    height = TITLE + HEIGHT + lines * LINE_HEIGHT + MARGIN
    facts = f"{int(explanation.graph.sizes[0])} nodes, probability {percent(explanation.score)}"
    text = Markup(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="{2}">\n'
        '<rect width="{0}" height="{1}" fill="#ffffff"/>\n'
        '<text x="{3}" y="24" text-anchor="middle" font-size="16" font-weight="600" fill="{4}">{5}</text>\n'
        '<text x="{3}" y="43" text-anchor="middle" font-size="13" fill="{4}">{6}</text>\n{7}\n{8}</svg>\n'
    ).format(
        WIDTH, height, FONT, WIDTH // 2, INK, shortened(explanation.class_name, LONGEST_TITLE), facts, inside, legend
    )
    return clean(str(text))


def _legend(explanation: Explanation) -> tuple[Markup, int]:
    """Marks with their names, in centred lines, and how many lines there are."""
    found = [
        (mark, shortened(name, LONGEST_NAME))
        for mark, name in entries([explanation.graph], explanation.node is not None)
    ]
    lines: list[list[tuple[Markup, str]]] = [[]]
    room = 0.0
    for mark, name in found:
        if lines[-1] and room + _width(name) > WIDTH - 2 * MARGIN:
            lines.append([])
            room = 0.0
        lines[-1].append((mark, name))
        room += _width(name)
    parts = []
    for number, line in enumerate(lines):
        x = (WIDTH - sum(_width(name) for _, name in line)) / 2
        y = TITLE + HEIGHT + number * LINE_HEIGHT + MARGIN
        for mark, name in line:
            parts.append(
                Markup(
                    '<g transform="translate({:.1f} {:.1f})">{}'
                    '<text x="28" y="16.5" font-size="13" fill="{}">{}</text></g>\n'
                ).format(x, y - 12, mark, INK, name)
            )
            x += _width(name)
    return Markup("").join(parts), len(lines) if found else 0


def _width(name: str) -> float:
    """About what an entry of the legend takes."""
    return 28 + 1.1 * LETTER * len(name) + 16
