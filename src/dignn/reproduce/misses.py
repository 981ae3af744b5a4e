"""Values of ours that are worse than they should be, and how tables are called where they are told of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dignn.reproduce.definition import STRONG
from dignn.reproduce.filled import BETTER, EQUAL, MET, MISSED, NOT_JUDGED, WORSE
from dignn.reproduce.paper_setups import GCN_ROW_OF_PAPER, OUR_RULE, VAE_ROW
from dignn.reproduce.results_tables import number, told_apart
from dignn.reproduce.table_files import FilledCell, FilledTable

WHAT_MISSES_ARE = (
    "A miss is a value of our method with the strong models in Tables 1, 3 and 5 that is worse than the paper's, or "
    "one of our own measures that does not reach its target. GF in Table 3 is of graphs that the paper's rule chooses, "
    f"distances in Table 1 of those that each method's own rule chooses (ours: {OUR_RULE})."
)
WHY_UNJUDGED = (
    "Their target is of what real graphs score, and that is nothing, or all there can be, or was not measured."
)


def short_title(name: str) -> str:
    """What a table is called in a line."""
    return name.replace("table", "Table ") if name.startswith("table") else "ours"


def heading(name: str, title: str) -> str:
    """What a table is called above it."""
    return f"{short_title(name)}: {title}" if name.startswith("table") else title


def missed(table: FilledTable, cell: FilledCell) -> bool:
    """Whether a cell is one of ours that is worse than it should be."""
    return cell["verdict"] == MISSED or (_binds(table, cell) and cell["verdict"] == WORSE)


def misses(tables: Mapping[str, FilledTable]) -> tuple[list[str], int]:
    """Every miss in words, and of how many values that could be one."""
    found, count = [], 0
    for name, table, cell in _every(tables):
        at_stake = cell["verdict"] in (MET, MISSED)
        count += at_stake or (_binds(table, cell) and cell["verdict"] in (BETTER, EQUAL, WORSE))
        if missed(table, cell):
            found.append(f"{_place(name, cell)}: {_words(cell)}")
    return found, count


def worse_elsewhere(tables: Mapping[str, FilledTable]) -> list[str]:
    """Values of our method that are worse than the paper's where that is no miss; what is one run and value once."""
    found: dict[tuple[str, str, str, float], str] = {}
    for name, table, cell in _every(tables):
        if cell["verdict"] == WORSE and _of_our_method(table, cell) and not _binds(table, cell):
            key = name, cell["run"], cell["figure"], cell["paper"]["value"]
            model = "" if cell["model"] == STRONG else f", {cell['model']} model"
            found.setdefault(key, f"{_place(name, cell)}{model}: {_words(cell)}")
    return list(found.values())


def not_judged(tables: Mapping[str, FilledTable]) -> list[str]:
    """Values whose target is of what real graphs score, where that is nothing, all there can be, or not measured."""
    found = []
    for name, _, cell in _every(tables):
        if cell["verdict"] == NOT_JUDGED:
            value, of = number(cell["ours"]["mean"], cell["digits"]), cell["target"]["beside"]
            beside = "not measured" if of is None else number(of, cell["digits"])
            found.append(f"{_place(name, cell)}: {value}, {_whose(cell)} {beside}")
    return found


def _every(tables: Mapping[str, FilledTable]) -> Iterator[tuple[str, FilledTable, FilledCell]]:
    for name, table in tables.items():
        for cell in table["cells"]:
            yield name, table, cell


def _place(name: str, cell: FilledCell) -> str:
    return f"{short_title(name)}, {cell['group']}, {cell['row']}, {cell['figure']}"


def _of_our_method(table: FilledTable, cell: FilledCell) -> bool:
    """Of tables without rivals all rows are, but for the VAE's."""
    return cell["row"] in (*table["ours"], GCN_ROW_OF_PAPER) if table["ours"] else cell["row"] != VAE_ROW


def _binds(table: FilledTable, cell: FilledCell) -> bool:
    """Whether the paper's value is one to be reached."""
    return bool(table["binding"]) and cell["row"] in table["ours"] and cell["model"] == STRONG


def _words(cell: FilledCell) -> str:
    mean, digits = cell["ours"]["mean"], cell["digits"]
    if cell["verdict"] == WORSE:
        return "{}, the paper {}".format(*told_apart(mean, cell["paper"]["value"], digits))
    target = cell["target"]
    ours, bound = told_apart(mean, target["bound"], digits)
    most = f" and ≤ {number(target['most'], digits)}" if target["most"] is not None and not target["of"] else ""
    beside = f", {_whose(cell)} {number(target['beside'], digits)}" if target["of"] else ""
    return f"{ours}, to be {target['relation']} {bound}{most}{beside}"


def _whose(cell: FilledCell) -> str:
    return str(cell["target"]["of"]).replace("_", " ")
