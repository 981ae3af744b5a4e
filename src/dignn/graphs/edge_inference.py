"""Reads off the data what the edges of each relation carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torch import Tensor

from dignn.graphs.column_kinds import ColumnSaid, Kinds, column_names, said_columns
from dignn.graphs.edge_features import Direction, EdgeFeatures, EdgeField
from dignn.graphs.edge_rows import own_edges, rows_of_edges
from dignn.graphs.feature_inference import MAX_COUNT, infer_features
from dignn.graphs.feature_spec import ColumnKind
from dignn.graphs.flattening import FlatGraphs
from dignn.graphs.relation import EdgeType, Relation


def infer_edge_features(
    view: FlatGraphs,
    relations: Sequence[Relation],
    kinds: Mapping[str, Kinds],
    names: Mapping[str, Sequence[str]],
) -> tuple[EdgeFeatures, ...]:
    """What the edges of relations carry, for those that carry something.

    A field whose rows are one-hot is a category. Large numbers of an integer field may be ids or quantities, and nobody
    asks which: they are told apart, so that only numbers that the data has are generated.

    Args:
        view: the data.
        relations: in the order of the schema.
        kinds, names: of columns, by the label of the relation, where they are known.
    """
    found = []
    for number, relation in enumerate(relations, start=1):
        fields = _fields(view, relation)
        if fields:
            shared = not relation.symmetric or _same_both_ways(view, relation, fields)
            rows = rows_of_edges(view, relation, fields, own_edges(view, relation, shared=shared))
            label = relation.label
            own = names.get(label, [title for field in fields for title in field.titles])
            titles = column_names(own, rows.size(1), label)
            kind = _with_guesses(kinds.get(label), _categories(rows, fields), titles, label)
            spec = infer_features(rows, label, kind=kind, names=titles, of_edges=True)
            found.append(EdgeFeatures(number, tuple(fields), spec, shared))
    return tuple(found)


def _with_guesses(
    kinds: Kinds | None, guessed: Mapping[int, str], titles: Sequence[str], label: str
) -> Kinds | dict[int, ColumnSaid] | None:
    """What was said of columns, and of the others what was guessed; one kind for all leaves nothing to guess.

    A one-hot group is guessed as a whole, or not at all where something was said of one of its columns.
    """
    if kinds is not None and not isinstance(kinds, Mapping):
        return kinds
    numbers = said_columns(kinds or {}, len(titles), titles, label)
    said: dict[int, ColumnSaid] = dict(zip(numbers, (kinds or {}).values(), strict=True))
    split = {guessed[column] for column in said if guessed.get(column, "").startswith(ColumnKind.ONE_HOT.value)}
    return {**{column: kind for column, kind in guessed.items() if kind not in split}, **said} or None


def _categories(rows: Tensor, fields: Sequence[EdgeField]) -> dict[int, str]:
    """By number, columns of fields whose rows (n, d) are one-hot and differ, and large numbers of integer fields."""
    said: dict[int, str] = {}
    start = 0
    for number, field in enumerate(fields if len(rows) else ()):
        part, columns = rows[:, start : start + field.width], range(start, start + field.width)
        one_hot = bool(((part == 0) | (part == 1)).all()) and bool((part.sum(1) == 1).all())
        if one_hot and bool((part != part[0]).any()):
            said |= dict.fromkeys(columns, f"{ColumnKind.ONE_HOT.value}:field {number}")
        if "int" in field.dtype:
            large = (part.amin(0) >= 0) & (part.amax(0) > MAX_COUNT) & (part != part[0]).any(0)
            said |= {column: "identity" for column, there in zip(columns, large.tolist(), strict=True) if there}
        start += field.width
    return said


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
            own = [replace(own[0], direction="both")] if _equal(one, other) else own
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
    return _equal(*(rows_of_edges(view, relation, fields, way) for way in (keys, back)))


def _equal(one: Tensor, other: Tensor) -> bool:
    """Whether rows are the same, and miss the same values."""
    return bool(((one == other) | (one.isnan() & other.isnan())).all())
