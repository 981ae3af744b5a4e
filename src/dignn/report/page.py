"""The report: one HTML file without outside parts."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dignn.core.files import write_text
from dignn.report import classes, contrast_section, how_made, overview, trust
from dignn.report.classes import Detail
from dignn.report.safe_text import clean
from dignn.report.templating import render, source

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanations

# Bytes that a page may have.
MOST_BYTES = 5_000_000
# What is shown, from everything to little: of many classes less, so that browsers open the page quickly.
LEVELS = (
    Detail(),
    Detail(ranks=3),
    Detail(ranks=1),
    Detail(ranks=1, whole=False),
    Detail(ranks=1, whole=False, classes=200),
    Detail(ranks=1, whole=False, classes=50),
)
STYLES = ("style.css", "charts.css", "goes_by.css")
# Runs before anything is drawn: with scripts, panels that are not chosen never flash up.
EARLY = "document.documentElement.classList.add('js');"


def write_page(explanations: Explanations, path: Path) -> Path:
    """Renders the page, puts it at ``path`` and returns the path.

    Where everything would make a page that browsers open slowly, it shows less of each class, and says so.
    """
    levels = [level for level in LEVELS if level.expected_bytes(explanations) <= MOST_BYTES] or [LEVELS[-1]]
    # The sections after the classes are the same in every detail.
    rest: dict[str, Any] = {
        "contrasts": contrast_section.content(explanations),
        "trust": trust.content(explanations),
        "how_made": how_made.content(explanations),
    }
    text = ""
    for level in levels:
        text = _render(explanations, level, rest)
        if len(text.encode()) <= MOST_BYTES:
            break
    write_text(path, text)
    return path


def _render(explanations: Explanations, detail: Detail, rest: dict[str, Any]) -> str:
    """The page as text."""
    script = source("page.js")
    text = render(
        "page.html",
        style=Markup("".join(map(source, STYLES))),
        early=Markup(EARLY),
        script=Markup(script),
        policy=policy(EARLY, script),
        overview=overview.content(explanations, detail.classes),
        panels=classes.content(explanations, detail),
        **rest,
    )
    return clean(text)


def policy(*scripts: str) -> str:
    """What a browser may run and fetch: these scripts and nothing else, whatever a name in the data looks like."""
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
