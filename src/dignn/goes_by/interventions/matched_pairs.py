"""Pairs of graphs that are as they are, one with what a predicate says and one without, and alike in all else known."""

from __future__ import annotations

import numpy as np

from dignn.core.seeds import Seed


def matched(
    true: np.ndarray, others: np.ndarray, intended: np.ndarray, chosen: np.ndarray, seed: Seed
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of places with and without, side by side.

    Args:
        true: (m,) bool, of which places the predicate is true.
        others: (m, q) bool, what else is said of them.
        intended: (m,) class that each was meant to be of; the same in a pair where there is such a place.
        chosen: places that partners are sought for.
        seed: of the choice among partners that are equally alike.
    """
    order = seed.numpy().permutation(len(true))
    found: tuple[list[int], list[int]] = [], []
    for place in chosen.tolist():
        possible = order[true[order] != true[place]]
        if not len(possible):
            continue
        apart = (others[possible] != others[place]).sum(1) + (others.shape[1] + 1) * (
            intended[possible] != intended[place]
        )
        pair = place, int(possible[apart.argmin()])
        with_it, without = pair if true[place] else pair[::-1]
        found[0].append(with_it)
        found[1].append(without)
    return np.array(found[0], dtype=int), np.array(found[1], dtype=int)
