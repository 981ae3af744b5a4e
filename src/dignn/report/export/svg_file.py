"""An explanation as an SVG file of its own: the drawing with a title and a legend, for browsers and Inkscape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from dignn.core.numerals import percent
from dignn.report.graph_drawing import INK
from dignn.report.graph_svg import CARD, LETTER, Frame, svg
from dignn.report.legend import entries
from dignn.report.safe_text import clean, shortened
from dignn.report.templating import render

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanation

# Sizes in pixels.
FRAME = Frame(480, 400, CARD.margin, CARD.radius)
TITLE = 52  # height of the two lines above the drawing
LINE_HEIGHT = 24  # of a line of the legend
MARGIN = 16
FILE_TITLE_LETTERS, FILE_NAME_LETTERS = 52, 40


def standalone_svg(explanation: Explanation) -> str:
    """The text of an SVG file: valid XML, and nothing in it needs anything from outside."""
    bottom = TITLE + FRAME.height
    found = entries([explanation.graph], explanation.node is not None)
    lines = _lines([(mark, shortened(name, FILE_NAME_LETTERS)) for mark, name in found])
    marks = []
    for number, line in enumerate(lines):
        x = (FRAME.width - sum(_width(name) for _, name in line)) / 2
        for mark, name in line:
            marks.append((x, bottom + number * LINE_HEIGHT + MARGIN - 12, mark, name))
            x += _width(name)
    text = render(
        "explanation.svg",
        width=FRAME.width,
        height=bottom + len(lines) * LINE_HEIGHT + MARGIN,
        ink=INK,
        title=shortened(explanation.class_name, FILE_TITLE_LETTERS),
        facts=f"{int(explanation.graph.sizes[0])} nodes, probability {percent(explanation.score)}",
        drawing=svg(explanation, FRAME, x=0, y=TITLE, width=FRAME.width, height=FRAME.height),
        marks=marks,
    )
    return clean(text)


def _lines(found: list[tuple[Markup, str]]) -> list[list[tuple[Markup, str]]]:
    """Entries of the legend, as many on a line as fit."""
    lines: list[list[tuple[Markup, str]]] = []
    room = 0.0
    for mark, name in found:
        room -= _width(name)
        if not lines or room < 0:
            lines.append([])
            room = FRAME.width - 2 * MARGIN - _width(name)
        lines[-1].append((mark, name))
    return lines


def _width(name: str) -> float:
    """About what an entry of the legend takes."""
    return 28 + 1.1 * LETTER * len(name) + 16
