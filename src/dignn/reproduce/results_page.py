"""The page of results in Markdown, from written tables alone: verdicts first, every miss, then table by table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dignn.reproduce.claims import Judged, judged
from dignn.reproduce.definition import SHOWN_CONTROLS, STRONG
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
from dignn.reproduce.registry import TABLES
from dignn.reproduce.results_tables import markdown_table, number, shown_groups
from dignn.reproduce.table_files import Cells, FilledCell, FilledTable
from dignn.reproduce.tally import beside_the_paper, tally
from dignn.reproduce.verdicts import WHAT_VERDICTS_ARE

_NONE = "None."
_WORSE = "Worse than the paper's, and no miss"
_WHAT_WORSE_IS = "Values of our method with the paper's models, with fewer columns, and in tables that bind nothing."
_UNJUDGED = "What was not judged"
_BOLD = "Misses are bold in the tables."


def results_page(tables: Mapping[str, FilledTable]) -> str:
    """The page.

    Args:
        tables: those that were written, by name.
    """
    claims = judged(Cells(tables))
    parts = ["# The paper's tables, reproduced", _what_it_is(tables), _items(tally(tables, claims))]
    parts += ["## What holds, and what does not", _verdicts(claims), "## Every miss", *_misses(tables)]
    parts += [*_listed(_WORSE, _WHAT_WORSE_IS, worse_elsewhere(tables))]
    parts += [*_listed(_UNJUDGED, WHY_UNJUDGED, not_judged(tables)), "### What was not run", _not_run(tables)]
    parts += ["## The figures behind each claim", WHAT_VERDICTS_ARE, _figures(claims), "## How to read the tables"]
    parts += [_how_to_read(tables)]
    for name, table in tables.items():
        parts += _table(name, table)
    return "\n\n".join(parts) + "\n"


def _what_it_is(tables: Mapping[str, FilledTable]) -> str:
    presets = sorted({table["preset"] for table in tables.values()})
    return (
        f"Every number of the paper beside ours, preset {' and '.join(f'`{name}`' for name in presets)}, written by "
        "`dignn reproduce` from runs that are lines of JSON. First what holds, then every miss, then table by table."
    )


def _how_to_read(tables: Mapping[str, FilledTable]) -> str:
    return (
        "Ours are means over runs with seeds of their own for model, data and generators, ± the standard deviation; "
        "*floor* is what real graphs score, controls are graphs that are wrong in one known way. What has no run says "
        f"so. {_runs_there_are(tables)} The last column of a table says at which commit its runs were made: where "
        "there are several, means are over runs of different code, and where none was noted they may be. "
        "`dignn reproduce all --plan` says which runs are missing."
    )


def _runs_there_are(tables: Mapping[str, FilledTable]) -> str:
    """How many values are of a single run, and what that means."""
    counts = [cell["ours"]["runs"] for table in tables.values() for cell in table["cells"] if cell["ours"]]
    if not counts:
        return "There are no runs yet."
    alone = sum(count == 1 for count in counts)
    if not alone:
        return f"Every value is of {min(counts)} or more runs."
    return f"{alone:,} of {len(counts):,} values are of a single run, so that small differences say nothing."


def _verdicts(claims: Sequence[Judged]) -> str:
    rows = [
        [one.claim.said, one.claim.whose, short_title(one.claim.table), f"**{one.verdict.text}**"] for one in claims
    ]
    return markdown_table(["claim", "of", "in", "verdict"], rows)


def _figures(claims: Sequence[Judged]) -> str:
    rows = [[one.claim.said, one.verdict.text, one.figures] for one in claims]
    return markdown_table(["claim", "verdict", "figures"], rows)


def _misses(tables: Mapping[str, FilledTable]) -> list[str]:
    found, count = misses(tables)
    counted = f"{len(found)} of {count} values that have a run and could be one. {WHAT_MISSES_ARE} {_BOLD}"
    return [counted, _items(found)]


def _items(found: Sequence[str]) -> str:
    return "\n".join(f"- {one}" for one in found) if found else _NONE


def _listed(title: str, what: str, found: Sequence[str]) -> list[str]:
    count = "1 value" if len(found) == 1 else f"{len(found)} values"
    return [f"### {title}", f"{count}. {what}", _items(found)] if found else []


def _not_run(tables: Mapping[str, FilledTable]) -> str:
    rows = []
    for name in TABLES:
        cells = [cell for cell in tables[name]["cells"] if cell["applies"]] if name in tables else []
        empty = sum(cell["ours"] is None for cell in cells)
        state = "the table was not written" if not cells else f"{empty} of {len(cells)}" if empty else "all have a run"
        rows.append([heading(name, TABLES[name].title), state])
    return markdown_table(["table", "values without a run"], rows)


# -- tables -------------------------------------------------------------------------------------------


def _table(name: str, table: FilledTable) -> list[str]:
    parts = [
        f"## {heading(name, table['title'])}",
        " ".join(filter(None, (beside_the_paper(table), *table["sentences"]))),
    ]
    for group, cells in shown_groups(table["cells"]).items():
        parts += [f"### {group}", *_group(table, cells)]
    told = [part for one in table["told"] if one["classes"] for part in _told(one)]
    lacking = [f"{one['row']} on {one['group']}" for one in table["told"] if not one["classes"]]
    told += [f"Not run: {', '.join(lacking)}."] if lacking else []
    return [*parts, *(["### Explanations in words", *told] if told else []), *filter(None, [_made_by(table)])]


def _group(table: FilledTable, cells: Sequence[FilledCell]) -> list[str]:
    """A row for each row and model, then, where all rows have the same, floor and controls."""
    if all(cell["ours"] is None and cell["paper"] is None for cell in cells):
        return ["Not measured: there is no run yet."]
    figures = list(dict.fromkeys(cell["figure"] for cell in cells))
    printed = {figure for figure in figures for cell in cells if cell["figure"] == figure and cell["paper"]}
    head = ["", *(title for figure in figures for title in _titles(figure, figure in printed)), "runs", "made at"]
    rows_of = dict.fromkeys((cell["row"], cell["model"]) for cell in cells)
    models = dict.fromkeys(model for _, model in rows_of)
    rows = []
    for model in models:
        own = [cell for cell in cells if cell["model"] == model]
        shared = _shared(own, figures)
        for row in (name for name, of in rows_of if of == model):
            by_figure = {cell["figure"]: cell for cell in own if cell["row"] == row}
            values = [v for f in figures for v in _values(table, by_figure.get(f), f in printed, not shared)]
            rows.append([_label(row, model), *values, _runs(by_figure.values()), _commits(by_figure.values())])
        for kind in ("floor", *SHOWN_CONTROLS) if shared else ():
            first = {figure: _telling([cell for cell in own if cell["figure"] == figure]) for figure in figures}
            values = [v for f in figures for v in _beside(first[f], kind, f in printed)]
            if any(value not in ("", "-") for value in values):
                name = "real graphs (floor)" if kind == "floor" else kind.replace("_", " ")
                rows.append([f"*{_label(name, model)}*", *values, "", ""])
    return [markdown_table(head, rows)]


def _telling(cells: Sequence[FilledCell]) -> FilledCell | None:
    """Of cells of a figure the one that has the controls of all of them."""
    return max(cells, key=lambda cell: len(cell["controls"]), default=None)


def _titles(figure: str, printed: bool) -> list[str]:
    return [f"{figure}, paper", "ours"] if printed else [figure]


def _label(row: str, model: str) -> str:
    return row if model == STRONG else f"{row}, {model} model"


def _shared(cells: Sequence[FilledCell], figures: Sequence[str]) -> bool:
    """Whether every figure has one floor in all rows, and some has one at all."""
    floors = {figure: {cell["floor"] for cell in cells if cell["figure"] == figure} for figure in figures}
    return all(len(values) <= 1 for values in floors.values()) and any(
        value is not None for values in floors.values() for value in values
    )


def _values(table: FilledTable, cell: FilledCell | None, printed: bool, with_floor: bool) -> list[str]:
    if cell is None:
        return ["", ""] if printed else [""]
    paper = "" if cell["paper"] is None else _spread(cell["paper"]["value"], cell["paper"]["spread"], cell["digits"])
    nothing = "not run" if cell["applies"] else "-"
    ours = nothing if cell["ours"] is None else _spread(cell["ours"]["mean"], cell["ours"]["sd"], cell["digits"])
    if cell["ours"] is not None and missed(table, cell):
        ours = f"**{ours}**"
    if with_floor and cell["floor"] is not None and cell["ours"] is not None:
        ours += f" (floor {number(cell['floor'], cell['digits'])})"
    return [paper, ours] if printed else [ours]


def _beside(cell: FilledCell | None, kind: str, printed: bool) -> list[str]:
    value = None if cell is None else cell["floor"] if kind == "floor" else cell["controls"].get(kind)
    text = "-" if value is None or cell is None else number(value, cell["digits"])
    return ["", text] if printed else [text]


def _spread(value: float, spread: float | None, digits: int) -> str:
    text = number(value, digits)
    return text if spread is None else f"{text} ± {number(spread, digits)}"


def _runs(cells: Iterable[FilledCell]) -> str:
    """Of how many runs values are; those that do not apply are of none."""
    counts = sorted({cell["ours"]["runs"] if cell["ours"] else 0 for cell in cells if cell["applies"]})
    return " to ".join(map(str, dict.fromkeys((counts[0], counts[-1])))) if counts else "-"


def _commits(cells: Iterable[FilledCell]) -> str:
    return ", ".join(sorted({commit for cell in cells if cell["ours"] for commit in cell["ours"]["commits"]}))


def _told(one: Mapping[str, Any]) -> list[str]:
    """A paragraph for each class, and the picture."""
    head = f"**{one['group']}, {one['row']}**"
    lines = []
    for found in one["classes"].values():
        words = f" Its own features include {', '.join(found['keywords'])}." if found["keywords"] else ""
        values = "".join(
            f" Continuous values of {name} nodes: mean {number(of['mean'], 3)}, deviation {number(of['deviation'], 3)}."
            for name, of in found["continuous"].items()
        )
        about = f"{found['nodes']} nodes ({found['composition']}), {found['edges']} edges"
        lines.append(
            f"- *{found['class']}* ({number(found['probability'], 3)}): {about}.{words}{values} {found['text']}"
        )
    picture = f"![The best explanation of each class of {one['group']}]({one['picture']})" if one["picture"] else ""
    return [
        f"{head} (seed {one['seed']}, made at {one['commit'] or 'a commit that was not noted'})",
        "\n".join(lines),
        *([picture] if picture else []),
    ]


def _made_by(table: FilledTable) -> str:
    """What other commands measured."""
    if not any(cell["ours"] for cell in table["cells"]):
        return "No value of this table has a run yet."
    others = sorted({cell["made_by"] for cell in table["cells"] if cell.get("made_by")})
    return f"Some are measured by {' and '.join(f'`{command}`' for command in others)}." if others else ""
