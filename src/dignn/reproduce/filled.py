"""A table with its values: the paper's, ours with their spread, floor and controls, as JSON."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from statistics import mean
from typing import Any

from dignn import __version__
from dignn.metrics.over_seeds import ComparedFigure, mean_and_spread
from dignn.reproduce.definition import LIKE_REAL, REAL_GRAPHS, SHOWN_CONTROLS, Cell, Definition, Target, Told
from dignn.reproduce.planning import TOLD_PART, YARDSTICK_PARTS
from dignn.reproduce.runs import Finished, Run

TABLE_FORMAT = "dignn.Table.2"
NOT_RUN, BETTER, EQUAL, WORSE, MET, MISSED = "not run", "better", "equal", "worse", "met", "missed"
# There is a value and a target, but the latter is of what real graphs score, and by that nothing can be judged.
NOT_JUDGED = "not judged"
_DIGITS = 6
_STANDS: dict[str, Callable[[float, float], bool]] = {"≤": operator.le, "≥": operator.ge, ">": operator.gt}


def filled(table: Definition, finished: Finished, preset: str) -> dict[str, Any]:
    """A table as JSON: all cells, those without a run too.

    Args:
        table: what is in it.
        finished: runs to read from.
        preset: of runs whose cells name none.
    """
    return {
        "format": TABLE_FORMAT,
        "name": table.name,
        "title": table.title,
        "preset": preset,
        "version": __version__,
        "sentences": list(table.sentences),
        "ours": list(table.ours),
        "binding": table.binding,
        "cells": [_cell(cell, finished, cell.preset or preset) for cell in table.cells],
        "told": [_told(told, finished, preset) for told in table.told],
    }


def _cell(cell: Cell, finished: Finished, preset: str) -> dict[str, Any]:
    figure = cell.figure
    runs, there = _runs(cell, finished, preset)
    ours = _over_seeds(figure, runs)
    beside = [] if cell.beside is None else finished.of(cell.beside, preset, YARDSTICK_PARTS[0])
    floor = _middle(cell.floor(), beside)
    found: dict[str, Any] = {
        "group": cell.group,
        "row": cell.row,
        "model": cell.model,
        "figure": figure.title,
        "digits": figure.digits,
        "good": figure.better,
        "run": cell.setup.name,
        "paper": None if cell.paper is None else {"value": cell.paper, "spread": cell.spread},
        "ours": ours,
        "applies": ours is not None or not there,  # there are runs, but no such figure of them
        "floor": floor,
        "controls": _controls(cell, beside) if cell.setup == cell.beside else {},  # once for all rows
        "verdict": None,
    }
    if cell.made_by:
        found["made_by"] = cell.made_by
    if cell.target is not None:
        of = {REAL_GRAPHS: floor, **found["controls"]}.get(cell.target.of)
        bound = _bound(cell.target, of)
        found["target"] = {**asdict(cell.target), "bound": bound, "beside": of}
        found["verdict"] = None if ours is None else _judged(cell.target, ours["mean"], bound)
    elif cell.paper is not None and ours is not None:
        found["verdict"] = verdict(figure, cell.paper, ours["mean"], floor)
    if not there and (cell.target is not None or cell.paper is not None):
        found["verdict"] = NOT_RUN
    return found


def _runs(cell: Cell, finished: Finished, preset: str) -> tuple[list[Run], bool]:
    """The runs that a cell is read from, and whether there are any, if only some that were made in another way."""
    part = cell.figure.path[0]
    runs = finished.of(cell.setup, preset, part)
    if cell.made_like is None:
        return runs, bool(runs)
    alike = finished.made_like(cell.setup, cell.made_like, preset, part)
    return alike, bool(runs and finished.of(cell.made_like, preset, part))


def _controls(cell: Cell, beside: Sequence[Run]) -> dict[str, float]:
    found = {name: _middle(cell.control(name), beside) for name in SHOWN_CONTROLS}
    return {name: value for name, value in found.items() if value is not None}


def _judged(target: Target, ours: float, bound: float | None) -> str:
    if bound is None:
        return NOT_JUDGED
    reached = _STANDS[target.relation](ours, bound) and (target.most is None or ours <= target.most)
    return MET if reached else MISSED


def _bound(target: Target, of: float | None) -> float | None:
    """Of nothing a multiple says nothing, and nothing is above what is the most there can be."""
    if not target.of:
        return target.bound
    if of is None or of <= 0:
        return None
    bound = round(target.bound * of, _DIGITS)
    return None if target.most is not None and bound >= target.most else bound


def verdict(figure: ComparedFigure, paper: float, ours: float, floor: float | None) -> str | None:
    """How ours stands beside the paper's value, in the digits that it prints; None where neither side is better."""
    if figure.better is None or (figure.better == LIKE_REAL and floor is None):
        return None
    if round(ours, figure.digits) == round(paper, figure.digits):
        return EQUAL
    if figure.better == LIKE_REAL:
        assert floor is not None
        return BETTER if abs(ours - floor) < abs(paper - floor) else WORSE
    return BETTER if (ours > paper) == (figure.better == "higher") else WORSE


def _over_seeds(figure: ComparedFigure, runs: Sequence[Run]) -> dict[str, Any] | None:
    """Mean and standard deviation over seeds, and which runs these are."""
    having = [run for run in runs if figure.of(run.values) is not None]
    middle, spread = mean_and_spread([run.values for run in having], figure)
    if middle is None:
        return None
    return {
        "mean": round(middle, _DIGITS),
        "sd": None if spread is None else round(spread, _DIGITS),
        "runs": len(having),
        "seeds": [run.seed for run in having],
        "commits": sorted({run.commit or "not noted" for run in having}),
    }


def _middle(figure: ComparedFigure | None, runs: Sequence[Run]) -> float | None:
    values = [] if figure is None else [value for run in runs if (value := figure.of(run.values)) is not None]
    return round(mean(values), _DIGITS) if values else None


def _told(told: Told, finished: Finished, preset: str) -> dict[str, Any]:
    runs = finished.of(told.setup, preset, TOLD_PART)
    best: Mapping[str, Any] = runs[0].values[TOLD_PART] if runs else {}
    chosen = {number: one for number, one in best.items() if told.class_number in (None, int(number))}
    return {
        "group": told.group,
        "row": told.row,
        "model": told.model,
        "run": told.setup.name,
        "picture": told.picture,
        "seed": runs[0].seed if runs else None,
        "commit": runs[0].commit if runs else None,
        "classes": chosen,
    }
