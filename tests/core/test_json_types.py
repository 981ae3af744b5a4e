"""Dataclasses from JSON: what was written comes back, and what no field takes is named."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, Literal

import pytest

from dignn.core.json_types import restored


class Colour(str, Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    colour: Colour
    weights: tuple[float, ...] = ()


@dataclass(frozen=True)
class Outer:
    name: str
    number: int | None
    several: tuple[Inner, ...]
    choice: Literal["one", "other"] = "one"


WHOLE = Outer("a", None, (Inner(Colour.RED, (1.5, 2)), Inner(Colour.RED)))


def test_what_was_written_comes_back() -> None:
    assert restored(Outer, json.loads(json.dumps(asdict(WHOLE)))) == WHOLE


@pytest.mark.parametrize(
    "change",
    [
        {"name": 1},
        {"number": "1"},
        {"number": True},
        {"number": 1.0},
        {"several": 3},
        {"several": "text"},
        {"several": [{"colour": "blue", "weights": []}]},
        {"several": [{"colour": "red", "weights": [float("nan")]}]},
        {"several": [{"colour": "red"}]},
        {"choice": "another"},
        {"choice": ["one"]},
        {"unknown": 1},
    ],
)
def test_what_no_field_takes_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        restored(Outer, json.loads(json.dumps(asdict(WHOLE) | change)))


def test_entries_that_do_not_fit_are_named() -> None:
    content = asdict(WHOLE) | {"unknown": 1}
    del content["name"]
    with pytest.raises(TypeError, match="^entries name, unknown are missing or not known$"):
        restored(Outer, content)


def test_what_is_no_object_is_refused() -> None:
    for content in (None, [], "text"):
        with pytest.raises(TypeError, match="has not the entries name, number, several, choice"):
            restored(Outer, content)
