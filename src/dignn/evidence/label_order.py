"""A model that agrees with labels less often than a guess would: they may be in another order than it knows them."""

from __future__ import annotations

import math

from dignn.core.numerals import percent


def below_guessing(share: float, classes: int, count: int) -> str | None:
    """What is to be said where a model gives this share of labelled things their label; None where nothing is.

    Args:
        share: from 0 to 1.
        classes: how many there are to guess from.
        count: labelled things; of few, a guess may well give fewer their label than it does on average.
    """
    guess = 1 / classes
    if share >= guess - 2 * math.sqrt(guess * (1 - guess) / max(count, 1)):
        return None
    return (
        f"less than guessing would ({percent(1 / classes)}), so the labels may be in another order than the model's "
        "columns; compare the order of the classes with that in training"
    )
