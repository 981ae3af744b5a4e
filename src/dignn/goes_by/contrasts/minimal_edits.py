"""Undoes every edit that was not necessary."""

from __future__ import annotations

from collections.abc import Generator

import torch
from torch import Tensor

from dignn.goes_by.contrasts.answers import Answer
from dignn.goes_by.contrasts.differences import Differences
from dignn.goes_by.contrasts.joint_searches import Question

# Groups of edits that are tried one by one, where they can be made larger.
_MOST_GROUPS = 64
# How many of ordered groups are tried together.
_LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256, 512, 1024)

Group = list[int]


def minimal(differences: Differences) -> Generator[Question, Answer, Tensor]:
    """A smallest set of edits of which none may be undone, of edits that together are what is wanted.

    Columns of a node or an edge are tried together at first, then ever fewer of them. Each time the edits are put in
    the order in which they alone help, the first few that are enough are kept, and of these those are undone that are
    not missed, until every single one is.

    Returns:
        (edits,) bool, which are done.
    """
    groups = differences.by_part
    while True:
        groups = yield from _enough(differences, groups)
        groups = yield from _missed(differences, groups)
        if all(len(group) == 1 for group in groups):
            return _done(differences, [groups])[0]
        groups = _parted(groups)


def _enough(differences: Differences, groups: list[Group]) -> Generator[Question, Answer, list[Group]]:
    """The first groups, in the order in which each alone helps, that together are enough."""
    if len(groups) < 2:
        return groups
    alone = yield _question(differences, [[group] for group in groups])
    order = torch.argsort(alone.gap, stable=True).tolist()
    groups = [groups[place] for place in order]
    lengths = [length for length in _LENGTHS if length < len(groups)]
    together = yield _question(differences, [groups[:length] for length in lengths])
    enough = together.ok.nonzero()[:, 0].tolist()
    return groups[: lengths[enough[0]]] if enough else groups


def _missed(differences: Differences, groups: list[Group]) -> Generator[Question, Answer, list[Group]]:
    """The groups without those that are not necessary; each that is left is."""
    while groups:
        tried = [groups[:place] + groups[place + 1 :] for place in range(len(groups))]
        answer = yield _question(differences, tried)
        spare = answer.ok.nonzero()[:, 0]
        if not len(spare):
            return groups
        spare = spare[torch.argsort(answer.margin[spare], descending=True, stable=True)]
        lengths = [length for length in _LENGTHS if 1 < length < len(spare)]
        lengths += [len(spare)] if len(spare) > 1 else []
        several = [_without(groups, spare[:length]) for length in lengths]
        undone = 1
        if several:
            answer = yield _question(differences, several)
            fine = answer.ok.nonzero()[:, 0].tolist()
            undone = lengths[fine[-1]] if fine else 1
        groups = _without(groups, spare[:undone])
    return groups


def _parted(groups: list[Group]) -> list[Group]:
    """Groups in smaller pieces: as many as are tried at once, and at least two of each that has several edits."""
    pieces = max(2, _MOST_GROUPS // len(groups))
    found = []
    for group in groups:
        step = -(-len(group) // pieces)
        found += [group[start : start + step] for start in range(0, len(group), step)]
    return found


def _without(groups: list[Group], places: Tensor) -> list[Group]:
    gone = set(places.tolist())
    return [group for place, group in enumerate(groups) if place not in gone]


def _question(differences: Differences, several: list[list[Group]]) -> Question:
    return Question(differences.apply(_done(differences, several)))


def _done(differences: Differences, several: list[list[Group]]) -> Tensor:
    """(n, edits) bool of several sets of groups."""
    done = torch.zeros(len(several), len(differences), dtype=torch.bool)
    for number, groups in enumerate(several):
        done[number, [edit for group in groups for edit in group]] = True
    return done
