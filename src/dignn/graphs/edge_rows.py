"""The rows that edges carry, one for each edge of an adjacency, however its data stores the two directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dignn.core.errors import SchemaError
from dignn.graphs.column_checks import check_rows
from dignn.graphs.distinct_keys import distinct
from dignn.graphs.edge_features import EdgeField
from dignn.graphs.edge_tables import NO_ROW
from dignn.graphs.flattening import FlatGraphs
from dignn.graphs.relation import EdgeType, Relation
from dignn.graphs.schema import Schema
from dignn.graphs.typed_edges import TypedEdges


@dataclass(frozen=True)
class EdgeRows:
    """Rows of all cells of an adjacency.

    Args:
        row: (cells,) the row of each cell in the table of its relation; -1 where that has none.
        tables: rows by the relation's label, (edges, d) each; of relations whose features are generated.
    """

    row: np.ndarray
    tables: dict[str, Tensor]


def edge_rows_of(view: FlatGraphs, schema: Schema, cells: TypedEdges) -> EdgeRows | None:
    """The rows of the cells that :func:`~dignn.graphs.typed_edges.typed_edges_of` gave; None without edge features.

    Of parallel edges the first one's row counts.

    Raises:
        SchemaError: rows are not what the schema says of them.
    """
    if not schema.edge_features:
        return None
    row = np.full(len(cells.key), NO_ROW, dtype=np.int64)
    tables = {}
    for features in schema.edge_features:
        if not features.spec.generated:
            continue
        relation = schema.relations[features.relation - 1]
        here = np.flatnonzero(cells.relation == features.relation)
        source, target = np.divmod(cells.key[here], cells.size)
        own = np.ones(len(here), dtype=bool)
        if features.shared and not relation.directed:
            forward = view.node_type[source] == _type_number(view, relation.source)
            own = source < target if relation.symmetric else forward
        keys = cells.key[here[own]]  # ascending, as cells are
        rows = rows_of_edges(view, relation, features.fields, keys)
        tables[relation.label] = check_rows(rows, features.spec, relation.label)
        row[here[own]] = np.arange(len(keys))
        row[here[~own]] = np.searchsorted(keys, target[~own] * cells.size + source[~own])
    return EdgeRows(row, tables)


def own_edges(view: FlatGraphs, relation: Relation, *, shared: bool) -> np.ndarray:
    """(m,) the edges of a relation that have a row each, as ``source * n + target``, ascending; no self-loops."""
    size = max(1, len(view.node_type))
    pieces = [view.edges[name][::step] for name, step in _stored(view, relation)]
    index = np.concatenate([np.empty((2, 0), dtype=np.int64), *pieces], axis=1)
    index = index[:, index[0] != index[1]]
    if relation.symmetric and shared:
        index = np.sort(index, axis=0)
    return distinct(index[0] * size + index[1])[0]


def rows_of_edges(view: FlatGraphs, relation: Relation, fields: Sequence[EdgeField], keys: np.ndarray) -> Tensor:
    """(m, d) the rows of edges of a relation, the columns of all fields side by side.

    Args:
        view: has the edges.
        relation: whose edges.
        fields: what they carry.
        keys: (m,) the edges, each as ``source * n + target``.
    """
    places = {name: _Places(view, name) for name, _ in _stored(view, relation)}
    size = max(1, len(view.node_type))
    back = keys % size * size + keys // size
    pieces = []
    for field in fields:
        rows = torch.zeros(len(keys), field.width)
        open_edges = np.ones(len(keys), dtype=bool)
        for name, place in places.items():
            if not field.carried_by(relation, name):
                continue
            ways = (keys, back) if relation.symmetric else ((keys,) if name == relation.edge_type else (back,))
            for way in ways:
                at = place.first(way)
                found = open_edges & (at >= 0)
                if found.any():
                    rows[torch.from_numpy(found)] = view.edge_values[name][field.name][torch.from_numpy(at[found])]
                open_edges &= ~found
        if open_edges.any():
            raise SchemaError(f"Some edges of {relation.label} have no {field.name}; give both directions of all")
        pieces.append(rows)
    return torch.cat(pieces, dim=1)


class _Places:
    """Where the edges of an edge type stand in the data."""

    def __init__(self, view: FlatGraphs, edge_type: EdgeType) -> None:
        index, size = view.edges[edge_type], max(1, len(view.node_type))
        key = index[0] * size + index[1]
        self._order = np.argsort(key, kind="stable")
        self._key = key[self._order]

    def first(self, keys: np.ndarray) -> np.ndarray:
        """(m,) the first edge with each key; -1 where there is none."""
        if not len(self._key):
            return np.full(len(keys), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._key, keys), len(self._key) - 1)
        return np.where(self._key[at] == keys, self._order[at], -1)


def _stored(view: FlatGraphs, relation: Relation) -> list[tuple[EdgeType, int]]:
    """The edge types of a relation that there are, and the step by which their ends are read forward."""
    return [(name, step) for name, step in zip(relation.edge_types, (1, -1), strict=False) if name in view.edges]


def _type_number(view: FlatGraphs, name: str) -> int:
    return view.type_names.index(name) if name in view.type_names else -1
