"""How a motif is looked for: which of its nodes are placed one by one, and which are only counted.

A few nodes that touch every edge, the core, are placed first. Whatever is left has edges to the core alone, so that
once the core has its place, nodes with the same type and the same edges to the core are interchangeable: such a group
only needs enough candidates. This keeps stars and other motifs full of twins from being tried in every order.

Nothing is recursive, so that large motifs do not exhaust the stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dignn.selection.motifs.groups import Steps, counted, independent

# Steps that it takes to try a node for a slot of the core; looking at a candidate for a group is one.
_PLACING = 5


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
    open_ends = joined.sum(1)  # of each node, the edges that nothing in the core touches
    inside = np.zeros(len(joined), dtype=bool)
    beside = inside.copy()
    core: list[int] = []
    while open_ends.any():
        near = beside & (open_ends > 0)
        options = np.flatnonzero(near if near.any() else open_ends)
        options = options[open_ends[options] == open_ends[options].max()]
        node = int(options[signature[options].argmin()])
        core.append(node)
        inside[node] = True
        open_ends = np.where(inside, 0, open_ends - joined[node])
        beside |= joined[node]
    return core


def fill(plan: Plan, domains: Sequence[int], tables: Sequence[Sequence[int]], joined: Sequence[int] | None) -> bool:
    """Whether a graph has nodes for every slot. Sets of nodes are integers, bit v for node v.

    Args:
        domains: per slot, the nodes that come into question.
        tables: [pair][v] the nodes, without v, that may stand to node v as the pair of relations says.
        joined: [v] neighbours of v, without v, where nodes of the tail must not be adjacent (induced); None where they
            may.

    Raises:
        DignnError: if that takes too many steps.
    """
    steps, tail = Steps(sum(plan.needs)), range(plan.core, len(plan.needs))
    needs = plan.needs

    def finished(here: Sequence[int]) -> bool:
        groups = tuple((here[slot], needs[slot]) for slot in tail)
        return counted(groups, steps) if joined is None else independent(groups, joined, steps)

    if not plan.core:
        return finished(domains)
    # candidates not yet tried for a slot, the slot, the core slots that come after it, and the domains before it
    first = _smallest(list(range(plan.core)), domains)
    stack = [(domains[first], first, [slot for slot in range(plan.core) if slot != first], list(domains))]
    while stack:
        candidates, slot, rest, here = stack.pop()
        pairs, open_slots = plan.pairs[slot], [*rest, *tail]
        tried = 0
        while candidates:
            lowest = candidates & -candidates
            candidates ^= lowest
            node = lowest.bit_length() - 1
            tried += 1
            narrowed = here.copy()
            for other in open_slots:
                there = narrowed[other] & tables[pairs[other]][node]
                if there.bit_count() < needs[other]:
                    break
                narrowed[other] = there
            else:
                if rest:
                    stack.append((candidates, slot, rest, here))
                    after = _smallest(rest, narrowed)
                    stack.append((narrowed[after], after, [other for other in rest if other != after], narrowed))
                    break
                if finished(narrowed):
                    return True
        steps.take(_PLACING * tried)
    return False


def _smallest(slots: list[int], domains: Sequence[int]) -> int:
    """The slot with the fewest candidates."""
    return slots[0] if len(slots) == 1 else min(slots, key=lambda slot: domains[slot].bit_count())
