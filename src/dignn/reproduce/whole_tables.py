"""Whether a written table has all that pages are made of: looked at once, where tables are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from dignn.reproduce.definition import Definition

# What a cell is known by.
PLACE = ("group", "row", "model", "figure")
_NOTHING, _NUMBER = type(None), (int, float)
_Shape = Mapping[str, Any]
_TABLE: _Shape = {
    **dict.fromkeys(("name", "title", "preset"), str),
    **dict.fromkeys(("sentences", "ours", "cells", "told"), list),
    "binding": bool,
}
_CELL: _Shape = {
    **dict.fromkeys((*PLACE, "run"), str),
    "digits": int,
    "good": (str, _NOTHING),
    "paper": (dict, _NOTHING),
    "ours": (dict, _NOTHING),
    "applies": bool,
    "floor": (*_NUMBER, _NOTHING),
    "controls": dict,
    "verdict": (str, _NOTHING),
}
# Of what a cell may have, or have none of.
_WITHIN: Mapping[str, _Shape] = {
    "paper": {"value": _NUMBER, "spread": (*_NUMBER, _NOTHING)},
    "ours": {"mean": _NUMBER, "sd": (*_NUMBER, _NOTHING), "runs": int, "commits": list},
    "target": {
        "relation": str,
        "bound": (*_NUMBER, _NOTHING),
        "of": str,
        "most": (*_NUMBER, _NOTHING),
        "beside": (*_NUMBER, _NOTHING),
    },
}
_TOLD: _Shape = {
    **dict.fromkeys(("group", "row", "model", "picture"), str),
    "seed": (int, _NOTHING),
    "commit": (str, _NOTHING),
    "classes": dict,
}
_CLASS: _Shape = {
    **dict.fromkeys(("class", "composition", "text"), str),
    **dict.fromkeys(("probability", "nodes", "edges"), _NUMBER),
    "keywords": list,
    "continuous": dict,
}
_CONTINUOUS: _Shape = dict.fromkeys(("mean", "deviation"), _NUMBER)
# Lists that are not of texts.
_PARTS = ("cells", "told")


def check_whole(table: Mapping[str, Any], defined: Definition) -> None:
    """Whether a table has every cell that it is defined with, and each all that it should have.

    Raises:
        ValueError: something is lacking, or is of another kind than it should be.
    """
    _check(table, _TABLE, "it")
    for cell in table["cells"]:
        _check(cell, _CELL, "a cell")
        for name, shape in _WITHIN.items():
            if cell.get(name) is not None:
                _check(cell[name], shape, f"{name} of {_named(cell)}")
        _check(cell["controls"], dict.fromkeys(cell["controls"], _NUMBER), f"controls of {_named(cell)}")
    for one in table["told"]:
        _check(one, _TOLD, "an explanation in words")
        for number, words in one["classes"].items():
            whose = f"class {number} of {one['group']}, {one['row']}"
            _check(words, _CLASS, whose)
            for name, values in words["continuous"].items():
                _check(values, _CONTINUOUS, f"{name} of {whose}")
    there = Counter(tuple(cell[name] for name in PLACE) for cell in table["cells"])
    lacking = [place for place in _places(defined) if place not in there]
    if lacking:
        raise ValueError(f"it lacks {len(lacking)} of its cells, such as {', '.join(lacking[0])}")
    twice = [place for place, count in there.items() if count > 1]
    if twice:
        raise ValueError(f"it has a cell twice: {', '.join(twice[0])}")


def _check(found: Any, shape: _Shape, whose: str) -> None:
    if not isinstance(found, dict):
        raise ValueError(f"{whose} is no object")
    for name, kinds in shape.items():
        if name not in found:
            raise ValueError(f"{whose} lacks {name}")
        if not isinstance(found[name], kinds) or (isinstance(found[name], bool) and kinds is not bool):
            raise ValueError(f"{name} of {whose} is of another kind than it should be")
        if kinds is list and name not in _PARTS and not all(isinstance(one, str) for one in found[name]):
            raise ValueError(f"{name} of {whose} are no texts")


def _named(cell: Mapping[str, Any]) -> str:
    return ", ".join(cell[name] for name in PLACE)


def _places(defined: Definition) -> Iterator[tuple[str, ...]]:
    for cell in defined.cells:
        yield cell.group, cell.row, cell.model, cell.figure.title
