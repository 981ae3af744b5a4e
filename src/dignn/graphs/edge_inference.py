"""Reads off the data what the edges of each relation carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from dignn.graphs.edge_features import Direction, EdgeFeatures, EdgeField
from dignn.graphs.edge_rows import own_edges, rows_of_edges
from dignn.graphs.feature_spec import FeatureSpec
from dignn.graphs.flattening import FlatGraphs
from dignn.graphs.relation import EdgeType, Relation

Describe = Callable[[Tensor, str, list[str]], FeatureSpec]
"""(rows (n, d), label of the relation, names of columns that nobody gave others) -> what the columns hold"""


def infer_edge_features(
    view: FlatGraphs, relations: Sequence[Relation], describe: Describe
) -> tuple[EdgeFeatures, ...]:
    """What the edges of relations carry, for those that carry something.

    Args:
        view: the data.
        relations: in the order of the schema.
        describe: says what columns hold.
    """
    found = []
    for number, relation in enumerate(relations, start=1):
        fields = _fields(view, relation)
        if fields:
            shared = not relation.symmetric or _same_both_ways(view, relation, fields)
            rows = rows_of_edges(view, relation, fields, own_edges(view, relation, shared=shared))
            titles = [title for field in fields for title in field.titles]
            found.append(EdgeFeatures(number, tuple(fields), describe(rows, relation.label, titles), shared))
    return tuple(found)


def _fields(view: FlatGraphs, relation: Relation) -> list[EdgeField]:
    """The fields of a relation: one of both directions where they carry the same, else one of each."""
    stored = [edge_type for edge_type in relation.edge_types if edge_type in view.edges]
    names = dict.fromkeys(name for edge_type in stored for name in view.edge_values.get(edge_type, ()))
    found = []
    for name in names:
        carrying = [edge_type for edge_type in stored if name in view.edge_values.get(edge_type, ())]
        own = [_field(view, relation, edge_type, name) for edge_type in carrying]
        if len(own) == 2 and replace(own[1], direction="forward") == own[0]:
            keys = own_edges(view, relation, shared=True)
            one, other = (rows_of_edges(view, relation, [each], keys) for each in own)
            own = [replace(own[0], direction="both")] if torch.equal(one, other) else own
        found += own
    return found


def _field(view: FlatGraphs, relation: Relation, edge_type: EdgeType, name: str) -> EdgeField:
    form, rows = view.edge_form[edge_type][name], view.edge_values[edge_type][name]
    direction: Direction = "both"
    if len(relation.edge_types) > 1:
        direction = "forward" if edge_type == relation.edge_type else "reverse"
    return EdgeField(name, rows.size(1), form.dtype, form.vector, direction)


def _same_both_ways(view: FlatGraphs, relation: Relation, fields: Sequence[EdgeField]) -> bool:
    """Whether the two directions of an edge inside one type carry the same row."""
    size = max(1, len(view.node_type))
    keys = own_edges(view, relation, shared=True)
    back = keys % size * size + keys // size
    return torch.equal(*(rows_of_edges(view, relation, fields, way) for way in (keys, back)))
