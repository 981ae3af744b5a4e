"""What edges carry: the fields of a relation's edges, and what their columns hold.

An edge of a relation has one *row*, over the columns of all its fields side by side. A relation that is stored in two
edge types (author writes paper, paper rev_writes author) may have fields of one direction only, or other values in
each: these are columns of their own, so that what the two directions of an edge carry is learned together. Inside one
type an undirected relation is stored once, both ways; where the two ways carry different values, each has a row of its
own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from dignn.core.checks import choice, instance, switches, texts, whole_number
from dignn.core.errors import SchemaError
from dignn.graphs.feature_spec import DTYPES, FeatureSpec
from dignn.graphs.relation import EdgeType, Relation

Direction = Literal["both", "forward", "reverse"]


@dataclass(frozen=True)
class EdgeField:
    """A field that edges carry, one row for each.

    Args:
        name: of the field: ``edge_attr``, ``edge_weight``, ...; ``adj_t`` or ``edge_index`` for the values of such a
            matrix.
        width: number of columns.
        dtype: as torch names it; graphs are handed back in it.
        vector: whether it is a vector, of one number for each edge, instead of a matrix with one column.
        direction: which edge types of the relation carry these columns: all it has, or one of two.
    """

    name: str
    width: int = 1
    dtype: str = "float32"
    vector: bool = False
    direction: Direction = "both"

    def __post_init__(self) -> None:
        texts(self, "name")
        object.__setattr__(self, "width", whole_number("width", self.width, 1))
        switches(self, "vector")
        choice("The dtype of a field of edges", self.dtype, DTYPES)
        choice("The direction of a field of edges", self.direction, get_args(Direction))
        if self.vector and self.width > 1:
            raise SchemaError(f"The field '{self.name}' of edges is a vector, so it has one column; give width=1")

    def carried_by(self, relation: Relation, edge_type: EdgeType) -> bool:
        """Whether the edges of one of a relation's edge types have it."""
        forward = edge_type == relation.edge_type
        return self.direction == "both" or (self.direction == "forward") == forward

    @property
    def titles(self) -> list[str]:
        """What its columns are called where nobody gave them names."""
        name = f"{self.name} back" if self.direction == "reverse" else self.name
        return [name] if self.width == 1 else [f"{name} {column}" for column in range(self.width)]


@dataclass(frozen=True)
class EdgeFeatures:
    """The features of the edges of one relation.

    Args:
        relation: its number in the schema, from 1.
        fields: the data's fields, in the order of their columns.
        spec: what all their columns hold, side by side.
        shared: whether the two directions of an edge carry one row; False only inside one type, undirected.
    """

    relation: int
    fields: tuple[EdgeField, ...]
    spec: FeatureSpec
    shared: bool = True

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)
        put("relation", whole_number("relation", self.relation, 1))
        instance("fields", self.fields, (tuple, list), "a tuple of EdgeField objects")
        for field in self.fields:
            instance("An entry of fields", field, EdgeField, "an EdgeField")
        put("fields", tuple(self.fields))
        instance("spec", self.spec, FeatureSpec, "a FeatureSpec")
        switches(self, "shared")
        columns = sum(field.width for field in self.fields)
        if not self.fields or columns != self.spec.width:
            raise SchemaError(
                f"The fields of edges have {columns} columns and their spec has {self.spec.width}; describe each once"
            )

    def columns(self, field: EdgeField) -> slice:
        """Where the columns of a field stand."""
        start = sum(each.width for each in self.fields[: self.fields.index(field)])
        return slice(start, start + field.width)


def check_edge_features(several: Sequence[EdgeFeatures], relations: Sequence[Relation], *, one_store: bool) -> None:
    """Raises where features are of no relation, of one twice, or of a direction that is not stored.

    Args:
        several: of all relations that have some.
        relations: of the schema.
        one_store: whether all relations are kept in one store, as those of a ``Data`` are.
    """
    numbers = [features.relation for features in several]
    if len(set(numbers)) < len(numbers) or any(number > len(relations) for number in numbers):
        raise SchemaError(
            f"edge_features are of the relations {numbers}; give one each, from 1 to {len(relations)}, or leave it out"
        )
    for features in several:
        relation = relations[features.relation - 1]
        if not features.shared and not relation.symmetric:
            raise SchemaError(f"Edges of {relation.label} have one row each; only undirected ones in a type have two")
        one_way = next((field for field in features.fields if field.direction != "both"), None)
        if one_way is not None and len(relation.edge_types) < 2:
            raise SchemaError(f"{relation.label} is stored in one edge type, so its '{one_way.name}' is of both ways")
    if one_store and several:
        names = {frozenset(field.name for field in features.fields) for features in several}
        if len(numbers) < len(relations) or len(names) > 1:
            raise SchemaError("The edges of a homogeneous graph all carry the same fields; describe every relation's")
