"""Coverage: how much of a class do its first explanations stand for?

A real member that nobody learned from is covered if one of the explanations is as near to it in the model's embedding
space as most members are to their nearest ten.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from dignn.members import Members

# Numbers of explanations that are looked at; the value is that of the first number.
NUMBERS = (10, 1, 3, 50)
# Members that are nearer to others than the radius: this share.
NEAR = 0.9
# Two-sided 95 % of a normal distribution.
_DEVIATIONS = 1.96


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
    by_class: list[dict[str, Any] | None] = []
    for embedding, old, members in zip(embeddings, known, new, strict=True):
        if not len(embedding) or not len(old) or not len(members):
            by_class.append(None)
            continue
        near = cdist(members.embedding, embedding) <= float(np.quantile(old.apart, NEAR))  # (members, k)
        by_class.append({str(number): _share(near[:, :number].any(1)) for number in NUMBERS})
    shown = [values for values in by_class if values is not None]
    mean = {
        str(number): float(np.mean([values[str(number)]["share"] for values in shown])) if shown else None
        for number in NUMBERS
    }
    return {"mean": mean, "by_class": by_class}


def _share(covered: np.ndarray) -> dict[str, Any]:
    share, number = float(covered.mean()), len(covered)
    square = _DEVIATIONS**2
    middle = (share + square / (2 * number)) / (1 + square / number)
    half = _DEVIATIONS * math.sqrt(share * (1 - share) / number + square / (4 * number**2)) / (1 + square / number)
    return {"share": share, "interval": [max(0.0, middle - half), min(1.0, middle + half)]}
