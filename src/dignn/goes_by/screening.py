"""Which predicates are worth a look: those that tell what a model says of some places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csc_array

from dignn.goes_by.places import Places
from dignn.goes_by.predicate_families import Family, counted, families, ring_families, wheres
from dignn.goes_by.predicates import Predicate, truth
from dignn.goes_by.quantities import Count, counts
from dignn.goes_by.traits import Holds
from dignn.goes_by.where import Around, Where

# Places that a predicate is true of, and false of, at least; and of some class this share.
_LEAST, _LEAST_SHARE = 5, 0.02
# Predicates kept for each class, for all classes together.
_PER_CLASS, _TOGETHER = 800, 16000
# Plain predicates that are kept whatever they tell, since they may tell something together.
_PLAIN = 150
# Traits of one kind that are counted together.
_GROUP_SIZES = (3, 5, 8, 12, 20, 30)


@dataclass(frozen=True, eq=False)
class Screened:
    """Predicates that tell something, simplest first, and none twice or beside its negation.

    Args:
        predicates: p of them.
        true: (m, p) bool, of which places they are true.
        tells: (C, p) how surely each is true of a class rather than of others, from -1 to 1.
        places: the m places.
    """

    predicates: list[Predicate]
    true: np.ndarray
    tells: np.ndarray
    places: Places


@dataclass(frozen=True, eq=False)
class _Part:
    """The best of a family, by class."""

    family: Family
    tells: np.ndarray  # (C, p)


def screened(places: Places, classes: np.ndarray, number: int) -> Screened:
    """Predicates that tell the classes of some places apart.

    Args:
        places: m places.
        classes: (m,) what a model says they are.
        number: how many classes there are.
    """
    shares = _class_shares(classes, number)
    most = max(20, min(_PER_CLASS, _TOGETHER // max(1, number)))
    parts = [_best(family, shares, most) for where in wheres(places) for family in families(places, where)]
    parts += [_best(family, shares, most) for family in ring_families(places)]
    parts += [_best(family, shares, most) for family in _groups(places, parts)]
    return _joined(parts, most, places)


def joined_by(known: Screened, further: Sequence[Predicate], classes: np.ndarray, number: int) -> Screened:
    """With further predicates of which some places are true, whatever they tell.

    Args:
        known: predicates of the same places.
        further: those that are known already are not added.
        classes, number: as above.
    """
    there = set(known.predicates)
    new = [predicate for predicate in dict.fromkeys(further) if predicate not in there]
    if not new:
        return known
    true = truth(known.places, new)
    shares = _class_shares(classes, number)
    tells = _tells(shares.T @ true, shares.sum(0) > 0)
    return replace(
        known,
        predicates=[*known.predicates, *new],
        true=np.concatenate([known.true, true], axis=1),
        tells=np.concatenate([known.tells, tells], axis=1),
    )


def exactly(known: Screened, predicates: Sequence[Predicate], classes: np.ndarray, number: int) -> Screened:
    """The same places with these predicates alone; arguments are those of :func:`joined_by`."""
    count = len(known.places)
    none = replace(known, predicates=[], true=np.zeros((count, 0), dtype=bool), tells=np.zeros((number, 0)))
    return joined_by(none, predicates, classes, number)


def _class_shares(classes: np.ndarray, number: int) -> np.ndarray:
    """(m, C) weights that make the mean over each class; 0 for a class without places."""
    own = np.eye(number)[classes]
    return own / np.maximum(own.sum(0), 1)


def _best(family: Family, shares: np.ndarray, most: int) -> _Part:
    """Those of a family that some class has, and of these the ones that tell most, for each class so many."""
    true = family.true
    times = np.diff(true.indptr)
    there = shares.sum(0) > 0
    share = (true.T.astype(np.float64) @ shares).T  # (C, p)
    enough = (times >= _LEAST) & (times <= true.shape[0] - _LEAST)
    if there.any():
        enough &= (share[there].max(0) >= _LEAST_SHARE) & (share[there].min(0) <= 1 - _LEAST_SHARE)
    tells = _tells(share, there)
    kept = _top(np.where(enough, np.abs(tells), -1.0), most)
    return _Part(Family([family.predicates[place] for place in kept], csc_array(true[:, kept])), tells[:, kept])


def _tells(share: np.ndarray, there: np.ndarray) -> np.ndarray:
    """(C, p) correlation with each class, all classes with places being equally frequent.  share: (C, p) in classes"""
    count = max(2, int(there.sum()))
    mean = share.sum(0) / count
    deviation = np.sqrt(np.maximum(mean * (1 - mean), 1e-9)) * np.sqrt((count - 1) / count**2)
    return np.where(there[:, None], (share - mean) / count / deviation, 0.0)


def _top(worth: np.ndarray, most: int) -> np.ndarray:
    """Places that are among the best of some line, in order; none that are worth less than 0.  worth: (C, p)"""
    if worth.shape[1] <= most:
        return np.flatnonzero((worth >= 0).any(0))
    chosen = np.argsort(-worth, axis=1, kind="stable")[:, :most]
    kept = np.unique(chosen)
    return kept[(worth[:, kept] >= 0).any(0)]


def _groups(places: Places, parts: list[_Part]) -> Iterator[Family]:
    """Traits of one kind that go with the same class, counted together."""
    traits: dict[Where, list[tuple[Holds, np.ndarray]]] = {}
    for part in parts:
        for predicate, tells in zip(part.family.predicates, part.tells.T, strict=True):
            quantity = predicate.quantity
            if isinstance(quantity, Count) and predicate.above == 0.5 and len(quantity.traits) == 1:
                (trait,) = quantity.traits
                if isinstance(trait, Holds) and trait.test == "is":
                    traits.setdefault(quantity.where, []).append((trait, tells))
    for where, known in traits.items():
        told = np.stack([tells for _, tells in known])  # (t, C)
        groups: dict[tuple[Holds, ...], None] = {}
        for number in range(told.shape[1]):
            order = np.argsort(-told[:, number], kind="stable")
            order = order[told[order, number] > 0]
            for size in _GROUP_SIZES:
                if len(order) >= size:
                    chosen = order[:size]
                    groups[tuple(known[place][0] for place in chosen)] = None
        if groups:
            several = list(groups)
            yield counted([Count(where, group) for group in several], counts(places, where, several))


def _joined(parts: list[_Part], most: int, places: Places) -> Screened:
    """The best of all families, without those that are true of the same places as a simpler one, or of all others."""
    count = len(places)
    predicates = [predicate for part in parts for predicate in part.family.predicates]
    if not predicates:
        return Screened([], np.zeros((count, 0), dtype=bool), np.zeros((0, 0)), places)
    tells = np.concatenate([part.tells for part in parts], axis=1)
    rows = [column for part in parts for column in _columns(part.family.true)]
    seen: set[bytes] = set()
    different = []
    for place, column in enumerate(rows):
        name = _told_apart(column, count)
        if name not in seen:
            seen.add(name)
            different.append(place)
    share = np.array([len(rows[place]) / count for place in different])
    plain = np.array([is_plain(predicates[place]) for place in different])
    others = np.argsort(-np.where(plain, share * (1 - share), -1.0), kind="stable")[:_PLAIN]
    best = _top(np.abs(tells[:, different]), most)
    kept = np.array(different)[np.union1d(best, others[plain[others]])]
    table = np.zeros((count, len(kept)), dtype=bool)
    for number, place in enumerate(kept):
        table[rows[place], number] = True
    return Screened([predicates[place] for place in kept], table, tells[:, kept], places)


def _told_apart(rows: np.ndarray, count: int) -> bytes:
    """The same for all predicates that divide ``count`` places in the same two parts.  rows: of which one is true"""
    true = np.zeros(count, dtype=bool)
    true[rows] = True
    return np.packbits(true ^ true[:1]).tobytes()


def _columns(true: csc_array) -> list[np.ndarray]:
    """Of each column the rows that are true, ascending."""
    true.sort_indices()
    return np.split(true.indices.astype(np.int64), true.indptr[1:-1]) if true.shape[1] else []


def is_plain(predicate: Predicate) -> bool:
    """Whether it looks at one thing, of the place itself or beside it."""
    quantity = predicate.quantity
    if not isinstance(quantity, Count) or len(quantity.traits) > 1:
        return False
    return not isinstance(quantity.where, Around) or quantity.where.distance in (None, 0, 1)
