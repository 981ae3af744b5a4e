"""A page that compares explainers: the first graph of each class side by side, and figures beneath."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dignn.core.files import write_text
from dignn.metrics.over_seeds import SAME_RULE_FIGURES, ComparedFigure, about_gcn, mean_and_spread, shown_figures
from dignn.report.graph_panel import legend
from dignn.report.graph_svg import Frame, svg
from dignn.report.page import policy
from dignn.report.safe_text import clean
from dignn.report.templating import render, source

if TYPE_CHECKING:
    from dignn.explanations.explanation import Explanation, Explanations

# Classes that are drawn, so that browsers open the page quickly.
MOST_CLASSES = 24
_FRAME = Frame(260, 220, 26, 7.0)

RunsByRow = Mapping[str, Sequence[Mapping[str, Any]]]


def write_comparison(path: Path, title: str, rows: RunsByRow, shown: Mapping[str, Explanations]) -> Path:
    """Renders the page, puts it at ``path`` and returns the path.

    Args:
        path: an HTML file.
        title: what was compared on.
        rows: by row, the runs over seeds, as :mod:`dignn.metrics.over_seeds` has them.
        shown: by row, the explanations of one run.
    """
    names = list(dict.fromkeys(name for several in shown.values() for name in several))
    first = {row: {name: next(iter(several.get(name, ())), None) for name in names} for row, several in shown.items()}
    drawn = [best for cells in first.values() for best in cells.values() if best is not None]
    text = render(
        "comparison.html",
        style=Markup(source("style.css") + source("comparison.css")),
        policy=policy(),
        title=title,
        columns=list(shown),
        classes=[(name, [_cell(cells[name]) for cells in first.values()]) for name in names[:MOST_CLASSES]],
        left_out=max(0, len(names) - MOST_CLASSES),
        legend=legend(*(best.graph for best in drawn), target=drawn[0].node is not None) if drawn else [],
        several_models=len({about_gcn(runs) for runs in rows.values()}) > 1,
        shown=_table(rows, shown_figures(rows)),
        same_rule=_table(rows, shown_figures(rows, SAME_RULE_FIGURES)),
    )
    write_text(path, clean(text))
    return path


def _cell(best: Explanation | None) -> dict[str, Any] | None:
    """What is shown of an explanation; None where there is none."""
    if best is None:
        return None
    return {
        "drawing": svg(best, _FRAME, **{"class": "graph"}),
        "score": best.score,
        "inside": None if best.standing is None else best.standing.inside,
        "graph": best.graph,
    }


def _table(rows: RunsByRow, figures: Sequence[ComparedFigure]) -> dict[str, Any]:
    """Some figures of all rows that have any of them."""
    having = [
        row for row, runs in rows.items() if any(figure.of(run) is not None for figure in figures for run in runs)
    ]
    return {"figures": figures, "rows": [(row, len(rows[row]), _cells(row, rows, figures)) for row in having]}


def _cells(row: str, rows: RunsByRow, figures: Sequence[ComparedFigure]) -> list[tuple[str, str, bool]]:
    """Value, spread and whether no row about the same model is better, for each figure."""
    found = []
    same = {name: runs for name, runs in rows.items() if about_gcn(runs) == about_gcn(rows[row])}
    for figure in figures:
        value, spread = mean_and_spread(rows[row], figure)
        found.append((_text(value, figure), _text(spread, figure), _is_best(value, figure, same)))
    return found


def _is_best(value: float | None, figure: ComparedFigure, rows: RunsByRow) -> bool:
    values = [other for runs in rows.values() if (other := mean_and_spread(runs, figure)[0]) is not None]
    if value is None or figure.better is None or len(rows) == 1:
        return False
    best = max(values) if figure.better == "higher" else max(figure.least, min(values))
    seen = value if figure.better == "higher" else max(figure.least, value)
    return round(seen, figure.digits) == round(best, figure.digits)  # as people see it


def _text(value: float | None, figure: ComparedFigure) -> str:
    return "" if value is None else f"{value:,.{figure.digits}f}"
