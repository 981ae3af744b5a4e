"""How many real nodes of a class have a column, and whether the explanation's node has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from dignn.report.charts.parts import WIDTH, chart, finite, number, percent, text

_ROW, _LEFT, _RIGHT = 22, 148, 48


@dataclass(frozen=True)
class ShareRow:
    """A column.

    Args:
        name: of the column.
        real: share of real nodes of the class that have it (mean, of counts).
        everywhere: the same of all classes.
        present: whether the explanation's node has it.
        missed: whether the model would miss it.
    """

    name: str
    real: float
    everywhere: float
    present: bool
    missed: bool


def shares(rows: Sequence[ShareRow], *, title: str) -> Markup:
    """Bars of a class's shares, with a tick for all classes and a mark for what the explanation's node has."""
    values = finite([value for row in rows for value in (row.real, row.everywhere)])
    top = max([*values, 1e-9])
    words = percent if top <= 1 else number
    parts = [piece for place, row in enumerate(rows) for piece in _row(row, 4 + place * _ROW, top, words(row.real))]
    foot = 4 + len(rows) * _ROW
    parts += _legend(foot, any(row.missed for row in rows))
    label = f"{title}. " + "; ".join(
        f"{row.name}: {words(row.real)} of the real class, {words(row.everywhere)} of all"
        f"{', in the explanation' if row.present else ', not in the explanation'}"
        f"{', the model would miss it' if row.missed else ''}"
        for row in rows
    )
    return chart(parts, foot + 44, label)


def _row(row: ShareRow, top: float, largest: float, value: str) -> list[str]:
    room = WIDTH - _LEFT - _RIGHT
    middle, scale = top + _ROW / 2, room / largest
    real, everywhere = (max([*finite([share]), 0.0]) * scale for share in (row.real, row.everywhere))
    return [
        _mark(8, middle, row.present),
        text(20, middle + 4, row.name, kind="chart-strong" if row.missed else "", most=_LEFT - 26),
        f'<rect x="{_LEFT}" y="{top + 4:.1f}" width="{max(real, 0.6):.1f}" height="{_ROW - 8}" rx="2" '
        f'class="chart-real"/>',
        f'<rect x="{_LEFT + everywhere - 1:.1f}" y="{top + 2:.1f}" width="2" height="{_ROW - 4}" class="chart-tick"/>',
        text(WIDTH - 2, middle + 4, value, anchor="end", kind="chart-number"),
    ]


def _mark(x: float, y: float, present: bool) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" class="{"chart-made" if present else "chart-made-not"}"/>'


def _legend(top: float, missed: bool) -> list[str]:
    """Two lines that say what the marks mean."""
    parts = [
        f'<rect x="4" y="{top + 8:.1f}" width="14" height="9" rx="2" class="chart-real"/>',
        text(24, top + 16, "real class", kind="chart-small"),
        f'<rect x="96" y="{top + 6:.1f}" width="2" height="13" class="chart-tick"/>',
        text(104, top + 16, "all classes", kind="chart-small"),
        _mark(8, top + 32, True),
        text(20, top + 36, "explanation has it", kind="chart-small"),
        _mark(136, top + 32, False),
        text(147, top + 36, "has it not", kind="chart-small"),
    ]
    if missed:
        parts.append(
            text(WIDTH - 2, top + 16, "bold: model would miss it", kind="chart-small chart-strong", anchor="end")
        )
    return parts
