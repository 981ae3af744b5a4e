"""How a motif is looked for: which of its nodes are placed one by one, and which are only counted.

A few nodes that touch every edge, the core, are placed first. Whatever is left has edges to the core alone, so that
once the core has its place, nodes with the same type and the same edges to the core are interchangeable: such a group
only needs enough candidates. This keeps stars and other motifs full of twins from being tried in every order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Plan:
    """Slots to be filled by nodes of a graph; plans that are equal describe the same motif.

    Args:
        signatures: per slot, the number of the signature that says which nodes come into question.
        needs: per slot, how many nodes it takes: 1 in the core.
        pairs: [core slot][slot] number of the pair of relations between the two.
        core: how many slots, the first ones, are the core.
    """

    signatures: tuple[int, ...]
    needs: tuple[int, ...]
    pairs: tuple[tuple[int, ...], ...]
    core: int


def make_plan(signature: np.ndarray, pair: np.ndarray, joined: np.ndarray) -> Plan:
    """The plan of a motif of n nodes.

    Args:
        signature: (n,) number of each node's signature.
        pair: (n, n) number of the pair of relations from the first node to the second and back.
        joined: (n, n) whether two nodes are adjacent; the diagonal is False.
    """
    core = _core(signature, joined)
    groups: dict[tuple[int, ...], int] = {}
    for node in sorted(set(range(len(signature))) - set(core)):
        key = (int(signature[node]), *(int(pair[member, node]) for member in core))
        groups[key] = groups.get(key, 0) + 1
    tail = sorted(groups)
    return Plan(
        signatures=(*(int(signature[node]) for node in core), *(key[0] for key in tail)),
        needs=(*(1 for _ in core), *(groups[key] for key in tail)),
        pairs=tuple(
            (*(int(pair[member, other]) for other in core), *(key[1 + place] for key in tail))
            for place, member in enumerate(core)
        ),
        core=len(core),
    )


def _core(signature: np.ndarray, joined: np.ndarray) -> list[int]:
    """Nodes that touch every edge, each beside an earlier one where possible: the one with most new edges first."""
    left = joined.copy()
    beside = np.zeros(len(joined), dtype=bool)
    core: list[int] = []
    while left.any():
        new = left.sum(1)
        options = np.flatnonzero(beside & (new > 0)) if (beside & (new > 0)).any() else np.flatnonzero(new)
        node = int(min(options, key=lambda option: (-new[option], signature[option])))
        core.append(node)
        left[node] = left[:, node] = False
        beside |= joined[node]
    return core


def fill(plan: Plan, domains: Sequence[int], tables: Sequence[Sequence[int]], joined: Sequence[int] | None) -> bool:
    """Whether a graph has nodes for every slot. Sets of nodes are integers, bit v for node v.

    Args:
        domains: per slot, the nodes that come into question.
        tables: [pair][v] the nodes, without v, that may stand to node v as the pair of relations says.
        joined: [v] neighbours of v, where nodes of the tail must not be adjacent (induced); None where they may.
    """
    return _place(plan, list(range(plan.core)), list(domains), tables, joined)


def _place(
    plan: Plan, left: list[int], domains: list[int], tables: Sequence[Sequence[int]], joined: Sequence[int] | None
) -> bool:
    """Fills the core slots that are left, the one with the fewest candidates first, and then the tail."""
    if not left:
        tail = [(domains[slot], plan.needs[slot]) for slot in range(plan.core, len(plan.needs))]
        return _counted(tail) if joined is None else _independent(tail, joined)
    slot = left[0]
    if len(left) > 1:
        slot = min(left, key=lambda one: domains[one].bit_count())
    rest = [other for other in left if other != slot]
    open_slots = [*rest, *range(plan.core, len(plan.needs))]
    pairs, needs, candidates = plan.pairs[slot], plan.needs, domains[slot]
    while candidates:
        lowest = candidates & -candidates
        candidates ^= lowest
        node = lowest.bit_length() - 1
        narrowed = domains.copy()
        for other in open_slots:
            there = narrowed[other] & tables[pairs[other]][node]
            if there.bit_count() < needs[other]:
                break
            narrowed[other] = there
        else:
            if _place(plan, rest, narrowed, tables, joined):
                return True
    return False


def _independent(groups: list[tuple[int, int]], joined: Sequence[int]) -> bool:
    """Whether each group (candidates, number) can have its number of candidates, no two of all chosen adjacent.

    Groups differ in type or in edges to the core, and so have no candidate in common.
    """
    union, busy = 0, 0
    for candidates, _ in groups:
        union |= candidates
    rest = union
    while rest:  # candidates adjacent to other candidates; the others can be taken in any case
        lowest = rest & -rest
        rest ^= lowest
        if joined[lowest.bit_length() - 1] & union & ~lowest:
            busy |= lowest
    if not busy:
        return all(candidates.bit_count() >= need for candidates, need in groups)
    contested = [
        (candidates & busy, need - (candidates & ~busy).bit_count())
        for candidates, need in groups
        if need > (candidates & ~busy).bit_count()
    ]
    return _choose(contested, joined)


def _choose(groups: list[tuple[int, int]], joined: Sequence[int]) -> bool:
    """Takes or leaves one candidate after the other."""
    if any(candidates.bit_count() < need for candidates, need in groups):
        return False
    if not groups:
        return True
    (candidates, need), others = groups[0], groups[1:]
    lowest = candidates & -candidates
    around = ~(joined[lowest.bit_length() - 1] | lowest)
    taken = [(some & around, number) for some, number in others]
    if _choose([(candidates & around, need - 1), *taken] if need > 1 else taken, joined):
        return True
    return _choose([(candidates ^ lowest, need), *others], joined)


def _counted(groups: list[tuple[int, int]]) -> bool:
    """Whether each group can have its number of candidates, no candidate chosen twice (augmenting paths)."""
    wanted = [candidates for candidates, need in groups for _ in range(need)]
    owner: dict[int, int] = {}

    def place(number: int, seen: int) -> int | None:
        """Finds a candidate for one; returns None, or otherwise the candidates looked at in vain."""
        while free := wanted[number] & ~seen:
            lowest = free & -free
            seen |= lowest
            if lowest in owner:
                after = place(owner[lowest], seen)
                if after is not None:
                    seen = after
                    continue
            owner[lowest] = number
            return None
        return seen

    return all(place(number, 0) is None for number in range(len(wanted)))
