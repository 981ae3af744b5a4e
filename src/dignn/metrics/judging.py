"""What a figure means, in plain words: each value beside what real graphs score and what noise scores.

A judge lives with its metric; here is what judges share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from dignn.core.numerals import tight_percent

Level = Literal["good", "fair", "poor"]
RANDOM_TREES, COLUMN_NOISE = "random_trees", "column_noise"
# Controls that are no good. Shuffled rows are real rows, so no figure of features alone need be better than theirs.
NO_GOOD = {RANDOM_TREES: "random trees", COLUMN_NOISE: "noise"}
# Where real ones are told from other real ones less or more often than this, the classifier test does not work.
_WORKS = (0.35, 0.65)


@dataclass(frozen=True)
class Verdict:
    """A judgement of one figure.

    Args:
        level: how good it is.
        text: a sentence without its capital and full stop.
        shows: False where the figure tells nothing on this data, because noise scores as well or real rows as badly.
    """

    level: Level
    text: str
    shows: bool = True


# A judge takes the value, the floor (what real graphs score; None where nobody knows) and the controls by name.
Judge = Callable[[float, float | None, Mapping[str, float]], Verdict]


def told_apart(value: float, floor: float | None, controls: Mapping[str, float]) -> Verdict:
    """C2ST: AUC of a classifier that tells generated from real; of one of each, how often it is right."""
    right = f"shown one of each, it is right in {tight_percent(value)} of cases; guessing gives {tight_percent(0.5)}"
    if floor is not None and not _WORKS[0] <= floor <= _WORKS[1] and value <= max(floor + 0.1, 0.7):
        # The test goes wrong on real data alone, as it does where there is little of it.
        told = "real ones are told from other real ones as well"
        if floor <= 0.5:
            told = "even real ones and other real ones are taken for each other"
        text = f"cannot be judged here: {told} (right in {tight_percent(floor)} of cases)"
        return Verdict("fair", text, shows=False)
    as_low = [words for name, words in NO_GOOD.items() if name in controls and controls[name] <= value + 0.02]
    if as_low and value <= 0.7:
        text = f"no better than {' and '.join(as_low)} here, so it shows nothing ({right})"
        return Verdict("fair", text, shows=False)
    if value <= 0.6:
        return Verdict("good", f"a classifier can hardly tell them apart ({right})")
    if floor is not None and value <= floor + 0.03:
        return Verdict("good", f"told apart hardly better than real ones are from real ones ({right})")
    if value <= 0.7:
        return Verdict("fair", f"a classifier tells them apart a little better than by chance ({right})")
    if value <= 0.85:
        return Verdict("poor", f"a classifier tells them apart more often than not ({right})")
    return Verdict("poor", f"a classifier tells them apart easily ({right})")
