"""One budget of training for all generators of a bank: many node types must not take as many times as long as a few."""

from __future__ import annotations

from collections.abc import Sequence

# So many generators may learn for as long as each would alone; more of them share what these take.
FULL_GENERATORS = 4
# What a generator gets at least, as a share of its whole training.
LEAST_SHARE_OF_TRAINING = 0.1


def training_shares(sizes: Sequence[int]) -> list[float]:
    """The share of its whole training that each of several generators gets, by the size of its table.

    Up to four get all of it. More share what four would take, by the root of their numbers of cells: a large table has
    more to learn, but not as many times more as it is larger. None gets more than its whole training, nor less than a
    tenth of it. The shares depend on the tables alone, so results do not depend on how many learn side by side.

    Args:
        sizes: rows times columns of each table.
    """
    share = [1.0] * len(sizes)
    if len(sizes) <= FULL_GENERATORS:
        return share
    weight = [max(size, 1) ** 0.5 for size in sizes]
    full: set[int] = set()
    while True:  # those that would get more than all of it get all of it, and the others share what is left
        left = FULL_GENERATORS - len(full)
        total = sum(each for place, each in enumerate(weight) if place not in full)
        part = {place: left * each / total for place, each in enumerate(weight) if place not in full}
        over = {place for place, each in part.items() if each > 1}
        if not over:
            break
        full |= over
    return [1.0 if place in full else max(LEAST_SHARE_OF_TRAINING, part[place]) for place in range(len(sizes))]
