"""The edges of a view as cells of a typed adjacency: the one place that says what a simple typed graph can hold."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from dignn.errors import SchemaError
from dignn.schema import Relation, Schema
from dignn.view import View

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Cells:
    """Entries of the adjacency: ``edge[source, target] = relation``, sorted by (source, target), each pair once."""

    source: np.ndarray
    target: np.ndarray
    relation: np.ndarray


def cells_of(view: View, schema: Schema) -> Cells:
    """The edges of ``view`` as cells of an adjacency.

    Both directions of an edge are filled, except for a directed relation inside one type. Repeated edges are
    one edge, self-loops are dropped, and a cell holds one relation: an edge is dropped where an earlier relation
    of the schema has a cell that it needs. Dropped edges are counted in the log.
    """
    size = len(view.node_type)
    known = set(schema.edge_types)
    for edge_type in view.edges:
        if edge_type not in known:
            raise SchemaError(f"Edge type {edge_type} is not in the schema; it knows {sorted(known)}")
    none = np.empty(0, dtype=np.int64)
    keys, codes, loops, lost = [none], [none], 0, 0
    taken: dict[frozenset[str], np.ndarray] = {}  # by the types of the ends: others cannot meet
    for number, relation in enumerate(schema.relations, start=1):
        key, here = _keys(view, relation)
        loops += here
        ends = frozenset((relation.source, relation.target))
        earlier = taken.get(ends, none)
        free = np.ones(len(key), dtype=bool) if not len(earlier) else ~np.isin(key, earlier)
        if len(earlier) and not relation.directed:
            free &= ~np.isin(key % max(size, 1) * size + key // max(size, 1), earlier)
        dropped = int((~free).sum())
        lost += dropped if relation.directed else dropped // 2
        taken[ends] = np.concatenate([earlier, key[free]])
        keys.append(key[free])
        codes.append(np.full(int(free.sum()), number, dtype=np.int64))
    if lost:
        log.warning("%d edges join a pair of nodes that an earlier relation joins already; they were dropped", lost)
    if loops:
        log.warning("%d self-loops were dropped", loops)
    key, code = np.concatenate(keys), np.concatenate(codes)
    order = np.argsort(key)
    return Cells(key[order] // max(size, 1), key[order] % max(size, 1), code[order])


def _keys(view: View, relation: Relation) -> tuple[np.ndarray, int]:
    """Cells that the edges of a relation fill, as ``source * n + target``, and the number of its self-loops."""
    size = len(view.node_type)
    index = np.empty((2, 0), dtype=np.int64)
    for edge_type, step in zip(relation.edge_types, (1, -1), strict=False):
        if edge_type in view.edges:
            index = np.concatenate([index, view.edges[edge_type][::step]], axis=1)
    if not relation.directed:
        index = np.concatenate([index, index[::-1]], axis=1)
    key = np.unique(index[0] * size + index[1])
    loop = key // max(size, 1) == key % max(size, 1)
    return key[~loop], int(loop.sum())
