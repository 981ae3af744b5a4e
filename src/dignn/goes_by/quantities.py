"""Quantities: numbers that every place has, by what is around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from dignn.goes_by.places import Places
from dignn.goes_by.traits import Trait
from dignn.goes_by.where import Where
from dignn.graphs.feature_matrix import CELLS


@dataclass(frozen=True)
class Count:
    """How many nodes or edges there are somewhere, or of how many pairs of one of them and a trait the trait is true.

    Args:
        where: of which nodes or edges.
        traits: any of them counts; none where nodes or edges themselves are counted.
    """

    where: Where
    traits: tuple[Trait, ...] = ()

    def __hash__(self) -> int:
        return self._hash  # asked over and over again, of traits within traits

    @cached_property
    def _hash(self) -> int:
        return hash((self.where, self.traits))

    def __getstate__(self) -> dict[str, object]:
        """Without the hash, which is another one in another process."""
        return {"where": self.where, "traits": self.traits}


@dataclass(frozen=True)
class Mean:
    """The mean of a column over nodes or edges, of those whose value is not missing; NaN where there is none.

    Args:
        where: of which nodes or edges.
        column: number of the column.
    """

    where: Where
    column: int


@dataclass(frozen=True)
class Rings:
    """How many chordless cycles of a kind go through the classified node, or are in the graph.

    Args:
        types: the types of all their nodes, sorted by their order in the schema.
    """

    types: tuple[str, ...]


Quantity = Count | Mean | Rings


def amounts(places: Places, quantities: Sequence[Quantity]) -> np.ndarray:
    """(m, q) how much there is of each quantity at each place."""
    found = np.zeros((len(places), len(quantities)), dtype=np.float32)
    groups: dict[tuple[type, object], list[int]] = {}
    for number, quantity in enumerate(quantities):
        groups.setdefault((type(quantity), getattr(quantity, "where", None)), []).append(number)
    for (kind, where), numbers in groups.items():
        some = [quantities[number] for number in numbers]
        if kind is Count:
            found[:, numbers] = counts(places, where, [one.traits for one in some]).toarray()  # type: ignore
        elif kind is Mean:
            found[:, numbers] = means(places, where, [one.column for one in some])  # type: ignore
        else:
            found[:, numbers] = _rings(places, some)  # type: ignore
    return found


def counts(places: Places, where: Where, several: Sequence[tuple[Trait, ...]]) -> csr_array:
    """(m, n) for each of n sets of traits, of how many pairs of an item and a trait it is true."""
    distinct = list(dict.fromkeys(trait for traits in several for trait in traits))
    number = {trait: place for place, trait in enumerate(distinct)}
    around = places.around(where)
    if len(distinct) == len(several) and all(len(traits) == 1 for traits in several):
        return csr_array(around @ places.traits(where, distinct))
    items = places.items(where)
    there = csr_array((np.ones(len(items), np.float32), (items, np.zeros(len(items), int))), shape=(around.shape[1], 1))
    rows = [number[trait] for traits in several for trait in traits]
    columns = [place for place, traits in enumerate(several) for _ in traits]
    shape = (len(distinct), len(several))
    found = csr_array(around.shape[:1] + shape[1:], dtype=np.float32)
    if distinct:
        which = csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
        found = found + around @ places.traits(where, distinct) @ which
    plain = [place for place, traits in enumerate(several) if not traits]
    if plain:
        which = csr_array((np.ones(len(plain), np.float32), ([0] * len(plain), plain)), shape=(1, len(several)))
        found = found + around @ there @ which
    return csr_array(found)


def means(places: Places, where: Where, columns: Sequence[int]) -> np.ndarray:
    """(m, n) means of n columns over the items that have a value."""
    place, values = places.values(where, columns)
    around = places.around(where)[:, places.items(where)]
    found = np.full((len(places), len(columns)), np.nan, dtype=np.float32)
    at_once = max(1, CELLS // max(1, len(place)))
    for begin in range(0, len(columns) if values.shape[0] else 0, at_once):
        some = slice(begin, begin + at_once)
        table = values[:, some].toarray()[place]
        known = ~np.isnan(table)
        number = around @ known.astype(np.float32)
        # in double precision, so that equal means are equal, whatever the order
        total = around @ np.where(known, table, 0).astype(np.float64)
        found[:, some] = np.divide(total, number, out=np.full(number.shape, np.nan), where=number > 0)
    return found


def _rings(places: Places, quantities: Sequence[Rings]) -> np.ndarray:
    found = np.zeros((len(places), len(quantities)), dtype=np.float32)
    for length in sorted({len(quantity.types) for quantity in quantities}):
        kinds, at = places.rings_at(length)
        for number, quantity in enumerate(quantities):
            if len(quantity.types) == length:
                wanted = [places.schema.type_index(name) for name in quantity.types]
                found[:, number] = at @ (kinds == sorted(wanted)).all(1).astype(np.float32)
    return found
