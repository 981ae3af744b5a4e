"""Horizontal bars with their values in words."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from dignn.report.charts.parts import WIDTH, chart, finite, text

_ROW = 34


def bars(rows: Sequence[tuple[str, float, str]], *, title: str) -> Markup:
    """A bar for each (name, value, value in words); the largest fills the width."""
    top = max([*finite(value for _, value, _ in rows), 1e-12])
    parts: list[str] = []
    for place, (name, value, words) in enumerate(rows):
        y = place * _ROW
        width = max([*finite([value]), 0.0]) / top * WIDTH
        parts += [
            text(0, y + 13, name, most=WIDTH - 7 * len(words) - 12),
            text(WIDTH, y + 13, words, anchor="end", kind="chart-number"),
            f'<rect x="0" y="{y + 19}" width="{WIDTH}" height="8" rx="2" class="chart-ground"/>',
            f'<rect x="0" y="{y + 19}" width="{max(width, 1.0):.1f}" height="8" rx="2" class="chart-bar"/>',
        ]
    return chart(parts, len(rows) * _ROW, f"{title}. " + "; ".join(f"{name}: {words}" for name, _, words in rows))
