"""The edges of a view as cells of a typed adjacency: the one place that says what a simple typed graph can hold."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from dignn.core.errors import SchemaError
from dignn.graphs.distinct_keys import among, distinct
from dignn.graphs.flattening import FlatGraphs
from dignn.graphs.schema import Relation, Schema

log = logging.getLogger(__name__)


# How many dropped edges of a kind are remembered as examples.
EXAMPLES = 16


@dataclass(frozen=True)
class Dropped:
    """Edges of a kind that a simple typed graph cannot hold.

    Args:
        count: how many there are.
        some: (k, 2) the ends of some of them.
    """

    count: int
    some: np.ndarray


@dataclass(frozen=True)
class TypedEdges:
    """Entries of the adjacency of n nodes, each pair of nodes once.

    Args:
        key: ``source * n + target`` of each entry, ascending.
        relation: ``edge[source, target]``.
        size: n.
        dropped: by kind (``self-loops``, ``parallel edges``, ``further relations``) what could not be held.
    """

    key: np.ndarray
    relation: np.ndarray
    size: int
    dropped: dict[str, Dropped] = field(default_factory=dict)

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Source and target of each entry."""
        return np.divmod(self.key, self.size)


def typed_edges_of(view: FlatGraphs, schema: Schema) -> TypedEdges:
    """The edges of ``view`` as cells of an adjacency.

    Both directions of an edge are filled, except for a directed relation inside one type. Repeated edges are
    one edge, self-loops are dropped, and a cell holds one relation: an edge is dropped where an earlier relation
    of the schema has a cell that it needs. Dropped edges are counted in the log.
    """
    size = view.keys.size
    known = set(schema.edge_types)
    for edge_type in view.edges:
        if edge_type not in known:
            raise SchemaError(f"Edge type {edge_type} is not in the schema; it knows {sorted(known)}")
    none = np.empty(0, dtype=np.int64)
    cells: list[tuple[int, np.ndarray]] = []  # by relation, the cells that it fills
    loops, repeated, further, lost = [none], [none], [none], 0
    taken: dict[frozenset[str], np.ndarray] = {}  # by the types of the ends: others cannot meet
    meeting = Counter(frozenset((relation.source, relation.target)) for relation in schema.relations)
    for number, relation in enumerate(schema.relations, start=1):
        runs, looped, parallel = _cells(view, relation)
        loops.append(looped)
        repeated.append(parallel)
        ends = frozenset((relation.source, relation.target))
        if meeting[ends] > 1:
            key = np.sort(np.concatenate(runs), kind="stable")
            free = _free(key, taken.get(ends, none), size, both_ways=not relation.directed)
            gone = int((~free).sum())
            lost += gone if relation.directed else gone // 2
            further.append(key[~free])
            runs = [key[free]]
            taken[ends] = np.sort(np.concatenate([taken.get(ends, none), *runs]), kind="stable")
        cells += [(number, run) for run in runs]
    if lost:
        log.warning("%d edges join a pair of nodes that an earlier relation joins already; they were dropped", lost)
    if any(map(len, loops)):
        log.warning("%d self-loops were dropped", sum(map(len, loops)))
    kinds = {"self-loops": loops, "parallel edges": repeated, "further relations": further}
    dropped = {name: np.concatenate(parts) for name, parts in kinds.items()}
    told = {
        name: Dropped(lost if parts is further else len(dropped[name]), _some(dropped[name], size))
        for name, parts in kinds.items()
        if len(dropped[name])
    }
    view.keys.forget()  # they are as large as the graph, and so is what is made of them
    runs = []
    return TypedEdges(*_merged(cells, len(schema.relations), size), size, told)


def _merged(cells: list[tuple[int, np.ndarray]], relations: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """All cells, ascending, and the relation of each, from the ascending cells of relations by their numbers.

    ``cells`` is emptied on the way, so that nothing is held twice.
    """
    codes = relations + 1
    if size * size * codes >= 2**63:
        raise SchemaError(
            f"{size:,} nodes with {relations} relations are more than can be numbered; give a part of them"
        )
    # Number of the cell and relation in one: cells are sorted in place, and what is sorted already is merged.
    key = np.empty(sum(len(own) for _, own in cells), dtype=np.int64)
    begin = 0
    while cells:
        number, own = cells.pop()
        part = key[begin : begin + len(own)]
        np.multiply(own, codes, out=part)
        part += number
        begin += len(own)
        del own
    key.sort(kind="stable")
    relation = np.empty(len(key), dtype=np.min_scalar_type(-codes))
    np.remainder(key, codes, out=relation, casting="unsafe")
    key //= codes
    return key, relation


def _free(key: np.ndarray, earlier: np.ndarray, size: int, *, both_ways: bool) -> np.ndarray:
    """(u,) which cells no earlier relation holds; with the cell of the way back where both are needed."""
    held = among(key, earlier)
    if both_ways and len(earlier):
        source, target = np.divmod(key, size)
        held |= among(target * size + source, earlier)
    return ~held


def _some(key: np.ndarray, size: int) -> np.ndarray:
    """(k, 2) the ends of some of the cells ``source * n + target``, evenly spread."""
    return np.stack(np.divmod(key[np.linspace(0, len(key) - 1, min(len(key), EXAMPLES)).astype(int)], size), axis=1)


def _cells(view: FlatGraphs, relation: Relation) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Cells that the edges of a relation fill, as ``source * n + target``, in ascending runs that do not meet; those on
    the diagonal; and repeated ones.
    """
    keys, none = view.keys, np.empty(0, dtype=np.int64)
    stored = [(name, step) for name, step in zip(relation.edge_types, (1, -1), strict=False) if name in view.edges]
    names = [name for name, _ in stored]
    tidy = all(map(keys.once, names)) and (len(names) < 2 or keys.opposite(*names))
    if tidy and names and (not relation.symmetric or keys.opposite(names[0], names[0])):
        forward = names[0] == relation.edge_type
        runs = [keys.of(names[0])[0] if forward or not relation.directed else keys.mirrored(names[0])]
        if relation.source != relation.target:
            runs.append(keys.of(names[1])[0] if len(names) > 1 else keys.mirrored(names[0]))
            return runs, none, none
        loop = runs[0] // keys.size == runs[0] % keys.size
        return ([runs[0][~loop]], runs[0][loop], none) if loop.any() else (runs, none, none)
    index = np.concatenate([np.empty((2, 0), dtype=np.int64), *(view.edges[name][::step] for name, step in stored)], 1)
    if not relation.directed:
        index = np.concatenate([index, index[::-1]], axis=1)
    key, times = distinct(index[0] * keys.size + index[1])
    loop = key // keys.size == key % keys.size
    once = 2 if relation.symmetric else len(stored)  # an edge that is there once stands in so many places
    return [key[~loop]], key[loop], key[~loop & (times > once)]
