"""Coverage: how much of a class do its first explanations stand for?

A real member that nobody learned from is covered if one of the explanations is as near to it in the model's embedding
space as most members are to their nearest ten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from dignn.core.numerals import tight_percent
from dignn.metrics.counting import interval, mean
from dignn.metrics.judging import Verdict
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.metric import Figure, Metric, declare
from dignn.selection.members import NEAR, Members

# Numbers of explanations that are looked at; the value is that of ten.
TOP_NUMBERS = (1, 3, 10, 50)
VALUE = 10


def coverage(embeddings: Sequence[np.ndarray], known: Sequence[Members], new: Sequence[Members]) -> dict[str, Any]:
    """Share of new members covered by the first explanations of their class.

    Args:
        embeddings: per class (k, D), those of its explanations, best first.
        known: members of each class, which say what is near.
        new: members of each class that are to be covered.

    Returns:
        ``mean`` over the classes by number of explanations, and ``by_class``: by number the ``share`` and its 95 %
        interval (Wilson). None for a class without members or explanations; fewer explanations count as they are.
    """
    by_class: list[dict[str, Any] | None] = [None] * len(known)
    for place, (embedding, old, members) in enumerate(zip(embeddings, known, new, strict=True)):
        if not len(embedding) or not len(old) or not len(members):
            continue
        near = cdist(members.embedding, embedding) <= float(np.quantile(old.apart, NEAR))  # (members, k)
        by_class[place] = {str(number): _interval(near[:, :number].any(1)) for number in TOP_NUMBERS}
    shares = [values for values in by_class if values is not None]
    by_number = {str(number): mean([values[str(number)]["share"] for values in shares]) for number in TOP_NUMBERS}
    return {"mean": by_number, "by_class": by_class}


def _interval(covered: np.ndarray) -> dict[str, Any]:
    share = float(covered.mean())
    return {"share": share, "interval": list(interval(share, len(covered)))}


def of_measured(measured: MeasuredGraphs, reality: Reality) -> dict[str, Any]:
    """:func:`coverage` of held-out members by the graphs that stand for their class."""
    return coverage(measured.embeddings, reality.members, reality.new_members)


def covered(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """Share of real members that are near one of ten explanations."""
    said = f"ten explanations are near to {tight_percent(value)} of real members"
    if floor is None:
        return Verdict("fair", said)
    said += f"; ten random real graphs to {tight_percent(floor)}"
    if value >= floor - 0.05:
        return Verdict("good", said)
    if value >= 0.4 * floor:
        return Verdict("fair", f"{said}: they show the clearest members, not all kinds of them")
    return Verdict("poor", f"{said}: they show one corner of the class")


def _of_ten(measured: MeasuredGraphs, reality: Reality) -> float | None:
    share: float | None = of_measured(measured, reality)["mean"][str(VALUE)]
    return share


declare(
    Metric("sound.coverage", "faithfulness", 50, {"model"}, _of_ten, about="explanations"),
    Figure(
        "Coverage",
        "Share of real members that one of the first ten explanations is near to, as the model sees them.",
        judge=covered,
        good="no lower than that of ten random real graphs",
        terminal="coverage of 10",
    ),
)
