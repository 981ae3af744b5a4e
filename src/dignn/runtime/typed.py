"""Whether the values of a dataclass are of the types that it says: JSON from a damaged file may hold anything."""

from __future__ import annotations

import math
import types
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints


def check_types(value: Any) -> None:
    """Looks at every field of a dataclass, and at those inside.

    Raises:
        TypeError: one is of another type, or a number that is not finite.
    """
    hints = get_type_hints(type(value))
    for item in fields(value):
        found = getattr(value, item.name)
        if not _fits(found, hints[item.name]):
            raise TypeError(f"{item.name} is {found!r}")


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) in (Union, types.UnionType):
        return any(_fits(value, option) for option in get_args(hint))
    if get_origin(hint) is tuple:
        return isinstance(value, tuple) and all(_fits(each, get_args(hint)[0]) for each in value)
    if is_dataclass(hint):
        if not isinstance(value, hint):  # type: ignore[arg-type]
            return False
        check_types(value)
        return True
    if hint is float:
        return type(value) in (int, float) and math.isfinite(value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return isinstance(value, hint)
    return type(value) is hint
