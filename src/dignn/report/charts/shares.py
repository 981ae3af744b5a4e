"""How many real nodes of a class have a column, and whether the explanation's node has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from dignn.core.numerals import tight_percent
from dignn.report.charts.parts import WIDTH, finite
from dignn.report.templating import chart

_LEFT, _RIGHT = 148, 48


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
    texts = [tight_percent(row.real) for row in rows]
    right = max([_RIGHT, *(7 * len(words) + 6 for words in texts)])
    scale = (WIDTH - _LEFT - right) / max([*values, 1e-9])
    drawn = []
    for row, words in zip(rows, texts, strict=True):
        real, everywhere = (max([*finite([share]), 0.0]) * scale for share in (row.real, row.everywhere))
        drawn.append((row, max(real, 0.6), everywhere, words))
    label = f"{title}. " + "; ".join(
        f"{row.name}: {words} of "
        f"{f'the real class, {tight_percent(row.everywhere)} of all' if of_class else 'all real ones'}"
        f"{', in the explanation' if row.present else ', not in the explanation'}"
        f"{', the model would miss it' if row.missed else ''}"
        for row, words in zip(rows, texts, strict=True)
    )
    foot, missed = 4 + 22 * len(rows), any(row.missed for row in rows)
    return chart("shares", foot + 44, label, rows=drawn, left=_LEFT, foot=foot, missed=missed, of_class=of_class)
