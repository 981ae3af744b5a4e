"""What settings and arguments may be: each refuses a value with one sentence. Loads nothing heavy."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import get_args

from dignn.core.errors import DignnError
from dignn.core.suggestions import did_you_mean

# Larger graphs are no explanations for people, and dense tensors of them do not fit in memory.
MAX_NODES = 100
# No number of graphs, nodes or steps is larger.
LARGEST_NUMBER = 1_000_000_000


# -- one value ----------------------------------------------------------------------------------------


def whole_number(name: str, value: object, least: int | None = None, most: int = LARGEST_NUMBER) -> int:
    """One of them, also of numpy, as Python's own; it may have a least value, and then more than ``most`` is a slip."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise DignnError(f"{name} is {value!r}; it must be a whole number")
    number = int(value)
    if least is not None and not least <= number <= most:
        raise DignnError(f"{name} is {number}; it must be at least {least}{f' and at most {most:,}' * (number > most)}")
    return number


def checked_seed(value: object) -> int:
    """The seed of a run."""
    return whole_number("seed", value, 0, sys.maxsize)


def number(name: str, value: object, wanted: str) -> float:
    """A finite one, also of numpy, as Python's own; ``wanted`` says which."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise DignnError(f"{name} is {value!r}; it must be {wanted}")
    return value if isinstance(value, int | float) else float(value)


def choice(name: str, value: object, known: Sequence[str]) -> None:
    """One of several names."""
    if not isinstance(value, str) or value not in known:
        guess = did_you_mean(value, known) if isinstance(value, str) else ""
        raise DignnError(f"{name} is {value!r}{guess}; choose from {', '.join(known)}")


def names(name: str, value: object) -> tuple[str, ...]:
    """Several texts, in a list or the like, as a tuple."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise DignnError(f"{name} is {shown(value)}; give a list of names")
    several = tuple(value)
    strange = next((each for each in several if not isinstance(each, str)), None)
    if strange is not None:
        raise DignnError(f"{name} holds {shown(strange)}; give names, which are texts")
    return several


def instance(name: str, value: object, kind: type | tuple[type, ...], wanted: str) -> None:
    """An object of a class; ``wanted`` says what to give."""
    if not isinstance(value, kind):
        raise DignnError(f"{name} is {shown(value)}; give {wanted}")


def path(name: str, value: object) -> Path:
    """A place in the file system."""
    instance(name, value, (str, os.PathLike), "a path")
    return Path(value)  # type: ignore[arg-type]


def shown(value: object) -> str:
    """A value for a message: itself if it is short, else its class."""
    text = repr(value)
    return text if len(text) <= 40 and "\n" not in text else f"a {type(value).__name__}"


# -- settings of a dataclass --------------------------------------------------------------------------


def _put(config: object, name: str, value: object) -> None:
    object.__setattr__(config, name, value)  # settings are frozen


def at_least(config: object, least: int, *names: str) -> None:
    """Whole numbers."""
    for name in names:
        _put(config, name, whole_number(name, getattr(config, name), least))


def positive(config: object, *names: str, zero: bool = False) -> None:
    """Numbers above 0, or not below it."""
    for name in names:
        wanted = f"{'0 or ' if zero else ''}a number above 0"
        value = number(name, getattr(config, name), wanted)
        if value < 0 or (value == 0 and not zero):
            raise DignnError(f"{name} is {value}; it must be {wanted}")
        _put(config, name, value)


def share(config: object, *names: str) -> None:
    """Numbers from 0 to below 1."""
    for name in names:
        value = number(name, getattr(config, name), "at least 0 and below 1")
        if not 0 <= value < 1:
            raise DignnError(f"{name} is {value}; it must be at least 0 and below 1")
        _put(config, name, value)


def one_of(config: object, **options: object) -> None:
    for name, known in options.items():
        choice(name, getattr(config, name), get_args(known))


def switches(config: object, *names: str) -> None:
    """True or False."""
    for name in names:
        instance(name, getattr(config, name), bool, "True or False")


def texts(config: object, *names: str) -> None:
    """Names of things that are looked up later."""
    for name in names:
        instance(name, getattr(config, name), str, "a name")


def parts(config: object, **kinds: type) -> None:
    """Settings that have settings in them."""
    for name, kind in kinds.items():
        instance(name, getattr(config, name), kind, f"a {kind.__name__}")


def divides(heads: int, width: int) -> None:
    if width % heads:
        raise DignnError(f"width {width} cannot be shared out over {heads} heads; choose a multiple")
