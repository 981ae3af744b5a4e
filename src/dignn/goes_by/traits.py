"""Traits: what can be true of a node, or of an edge, by its columns or by the structure around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dignn.goes_by.where import Step

Test = Literal["is", "above", "missing"]
Shape = Literal["neighbours", "leaf", "cycle"]


@dataclass(frozen=True)
class Holds:
    """What a column of a node or an edge holds.

    Args:
        column: its number.
        test: whether the value ``is`` a number (1 for a word that is there), lies ``above`` it, or is ``missing``.
        value: the number.
    """

    column: int
    test: Test = "is"
    value: float = 1.0


@dataclass(frozen=True)
class Shaped:
    """How a node stands in its graph.

    Args:
        shape: it has at least ``number`` neighbours; it is a ``leaf``, with one neighbour; it lies on a chordless
            ``cycle`` of ``number`` nodes, of any number up to the longest where ``number`` is 0.
        number: how many.
        step: only neighbours that it has by this step.
    """

    shape: Shape
    number: int = 0
    step: Step | None = None


Trait = Holds | Shaped
