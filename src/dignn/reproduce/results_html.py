"""The page of results with plots: one HTML file that works offline, from written tables alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from dignn.report.charts.dots import CONTROL_SHAPES, Control, DotRow, dots, mark
from dignn.report.page import policy
from dignn.report.safe_text import clean
from dignn.report.templating import render, source
from dignn.reproduce.claims import Judged, judged
from dignn.reproduce.definition import LIKE_REAL, STRONG
from dignn.reproduce.misses import WHAT_MISSES_ARE, heading, missed, misses, not_judged, short_title, worse_elsewhere
from dignn.reproduce.results_tables import shown_groups
from dignn.reproduce.table_files import Cells, FilledCell, FilledTable

# What is seen beside ours, with its mark: the paper's value of our method, and other methods of ours on the same model.
_PAPER_MARK, _RIVAL_MARK = CONTROL_SHAPES[1], CONTROL_SHAPES[2]
_MARK_SIZE = 10.0


def results_html(tables: Mapping[str, FilledTable]) -> str:
    """The page.

    Args:
        tables: those that were written, by name.
    """
    found, count = misses(tables)
    text = render(
        "results.html",
        style=Markup(source("style.css") + source("charts.css") + source("results.css")),
        policy=policy(),
        claims=[_claim(one) for one in judged(Cells(tables))],
        misses=found,
        count=count,
        what_misses_are=WHAT_MISSES_ARE,
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
    _RIVAL_MARK: "other methods, our runs",
}


def _plots(table: FilledTable) -> list[tuple[str, list[tuple[str, bool, Markup]]]]:
    """By group a plot for each value of our method that has a run and something to stand beside."""
    found = []
    for group, cells in shown_groups(table["cells"]).items():
        strong = [cell for cell in cells if cell["model"] == STRONG]
        own = [cell for cell in strong if cell["ours"] and (cell["row"] in table["ours"] or not table["ours"])]
        told = [cell for cell in own if cell["paper"] or cell["floor"] is not None]
        if told:
            found.append((group, [_plot(table, cell, strong) for cell in told]))
    return found


def _plot(table: FilledTable, cell: FilledCell, beside: Sequence[FilledCell]) -> tuple[str, bool, Markup]:
    """Title, whether it is a miss, and the plot."""
    title = f"{cell['row']}: {cell['figure']}"
    paper = [Control("the paper", cell["paper"]["value"], _PAPER_MARK)] if cell["paper"] else []
    others = [one for one in beside if one["figure"] == cell["figure"] and one["row"] not in table["ours"]]
    rivals = [Control(one["row"], one["ours"]["mean"], _RIVAL_MARK) for one in others if one["ours"] and table["ours"]]
    better = "" if cell["good"] in (None, LIKE_REAL) else cell["good"]
    row = DotRow(cell["ours"]["mean"], cell["floor"], (*paper, *rivals), better, made="ours")
    return title, missed(table, cell), dots(row, title=title)
