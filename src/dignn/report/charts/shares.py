"""How many real nodes of a class have a column, and whether the explanation's node has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from dignn.report.charts.parts import WIDTH, chart, finite, percent, text

_ROW, _LEFT, _RIGHT = 22, 148, 48


@dataclass(frozen=True)
class ShareRow:
    """A column.

    Args:
        name: of the column.
        real: share of real nodes of the class that have it.
        everywhere: the same of all classes.
        present: whether the explanation's node has it.
        missed: whether the model would miss it.
    """

    name: str
    real: float
    everywhere: float
    present: bool
    missed: bool


def shares(rows: Sequence[ShareRow], *, title: str, of_class: bool = True) -> Markup:
    """Bars of a class's shares, with a tick for all classes and a mark for what the explanation's node has.

    Args:
        rows: the columns.
        title: what they are, for those who cannot see.
        of_class: whether the bars are of the class; else they are of all classes, and there are no ticks.
    """
    values = finite([value for row in rows for value in (row.real, row.everywhere)])
    texts = [percent(row.real) for row in rows]
    right = max([_RIGHT, *(7 * len(words) + 6 for words in texts)])
    scale = (WIDTH - _LEFT - right) / max([*values, 1e-9])
    parts = [
        piece
        for place, (row, words) in enumerate(zip(rows, texts, strict=True))
        for piece in _row(row, 4 + place * _ROW, scale, words, tick=of_class)
    ]
    foot = 4 + len(rows) * _ROW
    parts += _legend(foot, any(row.missed for row in rows), of_class)
    label = f"{title}. " + "; ".join(
        f"{row.name}: {words} of {f'the real class, {percent(row.everywhere)} of all' if of_class else 'all real ones'}"
        f"{', in the explanation' if row.present else ', not in the explanation'}"
        f"{', the model would miss it' if row.missed else ''}"
        for row, words in zip(rows, texts, strict=True)
    )
    return chart(parts, foot + 44, label)


def _row(row: ShareRow, top: float, scale: float, value: str, tick: bool) -> list[str]:
    middle = top + _ROW / 2
    real, everywhere = (max([*finite([share]), 0.0]) * scale for share in (row.real, row.everywhere))
    parts = [
        _mark(8, middle, row.present),
        text(20, middle + 4, row.name, kind="chart-strong" if row.missed else "", most=_LEFT - 26),
        f'<rect x="{_LEFT}" y="{top + 4:.1f}" width="{max(real, 0.6):.1f}" height="{_ROW - 8}" rx="2" '
        f'class="chart-real"/>',
    ]
    if tick:
        parts.append(_tick(_LEFT + everywhere - 1, top + 2, _ROW - 4))
    return [*parts, text(WIDTH - 2, middle + 4, value, anchor="end", kind="chart-number")]


def _tick(x: float, y: float, height: float) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="2" height="{height:g}" class="chart-tick"/>'


def _mark(x: float, y: float, present: bool) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" class="{"chart-made" if present else "chart-made-not"}"/>'


def _legend(top: float, missed: bool, of_class: bool) -> list[str]:
    """Two lines that say what the marks mean."""
    parts = [
        f'<rect x="4" y="{top + 8:.1f}" width="14" height="9" rx="2" class="chart-real"/>',
        text(24, top + 16, "real class" if of_class else "all classes", kind="chart-small"),
        _mark(8, top + 32, True),
        text(20, top + 36, "explanation has it", kind="chart-small"),
        _mark(136, top + 32, False),
        text(147, top + 36, "has it not", kind="chart-small"),
    ]
    if of_class:
        parts += [_tick(96, top + 6, 13), text(104, top + 16, "all classes", kind="chart-small")]
    if missed:
        parts.append(
            text(WIDTH - 2, top + 16, "bold: model would miss it", kind="chart-small chart-strong", anchor="end")
        )
    return parts
