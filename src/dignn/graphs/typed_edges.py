"""The edges of a view as cells of a typed adjacency: the one place that says what a simple typed graph can hold."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

import numpy as np

from dignn.core.errors import SchemaError
from dignn.graphs.distinct_keys import distinct
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
    """Entries of the adjacency: ``edge[source, target] = relation``, sorted by (source, target), each pair once.

    ``dropped`` tells by kind (``self-loops``, ``parallel edges``, ``further relations``) what could not be held.
    """

    source: np.ndarray
    target: np.ndarray
    relation: np.ndarray
    dropped: dict[str, Dropped] = field(default_factory=dict)


def typed_edges_of(view: FlatGraphs, schema: Schema) -> TypedEdges:
    """The edges of ``view`` as cells of an adjacency.

    Both directions of an edge are filled, except for a directed relation inside one type. Repeated edges are
    one edge, self-loops are dropped, and a cell holds one relation: an edge is dropped where an earlier relation
    of the schema has a cell that it needs. Dropped edges are counted in the log.
    """
    size = max(1, len(view.node_type))
    known = set(schema.edge_types)
    for edge_type in view.edges:
        if edge_type not in known:
            raise SchemaError(f"Edge type {edge_type} is not in the schema; it knows {sorted(known)}")
    none = np.empty(0, dtype=np.int64)
    keys, codes = [none], [none]
    loops, repeated, further, lost = [none], [none], [none], 0
    taken: dict[frozenset[str], np.ndarray] = {}  # by the types of the ends: others cannot meet
    for number, relation in enumerate(schema.relations, start=1):
        key, looped, parallel = _keys(view, relation)
        loops.append(looped)
        repeated.append(parallel)
        ends = frozenset((relation.source, relation.target))
        earlier = taken.get(ends, none)
        free = ~np.isin(key, earlier)
        if len(earlier) and not relation.directed:
            source, target = np.divmod(key, size)
            free &= ~np.isin(target * size + source, earlier)
        gone = int((~free).sum())
        lost += gone if relation.directed else gone // 2
        further.append(key[~free])
        taken[ends] = np.concatenate([earlier, key[free]])
        keys.append(key[free])
        codes.append(np.full(int(free.sum()), number, dtype=np.int64))
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
    key, code = np.concatenate(keys), np.concatenate(codes)
    order = np.argsort(key)
    return TypedEdges(*np.divmod(key[order], size), code[order], told)


def _some(key: np.ndarray, size: int) -> np.ndarray:
    """(k, 2) the ends of some of the cells ``source * n + target``, evenly spread."""
    return np.stack(np.divmod(key[np.linspace(0, len(key) - 1, min(len(key), EXAMPLES)).astype(int)], size), axis=1)


def _keys(view: FlatGraphs, relation: Relation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cells that the edges of a relation fill, as ``source * n + target``; those on the diagonal; and repeated ones."""
    size = max(1, len(view.node_type))
    stored = [(name, step) for name, step in zip(relation.edge_types, (1, -1), strict=False) if name in view.edges]
    index = np.concatenate([np.empty((2, 0), dtype=np.int64), *(view.edges[name][::step] for name, step in stored)], 1)
    if not relation.directed:
        index = np.concatenate([index, index[::-1]], axis=1)
    key, times = distinct(index[0] * size + index[1])
    loop = key // size == key % size
    once = 2 if relation.symmetric else len(stored)  # an edge that is there once stands in so many places
    return key[~loop], key[loop], key[~loop & (times > once)]
