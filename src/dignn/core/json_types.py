"""Dataclasses as JSON and back, with every value of the type that its field says: a damaged file may hold anything."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from enum import Enum
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Item = TypeVar("Item")


def plain(value: Any) -> Any:
    """What ``asdict`` gives of a dataclass, and of those in it, without copies of what is none."""
    if is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


def restored(kind: type[Item], content: Any) -> Item:
    """A dataclass, and those in it, from the JSON object that :func:`plain` gives.

    Raises:
        TypeError: a field is missing or unknown, or its value is of another type or a number that is not finite.
        ValueError: a value is none of its enumeration.
    """
    names = [item.name for item in fields(kind)]  # type: ignore[arg-type]
    if not isinstance(content, dict):
        raise TypeError(f"{content!r} has not the entries {', '.join(names)}")
    if content.keys() != set(names):
        raise TypeError(f"entries {', '.join(sorted(content.keys() ^ set(names)))} are missing or not known")
    hints = get_type_hints(kind)
    return kind(**{name: _value(name, hints[name], content[name]) for name in names})


def _value(name: str, hint: Any, value: Any) -> Any:
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (option for option in get_args(hint) if option is not type(None))
        return None if value is None else _value(name, hint, value)
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(_value(name, get_args(hint)[0], each) for each in value)
    if get_origin(hint) is dict and isinstance(value, dict):
        return {key: _value(f"{name}.{key}", get_args(hint)[1], each) for key, each in value.items()}
    if get_origin(hint) is Literal and value in get_args(hint):
        return value
    if is_dataclass(hint):
        return restored(hint, value)  # type: ignore[arg-type]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    number = type(value) in (int, float) and math.isfinite(value)
    if number if hint is float else type(value) is hint:
        return value
    raise TypeError(f"{name} is {value!r}")
