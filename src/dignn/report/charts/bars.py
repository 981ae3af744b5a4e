"""Horizontal bars with their values in words."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from dignn.report.charts.parts import WIDTH, finite
from dignn.report.templating import chart


def bars(rows: Sequence[tuple[str, float, str]], *, title: str) -> Markup:
    """A bar for each (name, value, value in words); the largest fills the width."""
    top = max([*finite(value for _, value, _ in rows), 1e-12])
    drawn = [(name, max([*finite([value / top * WIDTH]), 1.0]), words) for name, value, words in rows]
    label = f"{title}. " + "; ".join(f"{name}: {words}" for name, _, words in rows)
    return chart("bars", 34 * len(rows), label, rows=drawn)
