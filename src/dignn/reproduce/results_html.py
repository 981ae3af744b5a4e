"""The page of results with plots: one HTML file that works offline, from written tables alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from dignn.report.charts.dots import CONTROL_SHAPES, Control, DotRow, dots, mark
from dignn.report.page import policy
from dignn.report.safe_text import clean
from dignn.report.templating import render, source
from dignn.reproduce.claims import Judged, judged
from dignn.reproduce.definition import LIKE_REAL, STRONG
from dignn.reproduce.misses import (
    WHAT_MISSES_ARE,
    WHY_UNJUDGED,
    heading,
    missed,
    misses,
    not_judged,
    short_title,
    worse_elsewhere,
)
from dignn.reproduce.paper_setups import VAE_ROW
from dignn.reproduce.results_tables import number, shown_groups
from dignn.reproduce.table_files import Cells, FilledCell, FilledTable
from dignn.reproduce.tables.table2 import CONTINUOUS, MULTINOMIAL
from dignn.reproduce.tally import tally
from dignn.reproduce.verdicts import WHAT_VERDICTS_ARE

# How the paper's value of our method is drawn, and other methods of ours on the same model.
_PAPER_MARK = "shown"
_RIVAL_MARKS = {
    "XGNN": "square",
    "GNNInterpreter": "cross",
    "D4Explainer": "plus",
    VAE_ROW: "triangle",
    CONTINUOUS: "square",
    MULTINOMIAL: "cross",
}
# In what order marks are given to what is compared, and how they look in a line.
_GLYPHS = {"made": "●", **dict(zip(CONTROL_SHAPES, "□△✕+", strict=True))}
# Groups of which the figures of a row are compared, and not the rows of a figure.
_ACROSS = ("Several explanations per class", "Features that follow the class", "Fidelity of scorecards")
_MARK_SIZE = 10.0
_Plot = tuple[str, bool, Markup]


def results_html(tables: Mapping[str, FilledTable]) -> str:
    """The page.

    Args:
        tables: those that were written, by name.
    """
    (found, count), claims = misses(tables), judged(Cells(tables))
    text = render(
        "results.html",
        style=Markup(source("style.css") + source("charts.css") + source("results.css")),
        policy=policy(),
        tally=tally(tables, claims),
        claims=[_claim(one) for one in claims],
        misses=found,
        count=count,
        what_misses_are=WHAT_MISSES_ARE,
        why_unjudged=WHY_UNJUDGED,
        what_verdicts_are=WHAT_VERDICTS_ARE,
        worse=worse_elsewhere(tables),
        unjudged=not_judged(tables),
        legend=[(Markup(mark(kind, _MARK_SIZE, _MARK_SIZE)), words) for kind, words in _LEGEND.items()],
        tables=[(heading(name, table["title"]), table["sentences"], _plots(table)) for name, table in tables.items()],
    )
    return clean(text)


def _claim(one: Judged) -> tuple[str, str, str, str]:
    """Claim, table, verdict and figures; what the paper does not say is marked."""
    said = f"{one.claim.said} ({one.claim.whose})" if one.claim.ours else one.claim.said
    return said, short_title(one.claim.table), one.verdict.text, one.figures


_LEGEND = {
    "made": "ours, mean over runs",
    "floor": "real graphs",
    _PAPER_MARK: "the paper's value of the same",
    **{
        kind: f"{' or '.join(name for name, own in _RIVAL_MARKS.items() if own == kind)}, our runs"
        for kind in dict.fromkeys(_RIVAL_MARKS.values())
    },
}


def _plots(table: FilledTable) -> list[tuple[str, list[_Plot]]]:
    """By group a plot for each value of our method that has a run, or for values that stand beside each other."""
    found = []
    for group, cells in shown_groups(table["cells"]).items():
        there = [cell for cell in cells if cell["ours"]]
        told = [cell for cell in there if cell["paper"] or cell["floor"] is not None]
        if told:
            strong = [cell for cell in there if cell["model"] == STRONG]
            own = [cell for cell in told if cell in strong and (cell["row"] in table["ours"] or not table["ours"])]
            plots = [_beside_others(table, cell, strong) for cell in own]
        else:
            plots = [_side_by_side(title, several) for title, several in _compared(group, there) if len(several) > 1]
        if plots:
            found.append((group, plots))
    return found


def _beside_others(table: FilledTable, cell: FilledCell, strong: Sequence[FilledCell]) -> _Plot:
    """Title, whether it is a miss, and the plot of a value beside the paper's, real graphs and rivals."""
    title = f"{cell['row']}: {cell['figure']}"
    paper = [Control("the paper", cell["paper"]["value"], _PAPER_MARK)] if cell["paper"] else []
    others = [one for one in strong if one["figure"] == cell["figure"] and table["ours"]]
    rivals = [
        Control(one["row"], one["ours"]["mean"], _RIVAL_MARKS[name])
        for one in others
        if (name := _rival(one["row"], cell["row"])) in _RIVAL_MARKS
    ]
    better = "" if cell["good"] in (None, LIKE_REAL) else cell["good"]
    row = DotRow(cell["ours"]["mean"], cell["floor"], (*paper, *rivals), better, made="ours")
    return f"{title} {_words(cell)}", missed(table, cell), dots(row, title=title)


def _rival(row: str, beside: str) -> str:
    """The method of a row, where it is one of as many columns as another."""
    name, _, columns = row.partition(" (")
    return name if not columns or columns == beside.partition(" (")[2] else ""


def _compared(group: str, cells: Sequence[FilledCell]) -> Iterator[tuple[str, dict[str, FilledCell]]]:
    """What stands beside each other in a group: rows of a figure about one data set, or figures of a row."""
    found: dict[str, dict[str, FilledCell]] = {}
    for cell in cells:
        if group in _ACROSS:
            title, name = cell["row"], cell["figure"]
        else:
            about, _, name = cell["row"].rpartition(", ")
            title = f"{about}: {cell['figure']}" if about else cell["figure"]
        found.setdefault(title, {})[name] = cell
    yield from found.items()


def _side_by_side(title: str, several: Mapping[str, FilledCell]) -> _Plot:
    """Values on one scale, each with a mark of its own, which the title names."""
    marked = list(zip(_GLYPHS.items(), several.items(), strict=False))
    told = ", ".join(f"{glyph} {name} {_words(cell)}" for (_, glyph), (name, cell) in marked)
    (first, one), *others = [(name, cell) for _, (name, cell) in marked]
    controls = [
        Control(name, cell["ours"]["mean"], kind) for kind, (name, cell) in zip(CONTROL_SHAPES, others, strict=False)
    ]
    better = one["good"] if one["good"] in ("lower", "higher") else ""
    row = DotRow(one["ours"]["mean"], None, controls, better, made=first)
    return f"{title}: {told}", False, dots(row, title=title)


def _words(cell: FilledCell) -> str:
    """The value with its spread, and of how many runs it is."""
    ours, digits = cell["ours"], cell["digits"]
    spread = "" if ours["sd"] is None else f" ± {number(ours['sd'], digits)}"
    return f"{number(ours['mean'], digits)}{spread} ({ours['runs']} run{'s' if ours['runs'] > 1 else ''})"
