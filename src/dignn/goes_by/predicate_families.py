"""All predicates that the words of a schema make, of which some places are true.

They come in families, all of one kind together as one sparse matrix, so that whoever screens them never holds all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array

from dignn.evidence.cycles import LONGEST_CYCLE
from dignn.goes_by.places import Places
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count, Mean, Quantity, Rings, counts, means
from dignn.goes_by.traits import Holds, Shaped, Trait
from dignn.goes_by.where import Around, Edges, Step, Where, paths_of, steps_of
from dignn.graphs.feature_spec import ColumnKind, FeatureSpec

# Steps up to which structure, and up to which features, are looked at.
_FAR, _NEAR = 3, 2
# Numbers that may be "at least so many".
_LADDER = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
# Most neighbours that a node is told to have at least.
_MOST_NEIGHBOURS = 5
# Thresholds of a continuous column of the place itself, and of others; of a table together.
_OWN_LEVELS, _OTHER_LEVELS, _MOST_LEVELS = 9, 5, 3000
# Columns of counts up to which their means are looked at.
_FEW_COUNTS = 50
# Paths of so many steps that are looked at, at most; of more those that are walked most.
_MOST_PATHS = 250
# Different values of a category or an id that are looked at.
_MOST_VALUES = 50


@dataclass(frozen=True, eq=False)
class Family:
    """Predicates, and of which places they are true: (m, p) bool."""

    predicates: list[Predicate]
    true: csc_array


# -- families -----------------------------------------------------------------------------------------


def wheres(places: Places) -> list[Where]:
    """Everywhere that predicates look, nearest first."""
    schema = places.schema
    edges = list(schema.generated_edges)
    if schema.task.of_graphs:
        return [*(Around(name, None) for name in schema.node_types), *(Edges(label, True) for label in edges)]
    starts = [name for name, mine in zip(schema.node_types, schema.task.types(schema.node_types), strict=True) if mine]
    found: list[Where] = [Around(name, 0) for name in starts]
    found += [Edges(label) for label in edges]
    ends = {step: to for step, (_, to) in steps_of(schema).items()}
    for distance in range(1, _FAR + 1):
        found += [Around(name, distance) for name in schema.node_types]
        if distance <= _NEAR:
            paths = dict.fromkeys(path for start in starts for path in paths_of(schema, start, distance))
            found += [Around(ends[path[-1]], distance, path) for path in _walked(places, list(paths))]
    return found


def _walked(places: Places, paths: Sequence[tuple[Step, ...]]) -> list[tuple[Step, ...]]:
    """Paths of a step or two that can be walked from some place, in order: of many those that are walked most.

    Walks are counted by products of vectors, since there may be as many paths as relations squared.
    """
    arrived = {step: places.stepped(step).sum(0) for step in dict.fromkeys(path[0] for path in paths)}
    last = dict.fromkeys(path[-1] for path in paths if arrived[path[0]].any())
    onward = {step: places.degree(step) for step in last}
    walks = np.zeros(len(paths))
    for number, path in enumerate(paths):
        if path[-1] in onward:
            walks[number] = arrived[path[0]].sum() if len(path) == 1 else arrived[path[0]] @ onward[path[-1]]
    most = np.sort(np.argsort(-walks, kind="stable")[:_MOST_PATHS])
    return [paths[number] for number in most.tolist() if walks[number] > 0]


def families(places: Places, where: Where) -> Iterator[Family]:
    """All predicates that look at one place."""
    around = places.around(where)
    if not around.nnz or not len(places.items(where)):
        return
    own = isinstance(where, Around) and where.own
    if isinstance(where, Around):
        shapes = _shapes(places, where)
        if not own:
            yield _of_traits(places, where, [()])
        yield _of_traits(places, where, [(shape,) for shape in shapes])
        if where.distance is not None and where.distance > _NEAR:
            return
        spec = places.schema.spec(where.node_type)
    else:
        spec = places.schema.edge_features_by_label[where.relation].spec
    if spec.generated:
        traits = list(column_traits(places, where, spec, own))
        if traits:
            yield _of_traits(places, where, [(trait,) for trait in traits])
        if not own and (numeric := _averaged_columns(spec)):
            yield _averaged(where, numeric, means(places, where, numeric))


_SCALES = (ColumnKind.CONTINUOUS, ColumnKind.DATE)
_VALUES = (ColumnKind.CATEGORICAL, ColumnKind.IDENTITY)
_FLAGS = (ColumnKind.BINARY, ColumnKind.ONE_HOT)


def _averaged_columns(spec: FeatureSpec) -> list[int]:
    """Columns on a scale; counts as well, unless they are many, as those of words."""
    kinds = _SCALES if len(spec.of_kind(ColumnKind.COUNT)) > _FEW_COUNTS else (*_SCALES, ColumnKind.COUNT)
    return spec.of_kind(*kinds)


def _shapes(places: Places, where: Around) -> list[Trait]:
    """Traits of structure that nodes there may have; what is said of the place itself otherwise is left out."""
    own = where.own
    found: list[Trait] = [Shaped("cycle", length) for length in (0, *range(3, LONGEST_CYCLE + 1))]
    steps = [step for step, (of, _) in steps_of(places.schema).items() if of == where.node_type]
    if own:
        return found
    found += [Shaped("leaf"), *(Shaped("neighbours", number) for number in range(2, _MOST_NEIGHBOURS + 1))]
    if len(steps) > 1:
        found += [Shaped("neighbours", number, step) for step in steps for number in range(1, _MOST_NEIGHBOURS + 1)]
    return found


def column_traits(places: Places, where: Where, spec: FeatureSpec, own: bool) -> Iterator[Holds]:
    """What columns there may hold, by their kinds and by the values that are there."""
    place, values = places.values(where)
    seen = np.unique(place[np.unique(places.around(where)[:, places.items(where)].indices)])
    table = values[seen].tocsc()
    numeric = sum(kind in _SCALES for kind in spec.kinds)
    levels = max(1, min(_OWN_LEVELS if own else _OTHER_LEVELS, _MOST_LEVELS // max(1, numeric)))
    missing = set(spec.missing)
    largest = table.max(axis=0).toarray() if table.shape[0] else np.zeros(spec.width)
    there = np.diff(table.indptr) > 0
    for column in np.flatnonzero(there).tolist():
        kind = spec.kinds[column]
        if kind in _FLAGS or (kind is ColumnKind.IDENTITY and spec.columns is None):
            yield Holds(column)
        elif kind is ColumnKind.COUNT and column not in missing:
            yield from (Holds(column, "above", least - 0.5) for least in _LADDER if least <= largest[column])
        elif kind is not ColumnKind.CONSTANT:
            entries = table.data[table.indptr[column] : table.indptr[column + 1]]
            known = entries[~np.isnan(entries)]
            for value in _levels(known, table.shape[0] - len(entries), kind, levels):
                yield Holds(column, "is" if kind in _VALUES else "above", value)
        if column in missing:
            yield Holds(column, "missing")


def _levels(known: np.ndarray, zeros: int, kind: ColumnKind, number: int) -> list[float]:
    """Values that a column is compared with, of those that are not 0 and how often it is."""
    if not len(known):
        return []
    if kind in _VALUES:
        value, times = np.unique(np.append(known, np.zeros(zeros, known.dtype)), return_counts=True)
        return sorted(value[np.lexsort((value, -times))[:_MOST_VALUES]].tolist())
    if kind is ColumnKind.COUNT:
        largest = known.max()
        return [number - 0.5 for number in _LADDER if number <= largest]
    return _quantiles(known, zeros, number)


def _quantiles(known: np.ndarray, zeros: int, number: int) -> list[float]:
    """Between which values equally many lie, none of them the largest, of those that are not 0 and how often it is."""
    total = len(known) + zeros
    if not total:
        return []
    known = np.sort(known)
    below = int(np.searchsorted(known, 0))
    rank = np.arange(1, number + 1) * (total - 1) // (number + 1)
    place = np.where(rank < below, rank, rank - zeros)
    here = (rank < below) | (rank >= below + zeros)
    found = np.where(here, known[place.clip(0, max(len(known) - 1, 0))] if len(known) else 0, 0)
    largest = max(known[-1] if len(known) else 0, 0) if zeros else known[-1]
    return sorted({value for value in found.astype(np.float32).tolist() if value < largest})


def _of_traits(places: Places, where: Where, several: Sequence[tuple[Trait, ...]]) -> Family:
    return counted([Count(where, traits) for traits in several], counts(places, where, several))


def counted(quantities: Sequence[Quantity], number: csr_array) -> Family:
    """At least so many of each, for all numbers that say something new.  number: (m, q)"""
    table = number.tocsc()
    table.sort_indices()
    column = np.repeat(np.arange(table.shape[1]), np.diff(table.indptr))
    predicates: list[Predicate] = []
    rows, which = [], []
    before = np.full(table.shape[1], -1)
    for least in _LADDER:
        enough = table.data > least - 0.5
        times = np.bincount(column[enough], minlength=table.shape[1])
        new = np.flatnonzero((times > 0) & (times != before))
        if not times.any():
            break
        before = times
        place = np.full(table.shape[1], -1)
        place[new] = len(predicates) + np.arange(len(new))
        here = enough & (place[column] >= 0)
        rows.append(table.indices[here])
        which.append(place[column[here]])
        predicates += [Predicate(quantities[each], least - 0.5) for each in new.tolist()]
    return Family(predicates, _matrix(rows, which, (table.shape[0], len(predicates))))


def _averaged(where: Where, columns: Sequence[int], mean: np.ndarray) -> Family:
    """The mean is above some level."""
    levels = max(1, min(_OTHER_LEVELS, _MOST_LEVELS // max(1, len(columns))))
    predicates: list[Predicate] = []
    rows, which = [], []
    for column, values in zip(columns, np.ascontiguousarray(mean.T), strict=True):
        (entries,) = values.nonzero()  # NaN is one
        there = values[entries]
        known = there[~np.isnan(there)]
        for level in _quantiles(known, len(values) - len(entries), levels):
            rows.append(entries[there > level] if level >= 0 else np.flatnonzero(values > level))
            which.append(np.full(len(rows[-1]), len(predicates)))
            predicates.append(Predicate(Mean(where, column), level))
    return Family(predicates, _matrix(rows, which, (len(mean), len(predicates))))


def _matrix(rows: Sequence[np.ndarray], which: Sequence[np.ndarray], shape: tuple[int, int]) -> csc_array:
    if not rows:
        return csc_array(shape, dtype=bool)
    row, column = np.concatenate(rows), np.concatenate(which)
    return csc_array((np.ones(len(row), dtype=bool), (row, column)), shape=shape)


def ring_families(places: Places) -> Iterator[Family]:
    """Cycles through the place, or in the graph, by their types."""
    names = places.schema.node_types
    for length in range(3, LONGEST_CYCLE + 1):
        kinds, at = places.rings_at(length)
        if at.nnz:
            seen, which = np.unique(kinds, axis=0, return_inverse=True)
            to = csr_array((np.ones(len(kinds), np.float32), (np.arange(len(kinds)), which.reshape(-1))))
            yield counted([Rings(tuple(names[code] for code in kind)) for kind in seen.tolist()], csr_array(at @ to))
