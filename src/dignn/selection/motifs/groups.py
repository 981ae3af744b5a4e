"""The nodes of a motif that are only counted: whether groups of candidates have enough for all.

Where the nodes found must have no further edges among them (induced), the candidates taken must not be adjacent: an
independent set, which can be hard to find. So what does no harm is taken at once, what covers of cliques rule out is
not tried, and a search that takes too many steps ends in an error. Sets of nodes are integers, bit v for node v.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterator, Sequence

from dignn.core.errors import DignnError

# Candidates looked at for one motif in one graph before the search is given up: some seconds.
MOST_STEPS = 10_000_000

# Groups of interchangeable nodes: the candidates of each, and how many of them it takes.
Groups = tuple[tuple[int, int], ...]


class Steps:
    """Counts what the search for a motif does and gives it up in the end.

    Args:
        nodes: how many the motif has.
    """

    def __init__(self, nodes: int) -> None:
        self._left = MOST_STEPS
        self._nodes = nodes

    def take(self, number: int) -> None:
        self._left -= number
        if self._left < 0:
            raise DignnError(
                f"A motif of {self._nodes} nodes is too hard to find in one of the graphs: the search was given up "
                f"after {MOST_STEPS:,} steps; use smaller motifs or graphs"
            )


def nodes_of(nodes: int) -> Iterator[int]:
    """The nodes of a set, in ascending order."""
    while nodes:
        lowest = nodes & -nodes
        nodes ^= lowest
        yield lowest.bit_length() - 1


# -- groups whose nodes must not be adjacent ----------------------------------------------------------


def independent(groups: Groups, joined: Sequence[int], steps: Steps) -> bool:
    """Whether each group (candidates, number) can have its number of candidates, no two of all chosen adjacent.

    Groups differ in type or in edges to the core, and so have no candidate in common.
    """
    union = _union(groups)
    steps.take(union.bit_count())
    # candidates adjacent to other candidates; the others can be taken in any case
    busy = sum(1 << node for node in nodes_of(union) if joined[node] & union)
    if not busy:
        return all(candidates.bit_count() >= need for candidates, need in groups)
    contested = tuple(
        (candidates & busy, need - (candidates & ~busy).bit_count())
        for candidates, need in groups
        if need > (candidates & ~busy).bit_count()
    )
    return _choose(contested, joined, steps)


def _choose(groups: Groups, joined: Sequence[int], steps: Steps) -> bool:
    """Takes or leaves one candidate after the other, unless it is clear what to do with it.

    Different choices often leave the same candidates for the same numbers, which are then looked at only once.
    """
    stack, seen = [groups], set()
    while stack:
        left = _settled(stack.pop(), joined, steps)
        if left is None or left in seen:
            continue
        if not left:
            return True
        seen.add(left)
        node = _deciding(_union(left), joined, steps)
        lowest = 1 << node
        stack.append(tuple((candidates & ~lowest, need) for candidates, need in left))
        around = ~(joined[node] | lowest)
        stack.append(tuple((some & around, need - (some & lowest > 0)) for some, need in left))
    return False


def _settled(groups: Groups, joined: Sequence[int], steps: Steps) -> Groups | None:
    """What is left to decide when all has been taken that does no harm; None where there cannot be enough."""
    left: Groups = groups
    while True:
        before, left = left, _harmless(left, joined, steps)
        if any(candidates.bit_count() < need for candidates, need in left):
            return None
        if len(left) in (0, len(before)):
            break  # otherwise a group is done, so that others may have fewer rivals
    if _cliques(_union(left), joined, steps) < sum(need for _, need in left):
        return None
    if len(left) > 1 and any(_cliques(candidates, joined, steps) < need for candidates, need in left):
        return None
    return left


def _harmless(groups: Groups, joined: Sequence[int], steps: Steps) -> Groups:
    """The groups without the candidates that are taken and their rivals, and without groups that have enough.

    A candidate whose rivals (adjacent candidates) are of its own group and all adjacent to each other does no harm: of
    it and them one can be taken at most, and it leaves the most to others.
    """
    left = []
    union = _union(groups)
    for candidates, need in groups:
        pending = candidates
        while pending and need > 0:
            steps.take(1)
            lowest = pending & -pending
            pending ^= lowest
            rivals = joined[lowest.bit_length() - 1] & union
            if rivals & ~candidates or any(rivals & ~(joined[rival] | 1 << rival) for rival in nodes_of(rivals)):
                continue
            need -= 1
            candidates &= ~(rivals | lowest)
            union &= ~(rivals | lowest)
            pending &= ~rivals
            for rival in nodes_of(rivals):  # whoever was beside them has fewer now
                pending |= joined[rival] & candidates
        if need > 0:
            left.append((candidates, need))
        else:
            union &= ~candidates
    return tuple(left)


def _cliques(nodes: int, joined: Sequence[int], steps: Steps) -> int:
    """A number of cliques that cover the nodes: no independent set has more."""
    steps.take(nodes.bit_count())
    number = 0
    while nodes:
        number += 1
        common = nodes
        while common:
            lowest = common & -common
            nodes ^= lowest
            common &= joined[lowest.bit_length() - 1]
    return number


def _deciding(union: int, joined: Sequence[int], steps: Steps) -> int:
    """The candidate to decide next: of one component, so that components are finished one after the other.

    One with many rivals takes the component apart; where nobody has more than two, it is a path or a ring, which is
    walked from one end.
    """
    component, fresh = 0, union & -union
    rivals: dict[int, int] = {}
    while fresh:
        lowest = fresh & -fresh
        component |= lowest
        node = lowest.bit_length() - 1
        rivals[node] = (joined[node] & union).bit_count()
        fresh = (fresh | joined[node] & union) & ~component
    steps.take(len(rivals))
    most = max(rivals.values())
    return min(rivals, key=lambda node: (-rivals[node] if most > 2 else rivals[node], node))


def _union(groups: Groups) -> int:
    return functools.reduce(operator.or_, (candidates for candidates, _ in groups), 0)


# -- groups whose nodes may be adjacent ---------------------------------------------------------------


def counted(groups: Groups, steps: Steps) -> bool:
    """Whether each group can have its number of candidates, no candidate chosen twice (augmenting paths)."""
    taken = [0] * len(groups)
    unused = _union(groups)
    for number, (candidates, need) in enumerate(groups):
        free = list(itertools.islice(nodes_of(candidates & unused), need))
        taken[number] = sum(1 << node for node in free)
        unused &= ~taken[number]
        for _ in range(need - len(free)):
            gained = _exchange(number, groups, taken, unused, steps)
            if not gained:
                return False
            unused ^= gained
    return True


def _exchange(number: int, groups: Groups, taken: list[int], unused: int, steps: Steps) -> int:
    """Gives a group one candidate more, perhaps another group's, which then gets another one, and so on.

    Returns the candidate that was unused before (as a set), 0 where there is none.
    """
    receiver = {number: number}  # group -> the group that gets a candidate from it
    queue = [number]
    for group in queue:
        steps.take(len(groups))
        gained = groups[group][0] & unused
        if gained:
            gained &= -gained
            moved = gained
            while True:
                taken[group] |= moved
                if group == number:
                    return gained
                after = receiver[group]
                moved = taken[group] & groups[after][0] & ~moved
                moved &= -moved
                taken[group] ^= moved
                group = after
        for other, held in enumerate(taken):
            if other not in receiver and held & groups[group][0]:
                receiver[other] = group
                queue.append(other)
    return 0
